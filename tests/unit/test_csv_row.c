// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/csv_row.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// The records of `text`, fields joined by '|', records by '/', complaints as "!".
static void read_all(const char *text, char *out, size_t capacity) {
    fpm_line_reader *lines;
    cr_assert_eq(fpm_line_reader_open_memory(&lines, text, strlen(text), "t", 0, NULL), FPM_OK);
    sim_csv_row row = { 0 };
    size_t at = 0;
    out[0] = '\0';
    for (;;) {
        fpm_line line;
        bool has_line;
        cr_assert_eq(fpm_line_reader_next(lines, &line, &has_line, NULL), FPM_OK);
        if (!has_line) break;
        fpm_status status;
        fpm_error error;
        if (sim_csv_row_read(&row, &line, lines, &status, &error)) {
            at += (size_t)snprintf(out + at, capacity - at, "!/");
            continue;
        }
        for (size_t i = 0; i < row.n_fields; i++)
            at += (size_t)snprintf(out + at, capacity - at, "%.*s%s", (int)row.fields[i].n_bytes, row.fields[i].text,
                                   i + 1 < row.n_fields ? "|" : "/");
    }
    sim_csv_row_clear(&row);
    fpm_line_reader_free(lines);
}

Test(csv_row, fields_are_cut_by_rfc_4180) {
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        { "a,b,c\n", "a|b|c/" },
        { "a,b,c", "a|b|c/" },
        { ",,\r\n", "||/" },
        { "a\n", "a/" },
        { " a ,\tb\t,c d \n", "a|b|c d/" },
        { "\"a\",\"b,c\",\"d\"\"e\"\n", "a|b,c|d\"e/" },
        { "\"\",\"\"\"\"\n", "|\"/" },
        { "\" a \",b\n", " a |b/" },
        { "\"a\nb\",c\nd,e\n", "a\nb|c/d|e/" },
        { "\"a\r\n\r\nb\",c\r\nd,e\r\n", "a\n\nb|c/d|e/" },
        { "a\"b,c\"d\n", "!/" },
        { "\"a\"b,c\nd\n", "!/d/" },
        { "\"a\" ,c\nd\n", "!/d/" },
        { "\"a,c\nd\n", "!/" },
        { "a\"b,c\nd\n", "!/d/" },
        { "a,\"b\n", "!/" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[256];
        read_all(cases[i].text, got, sizeof got);
        cr_expect_str_eq(got, cases[i].wanted, "%s: got %s", cases[i].text, got);
    }
}

Test(csv_row, a_quote_that_never_closes_takes_at_most_a_mebibyte_with_it) {
    size_t n = (3u << 20) + 2;
    char *text = malloc(n + 1);
    cr_assert(text);
    text[0] = '"';
    for (size_t i = 1; i < n; i++) text[i] = i % 64 == 0 ? '\n' : 'x';
    text[n] = '\0';
    char *got = malloc(n * 2);
    read_all(text, got, n * 2);
    cr_expect_eq(strncmp(got, "!/xxx", 5), 0, "reading goes on behind the record that is too long");
    free(got);
    free(text);
}

Test(csv_row, counts_are_plain_digits) {
    static const struct {
        const char *text;
        bool is_number;
        uint64_t value;
    } cases[] = { { "0", true, 0 },    { "10", true, 10 },  { "18446744073709551615", true, UINT64_MAX },
                  { "", false, 0 },    { "-1", false, 0 },  { "18446744073709551616", false, 0 },
                  { "10x", false, 0 }, { "+1", false, 0 },  { "1.0", false, 0 },
                  { "1e3", false, 0 }, { "1 2", false, 0 }, { "0x10", false, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sim_csv_field field = { .text = cases[i].text, .n_bytes = strlen(cases[i].text) };
        uint64_t value = 0;
        cr_expect_eq(sim_csv_field_u64(&field, &value), cases[i].is_number, "\"%s\"", cases[i].text);
        cr_expect_eq(value, cases[i].is_number ? cases[i].value : 0);
    }
}

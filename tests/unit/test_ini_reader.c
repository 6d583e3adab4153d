// SPDX-License-Identifier: GPL-3.0-or-later
//
// The lines inih would mangle, and those it reads well.
#include "sim/config/ini_reader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

typedef struct heard {
    char text[2048]; // "1[engine] 2:a=b "
    size_t n;
} heard;

static sim_status hear_section(void *user, const char *section, int64_t line) {
    heard *all = user;
    all->n += (size_t)snprintf(all->text + all->n, sizeof all->text - all->n, "%d[%s] ", (int)line, section);
    return SIM_OK;
}
static sim_status hear_value(void *user, const char *section, const char *name, const char *value, int64_t line) {
    heard *all = user;
    (void)section;
    all->n += (size_t)snprintf(all->text + all->n, sizeof all->text - all->n, "%d:%s=%s ", (int)line, name, value);
    return SIM_OK;
}

static sim_status read_bytes(const char *text, size_t n, heard *all, sim_error *error) {
    *all = (heard){ .n = 0 };
    const sim_ini_handler handler = { all, hear_section, hear_value };
    return sim_ini_read(text, n, "test.ini", &handler, error);
}

Test(ini_reader, sound_text_is_told_with_its_lines) {
    const struct {
        const char *text, *heard;
    } cases[] = {
        { "", "" },
        { "[engine]\na = b\n", "1[engine] 2:a=b " },
        { "\xef\xbb\xbf[engine]\na=b", "1[engine] 2:a=b " },
        { "[engine]\r\na = b\r\n\r\n\r\nc = d\r\n", "1[engine] 2:a=b 5:c=d " },
        { "; one\n# two\n\n[engine] ; three\na = b ; four\n   ; indented comment\n\t\nc = d\t; five",
          "4[engine] 5:a=b 8:c=d " },
        { "[x]\n[x]\n[y]\n", "1[x] 2[x] 3[y] " },
        { "[x]\na = b=c:d\n", "1[x] 2:a=b=c:d " },
        { "[x]\na =\nb = ; nothing\n", "1[x] 2:a= 3:b= " },
        { "[x]\na = b;c\n", "1[x] 2:a=b;c " },
        { "include = other.ini\n[x]\n", "1:include=other.ini 2[x] " },
        { "[x]\na = b \t \n", "1[x] 2:a=b " },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heard all;
        sim_error error = { 0 };
        cr_expect_eq(read_bytes(cases[i].text, strlen(cases[i].text), &all, &error), SIM_OK, "%zu: %s", i,
                     error.message);
        cr_expect_str_eq(all.text, cases[i].heard);
    }
}

Test(ini_reader, what_inih_would_mangle_is_refused_at_its_line) {
    const struct {
        const char *text;
        int line;
        const char *message; // a part of it
    } cases[] = {
        { "[x]\na = b\n  c = d\n", 3, "indented" },
        { "[x]\na = b\n\t[y]\n", 3, "indented" },
        { " a = b\n", 1, "indented" },
        { "[x\n", 1, "not closed" },
        { "[x] y = 3\n", 1, "not closed" },
        { "[x ; y]\n", 1, "without blanks" },
        { "[]\n", 1, "needs a name" },
        { "[ x ]\n", 1, "without blanks" },
        { "[0123456789012345678901234567890123456789012345678]\n", 1, "too long" },
        { "[x]\nhello\n", 2, "neither a section nor a key" },
        { "[x]\nhello ; a = b\n", 2, "neither a section nor a key" },
        { "[x]\na: b\n", 2, "write key = value" },
        { "[x]\n= b\n", 2, "missing in front" },
        { "[x]\na =;b\n", 2, "begins with" },
        { "[x]\na = b\x01\n", 2, "control character" },
        { "[x]\na = b\rc = d\n", 2, "control character" },
        { "\xff\xfe[\0x\0", 1, "UTF-16" },
        { "\xfe\xff", 1, "UTF-16" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heard all;
        sim_error error = { 0 };
        cr_expect_eq(read_bytes(cases[i].text, strlen(cases[i].text), &all, &error), SIM_USAGE, "%zu", i);
        cr_expect_eq(error.line, cases[i].line, "%zu: line %d", i, (int)error.line);
        cr_expect(strstr(error.message, cases[i].message), "%zu: %s", i, error.message);
        cr_expect_str_eq(error.file, "test.ini");
    }
}

Test(ini_reader, nul_bytes_are_refused_wherever_they_stand) {
    heard all;
    sim_error error = { 0 };
    cr_expect_eq(read_bytes("[x]\n; \0 comment\n", 16, &all, &error), SIM_USAGE);
    cr_expect_eq(error.line, 2);
    cr_expect_eq(read_bytes("[\0x\0]\0", 6, &all, &error), SIM_USAGE);
}

Test(ini_reader, a_line_of_199_bytes_is_whole_and_one_of_200_is_refused) {
    char text[300];
    for (int n = 199; n <= 200; n++) {
        memset(text, 'v', sizeof text);
        memcpy(text, "[x]\na = ", 8);
        text[4 + n] = '\n';
        heard all;
        sim_error error = { 0 };
        const sim_status status = read_bytes(text, (size_t)n + 5, &all, &error);
        cr_expect_eq(status, n == 199 ? SIM_OK : SIM_USAGE);
        if (n == 199) cr_expect_eq(all.n, strlen("1[x] 2:a= ") + 195, "%zu bytes were told", all.n);
        if (n == 200) cr_expect(error.line == 2 && strstr(error.message, "200 bytes"));
    }
}

Test(ini_reader, a_comment_line_may_be_long) {
    char text[1000];
    memset(text, ' ', sizeof text);
    text[0] = ';';
    memcpy(text + 500, "[y] a = b", 9); // where inih would begin a new line
    memcpy(text + 900, "\n[x]\n", 5);
    heard all;
    sim_error error = { 0 };
    cr_expect_eq(read_bytes(text, 905, &all, &error), SIM_OK);
    cr_expect_str_eq(all.text, "2[x] ");
}

Test(ini_reader, a_value_that_cannot_stand_in_a_file_is_told_why) {
    char longest[200];
    memset(longest, 'x', sizeof longest);
    longest[195] = '\0';
    cr_expect_null(sim_ini_refusal("a", longest));
    cr_expect_not_null(sim_ini_refusal("ab", longest));
    cr_expect_null(sim_ini_refusal("a", "b;c"));
    cr_expect_not_null(sim_ini_refusal("a", "b ;c"));
    cr_expect_not_null(sim_ini_refusal("a", ";c"));
    cr_expect_not_null(sim_ini_refusal("a", "b\nc"));
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <criterion/criterion.h>

static fpm_log_reader *open_text(const char *text) {
    fpm_log_reader *reader = NULL;
    cr_assert_eq(fpm_log_reader_open_memory(&reader, text, strlen(text), "log.jsonl", NULL), FPM_OK);
    return reader;
}

Test(log_reader, consecutive_rows_of_one_worker_and_counter_are_one_iteration) {
    static const char text[] = "{\"worker_id\":\"a\",\"counter_id\":1,\"dp_rank\":0}\n"
                               "\n"
                               "{\"worker_id\":\"a\",\"counter_id\":1,\"dp_rank\":1}\r\n"
                               "{\"worker_id\":\"b\",\"counter_id\":1,\"dp_rank\":0}\n"
                               "{\"worker_id\":\"a\",\"counter_id\":1,\"dp_rank\":2}\n"
                               "{\"worker_id\":\"a\",\"counter_id\":2,\"dp_rank\":3}\n"
                               "  \n"
                               "{\"worker_id\":\"\\u0061\",\"counter_id\":2,\"dp_rank\":2}\n"
                               "{\"counter_id\":2}\n"
                               "{\"counter_id\":2}"; // the rank is there already: a new iteration
    const struct {
        size_t n_ranks;
        int64_t line;
        const char *worker;
        uint32_t first_rank;
    } expected[] = { { 2, 1, "a", 0 }, { 1, 4, "b", 0 }, { 1, 5, "a", 2 },
                     { 2, 6, "a", 3 }, { 1, 9, "", 0 },  { 1, 10, "", 0 } };
    fpm_log_reader *reader = open_text(text);
    for (size_t i = 0; i <= sizeof expected / sizeof *expected; i++) {
        const fpm_metrics *ranks;
        size_t n_ranks;
        int64_t line;
        cr_assert_eq(fpm_log_reader_next(reader, &ranks, &n_ranks, &line, NULL), FPM_OK);
        if (i == sizeof expected / sizeof *expected) {
            cr_assert_eq(n_ranks, 0);
            break;
        }
        cr_assert_eq(n_ranks, expected[i].n_ranks, "iteration %zu has %zu ranks", i, n_ranks);
        cr_assert_eq(line, expected[i].line);
        cr_assert_eq(ranks[0].dp_rank, expected[i].first_rank);
        for (size_t k = 0; k < n_ranks; k++) cr_assert_str_eq(ranks[k].worker_id, expected[i].worker);
    }
    fpm_log_reader_free(reader);
}

Test(log_reader, an_array_is_one_iteration) {
    static const char text[] =
        "{\"worker_id\":\"a\",\"counter_id\":1}\n"
        "[{\"worker_id\":\"a\",\"counter_id\":1,\"dp_rank\":1},{\"counter_id\":7,\"dp_rank\":1}, {}]\n"
        "\n"
        "{\"worker_id\":\"a\",\"counter_id\":1,\"dp_rank\":2}\n"
        "[{\"worker_id\":\"b\"}]\n"
        "{\"worker_id\":\"b\",\"dp_rank\":1}\n\n{\"worker_id\":\"b\",\"dp_rank\":2}\n";
    const struct {
        size_t n_ranks;
        int64_t first, last; // lines
        const char *worker;
    } expected[] = { { 1, 1, 1, "a" }, { 3, 2, 2, "a" }, { 1, 4, 4, "a" }, { 1, 5, 5, "b" }, { 2, 6, 8, "b" } };
    fpm_log_reader *reader = open_text(text);
    const fpm_metrics *ranks;
    size_t n_ranks;
    int64_t line;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        cr_assert_eq(fpm_log_reader_next(reader, &ranks, &n_ranks, &line, NULL), FPM_OK);
        cr_assert_eq(n_ranks, expected[i].n_ranks, "iteration %zu has %zu ranks", i, n_ranks);
        cr_assert_eq(line, expected[i].first);
        cr_assert_eq(fpm_log_reader_line(reader, n_ranks - 1), expected[i].last);
        cr_assert_eq(fpm_log_reader_line(reader, n_ranks), 0);
        for (size_t k = 0; k < n_ranks; k++) cr_assert_str_eq(ranks[k].worker_id, expected[i].worker);
    }
    cr_assert_eq(fpm_log_reader_next(reader, &ranks, &n_ranks, &line, NULL), FPM_OK);
    cr_assert_eq(n_ranks, 0);
    fpm_log_reader_free(reader);
}

Test(log_reader, errors_name_file_line_and_column_and_stick) {
    static const struct {
        const char *text;
        size_t n_bytes;
        int64_t line, column;
        fpm_status status;
    } cases[] = {
        { "\n{\"dp_rank\":-1}\n{}\n", 0, 2, 12, FPM_OUT_OF_RANGE },
        { "{}\n{\"dp_rank\":1}\n{\"dp_rank\":2.5}\n{}\n", 0, 3, 12, FPM_SYNTAX },
        { "{}{}\n", 0, 1, 3, FPM_SYNTAX },
        { "[]\n", 0, 1, 3, FPM_SYNTAX },
        { "{}\n[{},{\"dp_rank\":-1}]\n", 0, 2, 16, FPM_OUT_OF_RANGE },
        { "[{},3]\n", 0, 1, 5, FPM_SYNTAX },
        { "[{},{}\n", 0, 1, 7, FPM_SYNTAX },
        { "[{}][{}]\n", 0, 1, 5, FPM_SYNTAX },
        { "[[{}]]\n", 0, 1, 2, FPM_SYNTAX },
        { "{\"wall_time\":NaN}\n", 0, 1, 14, FPM_SYNTAX },
        { "{\"wall_time\":-Infinity}\n", 0, 1, 14, FPM_SYNTAX },
        { "{\"a\":1\n", 0, 1, 7, FPM_SYNTAX },
        { "{}\n\0\n", 5, 2, 0, FPM_SYNTAX },
        { "{\"worker_id\":\"a\0\"}\n", 19, 1, 0, FPM_SYNTAX },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_log_reader *reader = NULL;
        const size_t n_bytes = cases[i].n_bytes ? cases[i].n_bytes : strlen(cases[i].text);
        fpm_log_reader_open_memory(&reader, cases[i].text, n_bytes, "log.jsonl", NULL);
        const fpm_metrics *ranks;
        size_t n_ranks;
        int64_t line;
        fpm_error error = { 0 };
        fpm_status status;
        do status = fpm_log_reader_next(reader, &ranks, &n_ranks, &line, &error);
        while (!status && n_ranks);
        cr_assert_eq(status, cases[i].status, "case %zu: %s", i, error.message);
        cr_assert_eq(error.line, cases[i].line, "case %zu: line %ld", i, (long)error.line);
        cr_assert_eq(error.column, cases[i].column, "case %zu: column %ld", i, (long)error.column);
        cr_assert_str_eq(error.file, "log.jsonl");
        cr_assert_eq(fpm_log_reader_next(reader, &ranks, &n_ranks, &line, NULL), status);
        cr_assert_eq(n_ranks, 0);
        fpm_log_reader_free(reader);
    }
}

Test(log_reader, a_missing_file_is_an_io_error_and_free_of_null_does_nothing) {
    fpm_log_reader *reader;
    fpm_error error;
    cr_assert_eq(fpm_log_reader_open(&reader, "/nonexistent/log.jsonl", &error), FPM_IO);
    cr_assert_null(reader);
    fpm_log_reader_free(reader);
}

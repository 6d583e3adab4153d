// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/request_table.h"

#include <math.h>

#include "sim/report/requests_csv.h"
#include "tests/support/replay.h"

#define OWN_HEADER                                                                                                    \
    "id,session,arrival_ms,worker,input_tokens,cached_tokens,output_tokens,first_token_ms,finish_ms,ttft_ms,tpot_ms," \
    "e2e_ms,preemptions,status\n"

static sim_status read_filtered(sim_request_table *table, const char *text, bool is_own, const char *condition,
                                sim_error *error) {
    fpm_line_reader *lines;
    fpm_error fault;
    const sim_row_filter filter = { &condition, 1 };
    *error = (sim_error){ .code = SIM_OK };
    cr_assert_eq(fpm_line_reader_open_memory(&lines, text, strlen(text), "t.csv", 0, &fault), FPM_OK);
    const sim_status status = sim_request_table_read(table, lines, is_own, condition ? &filter : NULL, error);
    fpm_line_reader_free(lines);
    return status;
}

Test(request_table, a_recorded_run_says_its_units_in_the_header) {
    sim_request_table table;
    sim_error error;
    cr_assert_eq(read_filtered(&table,
                               "note,arrival_s,isl,osl,ttft_us,tpot_ms,e2e_s,session,status\n"
                               "x,0.25,10,3,33500,2.385,1.5,a,completed\n"
                               "\"y, z\",1.5,20,,,,,b,rejected\n"
                               "x,2,30,1,7000,,0.007,a,completed\n",
                               false, NULL, &error),
                 SIM_OK, "%s", error.message);
    cr_expect_eq(table.n_rows, 3);
    cr_expect_eq(table.rows[0].arrival_ns, 250000000);
    cr_expect_float_eq(table.rows[0].ms[SIM_LATENCY_TTFT], 33.5, 1e-12);
    cr_expect_eq(table.rows[0].ms[SIM_LATENCY_TPOT], 2.385);
    cr_expect_eq(table.rows[0].ms[SIM_LATENCY_E2E], 1500);
    cr_expect(isnan(table.rows[2].ms[SIM_LATENCY_TPOT]));
    cr_expect_eq(table.rows[1].status, SIM_REQUEST_REJECTED);
    cr_expect_eq(table.rows[2].turn, 2);
    cr_expect_eq(table.rows[1].turn, 1);
    cr_expect(table.has_input_tokens && table.has_output_tokens && !table.has_cached_tokens);
    cr_expect_str_eq(table.unused, "note");
    sim_request_table_clear(&table);
}

Test(request_table, filters_pick_rows_by_any_column) {
    sim_request_table table;
    sim_error error;
    const char *text = "gpu,ttft_ms\na,1\nb,2\na,3\n";
    cr_assert_eq(read_filtered(&table, text, false, "gpu=a", &error), SIM_OK);
    cr_expect_eq(table.n_rows, 2);
    sim_request_table_clear(&table);
    cr_expect_eq(read_filtered(&table, text, false, "gpu=c", &error), SIM_BAD_DATA);
    cr_expect_eq(read_filtered(&table, text, false, "cpu=a", &error), SIM_USAGE);
    cr_expect_eq(read_filtered(&table, text, false, "gpu", &error), SIM_USAGE);
}

Test(request_table, what_is_wrong_is_told_with_its_line) {
    static const struct {
        const char *text;
        bool is_own;
        int64_t line;
        const char *message;
    } cases[] = {
        { "", false, 0, "the file has no requests" },
        { "ttft_ms\n", false, 0, "the file has no requests" },
        { "isl,osl\n1,2\n", false, 1, "the header has no measured time" },
        { "ttft\n1\n", false, 1, "does not say its unit" },
        { "ttft_ms,ttft_s\n1,2\n", false, 1, "two columns say the same" },
        { "isl,input_tokens,ttft_ms\n1,2,3\n", false, 1, "two columns say the same" },
        { "ttft_ms,isl\n1,2\n1\n", false, 3, "the row has 1 fields, the header 2" },
        { "ttft_ms\nx\n", false, 2, "ttft: \"x\" is none" },
        { "ttft_ms\n-1\n", false, 2, "ttft: \"-1\" is none" },
        { "ttft_ms\n1e999\n", false, 2, "is none" },
        { "ttft_ms,isl\n1,-5\n", false, 2, "a number of tokens" },
        { "ttft_ms,isl\n1,4294967296\n", false, 2, "a number of tokens" },
        { "ttft_ms,status\n1,done\n", false, 2, "completed, rejected, incomplete or not_admitted" },
        { "ttft_ms,osl\n,5\n", false, 2, "a completed request without any time" },
        { "ttft_ms,arrival_s\n1,\n", false, 2, "the request has no arrival" },
        { "ttft_ms\n\"1\n", false, 2, "a quoted field has no end" },
        { "ttft_ms\n1\n", true, 1, "the header has no column \"id\"" },
        { OWN_HEADER "0,,0,0,10,0,2,5,6,5,1,6,0,completed", true, 2, "the line has no end" },
        { OWN_HEADER "0,,0,0,10,0,2,5,6,5,1,6,0,completed\n0,,0,0,1", true, 3, "is the file cut short?" },
        { OWN_HEADER "0,,0,0,10,0,2,5,6,5,1,6,0,completed\n2,,0,0,10,0,2,5,6,5,1,6,0,completed\n", true, 3,
          "1 is due" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_request_table table;
        sim_error error;
        const sim_status status = read_filtered(&table, cases[i].text, cases[i].is_own, NULL, &error);
        cr_expect_eq(status, SIM_BAD_DATA, "case %zu: status %d", i, (int)status);
        cr_expect_eq(error.line, cases[i].line, "case %zu: line %lld", i, (long long)error.line);
        cr_expect(strstr(error.message, cases[i].message), "case %zu: %s", i, error.message);
    }
}

// What is written and read back is what the run itself tells, to the last bit.
Test(request_table, the_table_of_a_run_is_that_of_its_file) {
    replay r;
    replay_run(&r, (const char *[]){ "workload.source=sessions", "workload.requests=200", "load.mode=poisson",
                                     "load.rate=5", "workload.output_tokens=uniform(0, 9)", "kv_cache.num_blocks=900",
                                     "workload.input_tokens=lognormal(500, 1.5)", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    const sim_run_facts *facts = r.summary->facts;
    char *text = NULL;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);
    cr_assert_eq(sim_requests_csv_write(facts->collector, facts->workload, false, out, "t.csv", &r.error), SIM_OK);
    fclose(out);
    sim_request_table made, read;
    cr_assert_eq(sim_request_table_of(&made, facts->collector, facts->workload, &r.error), SIM_OK);
    cr_assert_eq(read_filtered(&read, text, true, NULL, &r.error), SIM_OK, "%lld: %s", (long long)r.error.line,
                 r.error.message);
    cr_assert_eq(made.n_rows, read.n_rows);
    for (size_t i = 0; i < made.n_rows; i++) {
        const sim_request_outcome *a = &made.rows[i], *b = &read.rows[i];
        cr_expect_eq(a->arrival_ns, b->arrival_ns);
        for (int k = 0; k < SIM_LATENCIES; k++)
            cr_expect(a->ms[k] == b->ms[k] || (isnan(a->ms[k]) && isnan(b->ms[k])), "request %zu", i);
        cr_expect(a->input_tokens == b->input_tokens && a->output_tokens == b->output_tokens);
        cr_expect(a->turn == b->turn && a->status == b->status && a->is_measured == b->is_measured);
        cr_expect(a->has_cached == b->has_cached && a->cached_tokens == b->cached_tokens, "request %zu", i);
    }
    sim_request_table_clear(&made);
    sim_request_table_clear(&read);
    free(text);
    replay_free(&r);
}

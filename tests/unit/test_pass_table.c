// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/pass_table.h"

#include <criterion/criterion.h>
#include <string.h>

#define HEAD "prefill_tokens,prefill_kv_tokens,decode_requests,decode_kv_tokens,ms\n"
#define ROW(counter, rank, fields) \
    "{\"worker_id\":\"a\",\"counter_id\":" #counter ",\"dp_rank\":" #rank "," fields "}\n"

static sim_status parse(const char *text, sim_pass_table *table, sim_error *error) {
    return sim_pass_table_parse(table, text, strlen(text), "t", error);
}

Test(pass_table, csv_and_logs_are_told_apart_by_content) {
    const struct {
        const char *text;
        size_t n;
        double last_ms;
    } cases[] = {
        { HEAD "100,0,0,0,12.5\n", 1, 12.5 },
        { HEAD "1,2,3,4,5\r\n\r\n 0 , 0 ,\"8\",9,1e1", 2, 10 },
        { "\n\nms,decode_kv_tokens,decode_requests,prefill_kv_tokens,prefill_tokens\n7,0,1,0,0\n", 1, 7 },
        // two ranks are one pass; what is idle or not measured teaches nothing
        { ROW(1, 0, "\"wall_time\":0.5,\"scheduled_requests\":{\"num_decode_requests\":4}")
              ROW(1, 1, "\"wall_time\":0.5") ROW(2, 0, "\"wall_time\":0.25")
                  ROW(3, 0, "\"scheduled_requests\":{\"num_decode_requests\":4}"),
          1, 500 },
        { " \n \t{\"wall_time\":2,\"scheduled_requests\":{\"num_prefill_requests\":1,\"sum_prefill_tokens\":9}}", 1,
          2000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_pass_table table;
        sim_error error = { 0 };
        cr_assert_eq(parse(cases[i].text, &table, &error), SIM_OK, "%zu: %s", i, error.message);
        cr_expect_eq(table.n, cases[i].n, "%zu: %zu", i, table.n);
        cr_expect_eq(table.passes[table.n - 1].ms, cases[i].last_ms);
        sim_pass_table_clear(&table);
    }
}

Test(pass_table, mistakes_have_file_and_line) {
    const struct {
        const char *text;
        int64_t line;
        const char *message;
    } cases[] = {
        { "", 1, "the file is empty" },
        { HEAD, 0, "there is no measured pass" },
        { "prefill_tokens,ms\n1,2\n", 1,
          "there is no column \"prefill_kv_tokens\" (columns: prefill_tokens, prefill_kv_"
          "tokens, decode_requests, decode_kv_tokens, ms)" },
        { "prefill_tokens,batch\n", 1, "unknown column \"batch\"" },
        { "ms,ms\n", 1, "a second column \"ms\"" },
        { HEAD "1,0,0,0\n", 2, "the row has 4 fields, the header 5" },
        { HEAD "1,0,0,0,1\n1.5,0,0,0,1\n", 3, "prefill_tokens \"1.5\" is not right (a whole number" },
        { HEAD "4294967296,0,0,0,1\n", 2, "prefill_tokens \"4294967296\" is not right" },
        { HEAD "-1,0,0,0,1\n", 2, "prefill_tokens \"-1\" is not right" },
        { HEAD "1,0,0,0,0\n", 2, "ms \"0\" is not right (a number above 0)" },
        { HEAD "1,0,0,0,nan\n", 2, "ms \"nan\" is not right" },
        { HEAD "1,0,0,0,\n", 2, "ms \"\" is not right" },
        { HEAD "1,0,0,0,1111111111111111111111111111111111\n", 2, "at most 31 characters" },
        { HEAD "0,0,0,0,1\n", 2, "a pass without work" },
        { HEAD "0,7,1,1,1\n", 2, "prefill_kv_tokens without prefill_tokens" },
        { HEAD "\"1,0,0,0,1\n", 2, "a quoted field has no end" },
        { "{\"wall_time\":1}\n{\"wall_time\":\n", 2, "" },
        { "{\"wall_time\":1}\n", 0, "there is no measured pass (rows with work and a wall_time above 0)" },
        { "{\"wall_time\":1,\"scheduled_requests\":{\"sum_prefill_tokens\":9}}\n", 1, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_pass_table table;
        sim_error error = { 0 };
        cr_expect_eq(parse(cases[i].text, &table, &error), SIM_BAD_DATA, "%zu", i);
        cr_expect_eq(error.line, cases[i].line, "%zu: line %lld: %s", i, (long long)error.line, error.message);
        cr_expect_str_eq(error.file, "t");
        cr_expect(strstr(error.message, cases[i].message), "%zu: %s", i, error.message);
        sim_pass_table_clear(&table);
    }
}

Test(pass_table, a_missing_file_is_an_input_that_cannot_be_read) {
    sim_pass_table table;
    sim_error error = { 0 };
    cr_expect_eq(sim_pass_table_load(&table, "/nowhere/t.csv", &error), SIM_IO);
    cr_expect_str_eq(error.file, "/nowhere/t.csv");
    sim_pass_table_clear(&table);
}

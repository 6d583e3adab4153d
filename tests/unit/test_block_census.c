// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/block_census.h"

#include "tests/support/workload_fixture.h"

enum { BLOCK = 4 };

typedef struct census_case {
    const char *about;
    struct {
        uint32_t input;
        uint64_t ids[4];
    } rows[5];
    uint64_t distinct, hit_blocks, hit_tokens;
    const char *warned_lines; // "" = none
} census_case;

// The same rows with small ids, and with ids so far apart that they need a hash table.
static sim_workload *build(const census_case *c, uint64_t factor) {
    sim_workload *workload = calloc(1, sizeof *workload);
    workload->requests = calloc(5, sizeof *workload->requests);
    workload->ids = calloc(20, sizeof *workload->ids);
    workload->id_tokens = BLOCK;
    for (uint32_t row = 0; row < 5 && c->rows[row].input > 0; row++) {
        sim_request *request = &workload->requests[workload->n_requests++];
        *request = (sim_request){ .input_tokens = c->rows[row].input, .first_id = workload->n_ids, .line = row + 1 };
        request->n_ids = (request->input_tokens + BLOCK - 1) / BLOCK;
        for (uint32_t i = 0; i < request->n_ids; i++) workload->ids[workload->n_ids++] = c->rows[row].ids[i] * factor;
    }
    return workload;
}

Test(block_census, hits_are_counted_along_chains_and_partial_tails_only_at_their_size) {
    static const census_case cases[] = {
        { "chained prefixes", { { 8, { 1, 2 } }, { 12, { 1, 2, 3 } }, { 12, { 1, 2, 4 } } }, 4, 4, 16, "" },
        { "the same tail again", { { 6, { 1, 2 } }, { 6, { 1, 2 } } }, 2, 2, 6, "" },
        { "a tail of another size", { { 6, { 1, 2 } }, { 7, { 1, 2 } }, { 7, { 1, 2 } } }, 2, 3, 11, "2" },
        { "a tail that became full", { { 6, { 1, 2 } }, { 9, { 1, 2, 3 } }, { 9, { 1, 2, 3 } } }, 3, 4, 13, "2" },
        { "an id behind another prefix is another block",
          { { 8, { 1, 2 } }, { 8, { 3, 2 } }, { 8, { 3, 2 } } },
          3,
          2,
          8,
          "" },
        { "an id in another place is another block", { { 8, { 1, 2 } }, { 4, { 2 } }, { 8, { 2, 1 } } }, 2, 1, 4, "" },
        { "an id twice in a row", { { 8, { 1, 1 } }, { 8, { 1, 1 } } }, 1, 2, 8, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int sparse = 0; sparse < 2; sparse++) {
            sim_workload *workload = build(&cases[i], sparse ? UINT64_C(0x123456789abcdef) : 1);
            sim_text_list warnings = { 0 };
            cr_assert_eq(sim_block_census_take(workload, "t", &warnings, NULL), SIM_OK);
            cr_expect_eq(workload->census.distinct, cases[i].distinct, "%s", cases[i].about);
            cr_expect_eq(workload->census.hit_blocks, cases[i].hit_blocks, "%s: %llu", cases[i].about,
                         (unsigned long long)workload->census.hit_blocks);
            cr_expect_eq(workload->census.hit_tokens, cases[i].hit_tokens, "%s: %llu", cases[i].about,
                         (unsigned long long)workload->census.hit_tokens);
            cr_expect_eq(warnings.n, strlen(cases[i].warned_lines), "%s", cases[i].about);
            if (warnings.n == 1) cr_expect_eq(warnings.items[0][2], cases[i].warned_lines[0]);
            sim_text_list_clear(&warnings);
            sim_workload_free(workload);
        }
}

Test(block_census, many_size_changes_are_told_in_few_lines) {
    char text[8192];
    size_t at = 0;
    for (int i = 1; i <= 50; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "{\"timestamp\":0,\"input_length\":%d,\"output_length\":1,\"hash_ids\":[0]}\n", i);
    const sim_workload_config settings = trace_settings();
    sim_workload *workload = good_workload(text, &settings);
    cr_expect_eq(workload->n_warnings, 9);
    cr_expect(strstr(workload->warnings[8], "41 more rows"), "%s", workload->warnings[8]);
    sim_workload_free(workload);
}

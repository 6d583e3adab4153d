// SPDX-License-Identifier: GPL-3.0-or-later
//
// The reader of passes, and the matched log that is loaded by it.
#include "sim/tuning/pass_log.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/tuning/recorded_log.h"

static const char *write_log(const char *text) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/forepass-pass-log-%d.jsonl", (int)getpid());
    FILE *out = fopen(path, "w");
    cr_assert(out);
    fputs(text, out);
    fclose(out);
    return path;
}

#define PREFILL "\"scheduled_requests\":{\"num_prefill_requests\":1,\"sum_prefill_tokens\":100}"
#define DECODE(requests, tokens) \
    "\"scheduled_requests\":{\"num_decode_requests\":" #requests ",\"sum_decode_kv_tokens\":" #tokens "}"

// Iterations: a prefill; an idle one; one without a time; two ranks, of which the second speaks and the first is slower.
static const char log_text[] =
    "{\"worker_id\":\"0\",\"counter_id\":0,\"wall_time\":0.02," PREFILL "}\n"
    "{\"worker_id\":\"0\",\"counter_id\":1,\"wall_time\":0.02}\n"
    "{\"worker_id\":\"0\",\"counter_id\":2," PREFILL "}\n"
    "{\"worker_id\":\"12\",\"counter_id\":3,\"wall_time\":0.05," DECODE(
        2, 70) "}\n"
               "{\"worker_id\":\"12\",\"counter_id\":3,\"dp_rank\":1,\"wall_time\":0.03," DECODE(9, 900) "}\n";

Test(pass_log, gives_passes_with_work_and_a_time_and_counts_the_others) {
    sim_pass_log log;
    sim_logged_pass pass;
    cr_assert_eq(sim_pass_log_open(&log, write_log(log_text), NULL), SIM_OK);
    cr_assert_eq(sim_pass_log_next(&log, &pass, NULL), SIM_OK);
    cr_expect_eq(pass.load.kind, FPM_PREFILL);
    cr_expect_eq(pass.load.x[0], 100);
    cr_expect_eq(pass.wall_s, 0.02);
    cr_expect_eq(pass.observed_ms, 20);
    cr_assert_eq(sim_pass_log_next(&log, &pass, NULL), SIM_OK);
    cr_expect_eq(pass.n_ranks, 2);
    cr_expect_eq(pass.load.kind, FPM_DECODE);
    cr_expect_eq(pass.load.x[0], 9);
    cr_expect_eq(pass.load.x[1], 900);
    cr_expect_eq(pass.wall_s, 0.05, "the slowest rank's");
    cr_assert_eq(sim_pass_log_next(&log, &pass, NULL), SIM_OK);
    cr_expect_eq(pass.n_ranks, 0, "at its end");
    cr_expect_eq(log.n_iterations, 4);
    cr_expect_eq(log.n_idle, 1);
    cr_expect_eq(log.n_without_time, 1);
    sim_pass_log_close(&log);
    unlink(write_log(""));
}

Test(pass_log, bad_ranks_are_refused_with_class_file_and_line_of_the_rank) {
    static const struct {
        const char *text, *message;
        int64_t line;
    } cases[] = {
        { "{\"wall_time\":1," PREFILL "}\n{\"version\":2}\n", "UnsupportedSchemaVersion: ", 2 },
        { "{\"counter_id\":1}\n{\"counter_id\":1,\"dp_rank\":1,\"scheduled_requests\":{\"sum_prefill_tokens\":4}}\n",
          "InvalidForwardPassMetrics: ", 2 },
        { "{\"wall_time\":1," PREFILL "}\n{\"wall_time\":", "", 2 },
        { "{\"wall_time\":NaN}\n", "", 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_pass_log log;
        sim_logged_pass pass;
        sim_error error = { .code = SIM_OK };
        const char *path = write_log(cases[i].text);
        cr_assert_eq(sim_pass_log_open(&log, path, &error), SIM_OK);
        sim_status status = SIM_OK;
        do status = sim_pass_log_next(&log, &pass, &error);
        while (!status && pass.n_ranks > 0);
        cr_expect_eq(status, SIM_BAD_DATA, "case %zu", i);
        cr_expect_eq(error.line, cases[i].line, "case %zu: line %lld", i, (long long)error.line);
        cr_expect(strstr(error.message, cases[i].message) == error.message, "case %zu: %s", i, error.message);
        cr_expect_str_eq(error.file, path);
        sim_pass_log_close(&log);
        unlink(path);
    }
    sim_pass_log log;
    cr_expect_eq(sim_pass_log_open(&log, "/nowhere/log.jsonl", NULL), SIM_IO);
}

Test(recorded_log, keeps_what_a_match_needs_of_every_measured_pass) {
    sim_recorded_log log;
    cr_assert_eq(sim_recorded_log_load(&log, write_log(log_text), NULL), SIM_OK);
    cr_assert_eq(log.n_passes, 2);
    cr_expect_eq(log.n_unmeasured, 2);
    const sim_recorded_pass *prefill = &log.passes[0], *decode = &log.passes[1];
    cr_expect_eq(prefill->kind, FPM_PREFILL);
    cr_expect_eq(prefill->worker, 0);
    cr_expect_eq(decode->worker, 12);
    cr_expect_eq(decode->n_ranks, 2);
    cr_expect_eq(decode->wall_s, 0.05);
    cr_expect_arr_eq(&log.features[decode->first], ((uint32_t[]){ 0, 0, 0, 2, 70, 0, 0, 0, 9, 900 }),
                     2 * SIM_RANK_FEATURES * sizeof(uint32_t));
    double place[SIM_RANK_FEATURES];
    sim_pass_place(&log.features[decode->first], 2, place);
    cr_expect_float_eq(place[3], log1p(9), 1e-15, "the rank that speaks for the load");
    cr_expect_float_eq(place[4], log1p(900), 1e-15);
    sim_recorded_log_clear(&log);
    unlink(write_log(""));
}

Test(recorded_log, workers_are_known_by_plain_decimal_ids_only) {
    static const struct {
        const char *id;
        uint32_t worker;
    } cases[] = { { "0", 0 },
                  { "7", 7 },
                  { "999999999", 999999999 },
                  { "", SIM_FOREIGN_WORKER },
                  { "07", SIM_FOREIGN_WORKER },
                  { "1a", SIM_FOREIGN_WORKER },
                  { "-1", SIM_FOREIGN_WORKER },
                  { "1234567890", SIM_FOREIGN_WORKER } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"worker_id\":\"%s\",\"wall_time\":1," PREFILL "}\n", cases[i].id);
        sim_recorded_log log;
        cr_assert_eq(sim_recorded_log_load(&log, write_log(text), NULL), SIM_OK);
        cr_expect_eq(log.passes[0].worker, cases[i].worker, "\"%s\"", cases[i].id);
        sim_recorded_log_clear(&log);
    }
    unlink(write_log(""));
}

Test(recorded_log, a_log_without_a_measured_pass_is_bad_data) {
    sim_recorded_log log;
    sim_error error;
    cr_expect_eq(sim_recorded_log_load(&log, write_log("{\"wall_time\":1}\n"), &error), SIM_BAD_DATA);
    cr_expect(strstr(error.message, "no pass of the log has both work and a wall time"), "%s", error.message);
    unlink(write_log(""));
}

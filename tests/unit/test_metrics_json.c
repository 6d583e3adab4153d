// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/metrics_json.h"

#include <criterion/criterion.h>
#include <math.h>

static fpm_status parse(const char *text, fpm_metrics *metrics, fpm_worker_id_text *id, fpm_error *error) {
    fpm_json json;
    fpm_json_begin(&json, text, strlen(text));
    fpm_metrics_parse(&json, metrics, id);
    return fpm_json_end(&json, error);
}

Test(metrics_json, missing_fields_are_zero_and_unknown_ones_are_skipped) {
    const char *const texts[] = {
        "{}",
        "{\"scheduled_requests\":{},\"queued_requests\":{}}",
        "{\"future\":{\"a\":[1,null,\"x\"]},\"scheduled_requests\":{\"more\":-1.5e3}}",
        "{\"version\":1}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fpm_metrics metrics;
        fpm_error error = { 0 };
        cr_assert_eq(parse(texts[i], &metrics, NULL, &error), FPM_OK, "%s: %s", texts[i], error.message);
        const fpm_metrics idle = fpm_metrics_idle();
        cr_assert_eq(memcmp(&metrics, &idle, sizeof idle), 0, "%s", texts[i]);
    }
}

Test(metrics_json, bad_fields_are_refused_with_their_column) {
    const struct {
        const char *text;
        fpm_status status;
        int64_t column;
    } cases[] = {
        { "{\"version\":null}", FPM_SYNTAX, 12 },
        { "{\"version\":-1}", FPM_OUT_OF_RANGE, 12 },
        { "{\"dp_rank\":1.0}", FPM_SYNTAX, 12 },
        { "{\"dp_rank\":4294967296}", FPM_OUT_OF_RANGE, 12 },
        { "{\"counter_id\":18446744073709551616}", FPM_OUT_OF_RANGE, 0 },
        { "{\"worker_id\":7}", FPM_SYNTAX, 14 },
        { "{\"worker_id\":\"a\\u0000b\"}", FPM_SYNTAX, 0 },
        { "{\"wall_time\":\"1\"}", FPM_SYNTAX, 14 },
        { "{\"wall_time\":1e400}", FPM_OUT_OF_RANGE, 0 },
        { "{\"wall_time\":null}", FPM_SYNTAX, 14 },
        { "{\"scheduled_requests\":null}", FPM_SYNTAX, 23 },
        { "{\"scheduled_requests\":[]}", FPM_SYNTAX, 23 },
        { "{\"scheduled_requests\":{\"num_decode_requests\":1e3}}", FPM_SYNTAX, 0 },
        { "{\"scheduled_requests\":{\"sum_prefill_tokens\":1,\"sum_prefill_tokens\":1}}", FPM_SYNTAX, 0 },
        { "{\"queued_requests\":{\"sum_decode_kv_tokens\":true}}", FPM_SYNTAX, 0 },
        { "{\"x_moments\":{\"max_context_tokens\":1}}", FPM_SYNTAX, 0 },
        { "{\"x_moments\":{\"sum_prefill_attention\":-1,\"max_context_tokens\":1,\"num_finished_prompts\":0}}",
          FPM_OUT_OF_RANGE, 0 },
        { "{\"dp_rank\":1} x", FPM_SYNTAX, 15 },
        { "[]", FPM_SYNTAX, 1 },
        { "", FPM_SYNTAX, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_metrics metrics;
        fpm_error error = { 0 };
        cr_assert_eq(parse(cases[i].text, &metrics, NULL, &error), cases[i].status, "%s", cases[i].text);
        cr_assert(error.message[0]);
        if (cases[i].column) cr_assert_eq(error.column, cases[i].column, "%s: %ld", cases[i].text, (long)error.column);
    }
}

static fpm_metrics full_record(void) {
    fpm_metrics m = fpm_metrics_idle();
    m.worker_id = "w\"0\\\x01\xc3\xa9";
    m.dp_rank = 4294967295u;
    m.counter_id = 18446744073709551615u;
    m.wall_time_s = 0.1 + 0.2;
    m.scheduled = (fpm_scheduled_requests){ 1, 2, 3, 4, 5, 0, 1.5, 1e-9 };
    m.queued = (fpm_queued_requests){ 6, 7, 8, 9, 2.5, 1e30 };
    m.moments = (fpm_moments){ 4503599627370497.0, 11, 12, true };
    return m;
}

Test(metrics_json, a_written_record_reads_back_exactly) {
    const fpm_metrics written = full_record();
    char text[2048] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    cr_assert_eq(fpm_metrics_write_json(out, &written, NULL), FPM_OK);
    fclose(out);
    cr_assert_eq(text[strlen(text) - 1], '\n');
    fpm_metrics read;
    fpm_worker_id_text id;
    fpm_error error = { 0 };
    cr_assert_eq(parse(text, &read, &id, &error), FPM_OK, "%s in %s", error.message, text);
    char worker_id[64] = "";
    fpm_json_unescape(id.raw, worker_id);
    cr_assert_str_eq(worker_id, written.worker_id);
    read.worker_id = written.worker_id;
    cr_assert_eq(memcmp(&read.scheduled, &written.scheduled, sizeof read.scheduled), 0);
    cr_assert_eq(memcmp(&read.queued, &written.queued, sizeof read.queued), 0);
    cr_assert(read.dp_rank == written.dp_rank && read.counter_id == written.counter_id);
    cr_assert_eq(read.wall_time_s, written.wall_time_s);
    cr_assert_eq(read.moments.sum_prefill_attention, written.moments.sum_prefill_attention);
    cr_assert(read.moments.is_present && read.moments.max_context_tokens == 11);
    cr_assert_eq(read.moments.num_finished_prompts, 12);
}

Test(metrics_json, the_idle_record_has_the_wire_layout) {
    const fpm_metrics idle = fpm_metrics_idle();
    char text[2048] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    fpm_metrics_write_json(out, &idle, NULL);
    fclose(out);
    cr_assert_str_eq(text, "{\"version\":1,\"worker_id\":\"\",\"dp_rank\":0,\"counter_id\":0,\"wall_time\":0,"
                           "\"scheduled_requests\":{\"num_prefill_requests\":0,\"sum_prefill_tokens\":0,"
                           "\"var_prefill_length\":0,\"sum_prefill_kv_tokens\":0,\"num_decode_requests\":0,"
                           "\"sum_decode_kv_tokens\":0,\"var_decode_kv_tokens\":0},"
                           "\"queued_requests\":{\"num_prefill_requests\":0,\"sum_prefill_tokens\":0,"
                           "\"var_prefill_length\":0,\"num_decode_requests\":0,\"sum_decode_kv_tokens\":0,"
                           "\"var_decode_kv_tokens\":0}}\n");
}

Test(metrics_json, a_record_that_cannot_be_written_is_an_error) {
    fpm_metrics rank = fpm_metrics_idle();
    fpm_error error;
    FILE *full = fopen("/dev/full", "w");
    cr_assert(full);
    setvbuf(full, NULL, _IONBF, 0);
    cr_assert_eq(fpm_metrics_write_json(full, &rank, &error), FPM_IO);
    rank.wall_time_s = (double)NAN;
    cr_assert_eq(fpm_metrics_write_json(full, &rank, &error), FPM_OUT_OF_RANGE);
    fclose(full);
}

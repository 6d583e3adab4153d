// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as an FPM log: no crash, and what is read can be written and read again as the same rows.
#include "perfmodel/metrics_json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check(bool holds) {
    if (!holds) abort();
}

static bool are_equal(const fpm_metrics *a, const fpm_metrics *b) {
    return memcmp(&a->scheduled, &b->scheduled, sizeof a->scheduled) == 0 &&
           memcmp(&a->queued, &b->queued, sizeof a->queued) == 0 && a->version == b->version &&
           a->dp_rank == b->dp_rank && a->counter_id == b->counter_id &&
           memcmp(&a->wall_time_s, &b->wall_time_s, sizeof a->wall_time_s) == 0 &&
           a->moments.is_present == b->moments.is_present;
}

static void check_round_trip(const fpm_metrics *rank) {
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    if (!out) return;
    check(fpm_metrics_write_json(out, rank, NULL) == FPM_OK);
    fclose(out);
    fpm_json json;
    fpm_metrics again;
    fpm_json_begin(&json, text, n_bytes);
    check(fpm_metrics_parse(&json, &again, NULL));
    check(fpm_json_end(&json, NULL) == FPM_OK);
    check(are_equal(rank, &again));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    fpm_log_reader *reader = NULL;
    fpm_error error;
    if (fpm_log_reader_open_memory(&reader, (const char *)data, n_bytes, "fuzz", &error)) return 0;
    for (;;) {
        const fpm_metrics *ranks;
        size_t n_ranks;
        int64_t line;
        const fpm_status status = fpm_log_reader_next(reader, &ranks, &n_ranks, &line, &error);
        if (status) check(error.code == status && error.message[0] != '\0');
        if (status || n_ranks == 0) break;
        check(line >= 1);
        for (size_t i = 0; i < n_ranks; i++) check_round_trip(&ranks[i]);
        fpm_metrics_validate(ranks, n_ranks, &error);
    }
    fpm_log_reader_free(reader);
    return 0;
}

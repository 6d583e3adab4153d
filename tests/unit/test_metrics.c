// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <criterion/criterion.h>

static fpm_metrics scheduled(uint32_t prefills, uint32_t fresh, uint32_t cached, uint32_t decodes, uint32_t kv) {
    fpm_metrics rank = fpm_metrics_idle();
    rank.scheduled.num_prefill_requests = prefills;
    rank.scheduled.sum_prefill_tokens = fresh;
    rank.scheduled.sum_prefill_kv_tokens = cached;
    rank.scheduled.num_decode_requests = decodes;
    rank.scheduled.sum_decode_kv_tokens = kv;
    return rank;
}

Test(metrics, the_kind_follows_from_fresh_tokens_and_decodes) {
    const struct {
        fpm_metrics rank;
        fpm_kind kind;
    } cases[] = {
        { scheduled(0, 0, 0, 0, 0), FPM_EMPTY },   { scheduled(1, 5, 0, 0, 0), FPM_PREFILL },
        { scheduled(0, 0, 0, 1, 9), FPM_DECODE },  { scheduled(0, 0, 0, 1, 0), FPM_DECODE },
        { scheduled(1, 5, 7, 1, 9), FPM_MIXED },   { scheduled(3, 0, 0, 0, 0), FPM_EMPTY },
        { scheduled(3, 0, 900, 0, 0), FPM_EMPTY }, { scheduled(3, 0, 900, 2, 9), FPM_DECODE },
        { scheduled(0, 0, 0, 0, 1), FPM_DECODE }, // not sound, but with decode work
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(fpm_metrics_kind(&cases[i].rank), cases[i].kind, "case %zu", i);
    cr_assert_str_eq(fpm_kind_name(FPM_MIXED), "mixed");
}

Test(metrics, validation_names_the_first_broken_rule_of_the_first_bad_rank) {
    fpm_metrics other_version = scheduled(0, 5, 0, 0, 0);
    other_version.version = 2;
    const fpm_metrics good = scheduled(1, 5, 0, 1, 9), orphan_fresh = scheduled(0, 5, 0, 0, 0),
                      orphan_cached = scheduled(0, 0, 5, 0, 0), orphan_kv = scheduled(0, 0, 0, 0, 5);
    const struct {
        fpm_metrics ranks[2];
        size_t n_ranks;
        fpm_status status;
        const char *part;
    } cases[] = {
        { { good, good }, 2, FPM_OK, "" },
        { { scheduled(3, 0, 0, 4, 0) }, 1, FPM_OK, "" }, // counts without sums are legal
        { { good }, 0, FPM_INVALID_METRICS, "at least one" },
        { { other_version, orphan_fresh }, 2, FPM_UNSUPPORTED_SCHEMA_VERSION, "got 2, expected 1" },
        { { orphan_fresh, other_version }, 2, FPM_INVALID_METRICS, "sum_prefill_tokens is 5 (rank 0)" },
        { { good, orphan_cached }, 2, FPM_INVALID_METRICS, "sum_prefill_kv_tokens is 5 (rank 1)" },
        { { good, orphan_kv }, 2, FPM_INVALID_METRICS, "sum_decode_kv_tokens is 5 (rank 1)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_error error = { 0 };
        cr_assert_eq(fpm_metrics_validate(cases[i].ranks, cases[i].n_ranks, &error), cases[i].status, "case %zu", i);
        cr_assert(strstr(error.message, cases[i].part), "case %zu: %s", i, error.message);
        cr_assert_eq(fpm_metrics_validate(cases[i].ranks, cases[i].n_ranks, NULL), cases[i].status);
    }
}

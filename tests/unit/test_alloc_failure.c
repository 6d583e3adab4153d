// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every allocation of the library fails once (and, in a second round, it and all after it). Each time the call must say
// FPM_NO_MEMORY, leave its object as it was, and leak nothing.
#include "tests/support/failing_malloc.h"
#include "tests/support/standin_estimator.h"

#include <criterion/criterion.h>

// --- the API, call by call -------------------------------------------------------------------------------------------

// Run `call` until it succeeds; the only way to fail is for want of memory. When that lasts, give up (label `out`).
#define UNTIL_DONE(call)                                                      \
    do {                                                                      \
        fpm_status status_ = (call);                                          \
        if (status_ == FPM_OK) break;                                         \
        cr_assert_eq(status_, FPM_NO_MEMORY, "%s", fpm_status_name(status_)); \
        cr_assert(has_failed);                                                \
        if (keeps_failing) goto out;                                          \
    } while (true)

static fpm_metrics pass(uint32_t i) {
    fpm_metrics rank = fpm_metrics_idle();
    const uint32_t x = i * 2654435761u;
    if (i % 3 != 1) rank.scheduled.num_prefill_requests = 1, rank.scheduled.sum_prefill_tokens = 1 + x % 9000;
    if (i % 3 != 0) rank.scheduled.num_decode_requests = 1 + x % 600, rank.scheduled.sum_decode_kv_tokens = x % 2100000;
    rank.wall_time_s = standin_rank_ms(&rank) * (0.7 + (double)(x % 1000) / 1000.0) / 1000.0;
    return rank;
}

static size_t write_text(const fpm_model *model, char *text, size_t capacity) {
    FILE *out = fmemopen(text, capacity, "w");
    cr_assert_eq(fpm_model_write(model, out, NULL), FPM_OK);
    fclose(out);
    return strlen(text);
}

static char text[200000], text_of_twin[200000];

static void live_with_model(bool is_native, uint64_t bucket_count, bool is_reference) {
    fpm_model_options o = fpm_model_options_default();
    o.correction = is_reference ? FPM_CORRECTION_GRID : FPM_CORRECTION_SMOOTH;
    o.regression = is_reference ? FPM_REGRESSION_REFERENCE : FPM_REGRESSION_ROBUST;
    o.max_observations = 70; // more than the first block of slots holds
    o.bucket_count = bucket_count;
    fpm_estimator *estimator = NULL;
    fpm_model *model = NULL, *copy = NULL, *loaded = NULL;
    UNTIL_DONE(standin_new(&estimator, NULL));
    if (is_native)
        UNTIL_DONE(fpm_model_new_native(&model, estimator, &o, NULL));
    else
        UNTIL_DONE(fpm_model_new_regression(&model, &o, NULL));
    for (uint32_t i = 0; i < 250; i++) {
        const fpm_metrics rank = pass(i);
        const fpm_iteration iteration = { &rank, 1 };
        const uint64_t before = fpm_model_retained(model, FPM_EMPTY);
        const fpm_status status = fpm_model_tune(model, &iteration, 1, NULL);
        if (status == FPM_OK) continue;
        cr_assert_eq(status, FPM_NO_MEMORY);
        cr_assert_eq(fpm_model_retained(model, FPM_EMPTY), before);
        double ms;
        bool has_estimate;
        cr_assert_eq(fpm_model_estimate_ms(model, &rank, 1, &ms, &has_estimate, NULL), FPM_OK);
        if (keeps_failing) goto out;
        i--; // once more
    }
    UNTIL_DONE(fpm_model_clone(&copy, model, NULL));
    const size_t n_bytes = write_text(copy, text, sizeof text);
    if (text_of_twin[0] == '\0') memcpy(text_of_twin, text, n_bytes + 1); // the first round, in which nothing failed
    cr_assert_str_eq(text, text_of_twin);
    UNTIL_DONE(fpm_model_read(&loaded, text, n_bytes, estimator, NULL));
    write_text(loaded, text, sizeof text);
    cr_assert_str_eq(text, text_of_twin);
    UNTIL_DONE(fpm_model_save(model, "/tmp/test_alloc_failure.json", NULL));
    fpm_model_free(loaded);
    loaded = NULL;
    UNTIL_DONE(fpm_model_load(&loaded, "/tmp/test_alloc_failure.json", estimator, NULL));
out:
    fpm_model_free(loaded);
    fpm_model_free(copy);
    fpm_model_free(model);
    fpm_estimator_free(estimator);
}

static void read_log(void) {
    static const char log[] =
        "{\"worker_id\":\"a rather long name of a worker, longer than the buffer\",\"counter_id\":1}\n"
        "{\"worker_id\":\"b\",\"counter_id\":1,\"dp_rank\":0}\n{\"worker_id\":\"b\",\"counter_id\":1,\"dp_rank\":1}\n"
        "[{},{},{},{},{},{},{},{},{\"worker_id\":\"c\"}]\n";
    fpm_log_reader *reader = NULL;
    UNTIL_DONE(fpm_log_reader_open_memory(&reader, log, sizeof log - 1, "log", NULL));
    for (size_t n_ranks = 1; n_ranks > 0;) {
        const fpm_metrics *ranks;
        int64_t line;
        const fpm_status status = fpm_log_reader_next(reader, &ranks, &n_ranks, &line, NULL);
        cr_assert(status == FPM_OK || (status == FPM_NO_MEMORY && has_failed));
        if (status) break; // a log cannot be read on after an error
    }
out:
    fpm_log_reader_free(reader);
}

static void make_estimators(void) {
    const fpm_fixed_options fixed = { 1, 2, -1, FPM_PRICING_FUSED };
    const fpm_polynomial_options polynomial = { 1000, FPM_PRICING_SERIAL };
    fpm_estimator *a = NULL, *b = NULL;
    UNTIL_DONE(fpm_estimator_new_fixed(&a, &fixed, NULL));
    UNTIL_DONE(fpm_estimator_new_polynomial(&b, &polynomial, NULL));
out:
    fpm_estimator_free(a);
    fpm_estimator_free(b);
}

static fpm_status make(void *context, fpm_estimator **estimator, fpm_error *error) {
    (void)context;
    return standin_new(estimator, error);
}

static fpm_status make_nothing(void *context, fpm_estimator **estimator, fpm_error *error) {
    (void)context, (void)estimator;
    return fpm_error_set(error, FPM_UNSUPPORTED, "nothing");
}

static void choose_best(void) {
    fpm_model *a = NULL, *b = NULL;
    UNTIL_DONE(fpm_model_best_available(&a, make, NULL, NULL, NULL));
    UNTIL_DONE(fpm_model_best_available(&b, make_nothing, NULL, NULL, NULL));
    cr_assert_eq(fpm_model_diagnostics(a).source, FPM_SOURCE_NATIVE); // want of memory is no reason to fall back
out:
    fpm_model_free(a);
    fpm_model_free(b);
}

static void live_native(void) { live_with_model(true, 16, true); }
static void live_native_hashed(void) { live_with_model(true, 1000000, true); }
static void live_regression(void) { live_with_model(false, 16, true); }
static void live_regression_hashed(void) { live_with_model(false, 1000000, true); }

static void live_smooth(void) { live_with_model(true, 16, false); }
static void live_robust(void) { live_with_model(false, 16, false); }

static void fail_everywhere(void (*scenario)(void)) {
    n_left = -1;
    has_failed = false;
    const long live_before = n_live;
    scenario();
    cr_assert_eq(n_live, live_before);
    for (int round = 0; round < 2; round++) {
        keeps_failing = round == 1;
        long n = 0;
        do {
            has_failed = false;
            n_left = n++;
            scenario();
            n_left = -1;
            cr_assert_eq(n_live, live_before, "allocation %ld: %ld blocks leak", n, n_live - live_before);
            cr_assert_lt(n, 5000);
        } while (has_failed);
        cr_assert_gt(n, 1);
    }
}

Test(alloc_failure, correcting_models) { fail_everywhere(live_native); }
Test(alloc_failure, correcting_models_with_huge_grids) { fail_everywhere(live_native_hashed); }
Test(alloc_failure, regressions) { fail_everywhere(live_regression); }
Test(alloc_failure, regressions_with_huge_grids) { fail_everywhere(live_regression_hashed); }
Test(alloc_failure, smooth_corrections) { fail_everywhere(live_smooth); }
Test(alloc_failure, robust_regressions) { fail_everywhere(live_robust); }
Test(alloc_failure, logs) { fail_everywhere(read_log); }
Test(alloc_failure, estimators) { fail_everywhere(make_estimators); }
Test(alloc_failure, best_available) { fail_everywhere(choose_best); }

// A pass that could not be learned has changed nothing: every estimate is the one from before.
static void expect_unchanged(bool is_native) {
    fpm_model_options options = fpm_model_options_default();
    options.min_observations = 1;
    long n = 0;
    do {
        fpm_estimator *estimator = NULL;
        fpm_model *model = NULL;
        n_left = -1;
        has_failed = false;
        cr_assert_eq(standin_new(&estimator, NULL), FPM_OK);
        cr_assert_eq(is_native ? fpm_model_new_native(&model, estimator, &options, NULL)
                               : fpm_model_new_regression(&model, &options, NULL),
                     FPM_OK);
        fpm_metrics known = fpm_metrics_idle(), other = fpm_metrics_idle();
        known.scheduled.num_prefill_requests = other.scheduled.num_prefill_requests = 1;
        known.scheduled.sum_prefill_tokens = 100;
        other.scheduled.sum_prefill_tokens = 8000;
        known.wall_time_s = 0.003;
        other.wall_time_s = 0.1;
        const fpm_iteration first = { &known, 1 }, second = { &other, 1 };
        cr_assert_eq(fpm_model_tune(model, &first, 1, NULL), FPM_OK);
        double before_ms = -1, after_ms = -1;
        bool has_before, has_after;
        cr_assert_eq(fpm_model_estimate_ms(model, &other, 1, &before_ms, &has_before, NULL), FPM_OK);
        n_left = n++;
        const fpm_status status = fpm_model_tune(model, &second, 1, NULL);
        n_left = -1;
        cr_assert_eq(fpm_model_estimate_ms(model, &other, 1, &after_ms, &has_after, NULL), FPM_OK);
        cr_expect_eq(status, has_failed ? FPM_NO_MEMORY : FPM_OK);
        if (has_failed)
            cr_expect(has_before == has_after && before_ms == after_ms, "allocation %ld: %g ms, %g before", n, after_ms,
                      before_ms);
        fpm_model_free(model);
        fpm_estimator_free(estimator);
    } while (has_failed);
    if (is_native) cr_assert_gt(n, 1); // a regression has its room in advance
}

Test(alloc_failure, a_correction_that_could_not_be_learned_changes_no_estimate) { expect_unchanged(true); }
Test(alloc_failure, an_observation_that_could_not_be_kept_changes_no_estimate) { expect_unchanged(false); }

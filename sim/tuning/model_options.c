// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/model_options.h"

#include <stddef.h>
#include <string.h>

typedef struct keys_of_options { // as the table fills it
    int64_t max_observations, min_observations;
    double min_faster_correction_factor, max_slower_correction_factor; // 0: none
    int64_t bucket_count, max_num_tokens, max_batch_size, max_kv_tokens;
    int correction, regression; // fpm_correction_form, fpm_regression_form
} keys_of_options;

static const char *const correction_names[] = { "grid", "smooth", NULL };
static const char *const regression_names[] = { "reference", "robust", NULL };
_Static_assert(FPM_CORRECTION_GRID == 0 && FPM_CORRECTION_SMOOTH == 1, "correction_names stand in its order");
_Static_assert(FPM_REGRESSION_REFERENCE == 0 && FPM_REGRESSION_ROBUST == 1, "regression_names stand in its order");

#define KEY(field, ...) \
    { .offset = offsetof(keys_of_options, field), .name = #field, __VA_ARGS__ }
#define COUNT .type = SIM_KEY_INT, .min = 1, .max = 9.2e18
#define FACTOR .type = SIM_KEY_REAL, .word = "none", .word_value = 0
static const sim_key keys[] = {
    KEY(max_observations, COUNT, .default_text = "64", .unit = "passes",
        .help = "tuning: passes remembered of each kind (prefill, decode, mixed)"),
    KEY(min_observations, COUNT, .default_text = "5", .unit = "passes",
        .help = "tuning: passes of a kind before it corrects or predicts; at most max_observations"),
    KEY(min_faster_correction_factor, FACTOR, .default_text = "0.5", .max = 1, .is_min_exclusive = true,
        .help = "tuning: least observed/estimated ratio that is believed; none = any"),
    KEY(max_slower_correction_factor, FACTOR, .default_text = "2.0", .min = 1, .max = 1e300,
        .help = "tuning: largest observed/estimated ratio that is believed; none = any"),
    KEY(bucket_count, COUNT, .default_text = "16", .unit = "cells",
        .help = "tuning: cells of the grid of a kind; a square number"),
    KEY(max_num_tokens, COUNT, .default_text = "8192", .unit = "tokens",
        .help = "tuning: end of the grid's axis of prompt tokens"),
    KEY(max_batch_size, COUNT, .default_text = "512", .unit = "requests",
        .help = "tuning: end of the grid's axis of decoding requests"),
    KEY(max_kv_tokens, COUNT, .default_text = "2000000", .unit = "tokens",
        .help = "tuning: end of the grid's axis of decode KV tokens"),
    KEY(correction, .type = SIM_KEY_CHOICE, .default_text = "grid", .choices = correction_names,
        .help = "tuning: the median of each cell of the grid, or one smooth monotone surface, drawn towards 1"),
    KEY(regression, .type = SIM_KEY_CHOICE, .default_text = "reference", .choices = regression_names,
        .help =
            "estimator = regression: as the reference fits, or robust to outliers and with the batch in mixed passes"),
};
const sim_key_table sim_model_options_keys = { "perfmodel", "how a model that learns remembers and corrects", keys,
                                               sizeof keys / sizeof *keys };

static fpm_model_options options_of(const keys_of_options *values) {
    return (fpm_model_options){
        .max_observations = (uint64_t)values->max_observations,
        .min_observations = (uint64_t)values->min_observations,
        .min_faster_correction_factor = values->min_faster_correction_factor,
        .max_slower_correction_factor = values->max_slower_correction_factor,
        .is_faster_unbounded = values->min_faster_correction_factor <= 0,
        .is_slower_unbounded = values->max_slower_correction_factor <= 0,
        .bucket_count = (uint64_t)values->bucket_count,
        .max_num_tokens = (uint64_t)values->max_num_tokens,
        .max_batch_size = (uint64_t)values->max_batch_size,
        .max_kv_tokens = (uint64_t)values->max_kv_tokens,
        .correction = (fpm_correction_form)values->correction,
        .regression = (fpm_regression_form)values->regression,
    };
}

sim_status sim_model_options_read(const sim_config *config, fpm_model_options *options, sim_error *error) {
    keys_of_options values;
    sim_config_fill(config, &sim_model_options_keys, &values);
    if (values.min_observations > values.max_observations) {
        const bool is_given = sim_config_is_given(config, "perfmodel", "min_observations");
        return sim_config_contradiction(config, error, "perfmodel", is_given ? "min_observations" : "max_observations",
                                        "min_observations = %lld is more than max_observations = %lld (so many are "
                                        "never remembered)",
                                        (long long)values.min_observations, (long long)values.max_observations);
    }
    *options = options_of(&values);
    fpm_error reason;
    // The keys have their ranges already: what is left is the square.
    if (fpm_model_options_validate(options, &reason))
        return sim_config_contradiction(config, error, "perfmodel", "bucket_count", "%s", reason.message);
    return SIM_OK;
}

static double bound_of(double bound, bool is_unbounded) { return is_unbounded ? 0 : bound; }

sim_status sim_model_options_check_saved(const sim_config *config, const fpm_model_options *options,
                                         const fpm_model_options *saved, sim_error *error) {
    const fpm_model_options standard = fpm_model_options_default();
    const fpm_model_options *const all[] = { options, saved, &standard };
    enum { N_OPTIONS = 10 };
    static const char *const names[N_OPTIONS] = { "max_observations",
                                                  "min_observations",
                                                  "min_faster_correction_factor",
                                                  "max_slower_correction_factor",
                                                  "bucket_count",
                                                  "max_num_tokens",
                                                  "max_batch_size",
                                                  "max_kv_tokens",
                                                  "correction",
                                                  "regression" };
    double values[3][N_OPTIONS]; // counts beyond 2^53 that differ by less than a double can tell do not matter here
    for (size_t i = 0; i < 3; i++) {
        const fpm_model_options *o = all[i];
        const double row[N_OPTIONS] = { (double)o->max_observations,
                                        (double)o->min_observations,
                                        bound_of(o->min_faster_correction_factor, o->is_faster_unbounded),
                                        bound_of(o->max_slower_correction_factor, o->is_slower_unbounded),
                                        (double)o->bucket_count,
                                        (double)o->max_num_tokens,
                                        (double)o->max_batch_size,
                                        (double)o->max_kv_tokens,
                                        o->correction,
                                        o->regression };
        memcpy(values[i], row, sizeof row);
    }
    for (size_t k = 0; k < N_OPTIONS; k++)
        if (values[0][k] != values[1][k] && values[0][k] != values[2][k])
            return sim_config_contradiction(config, error, "perfmodel", names[k],
                                            "%s is not that of the saved model of perfmodel.state, which goes on with "
                                            "its own options (leave it out)",
                                            names[k]);
    return SIM_OK;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <math.h>

fpm_model_options fpm_model_options_default(void) {
    return (fpm_model_options){
        .max_observations = 64,
        .min_observations = 5,
        .min_faster_correction_factor = 0.5,
        .max_slower_correction_factor = 2.0,
        .bucket_count = 16,
        .max_num_tokens = 8192,
        .max_batch_size = 512,
        .max_kv_tokens = 2000000,
    };
}

static bool is_square(uint64_t value) {
    const double root = floor(sqrt((double)value));
    if (root > 4294967295.0) return false; // its square would not fit
    const uint64_t whole = (uint64_t)root;
    return whole * whole == value;
}

fpm_status fpm_model_options_validate(const fpm_model_options *options, fpm_error *error) {
    const double faster = options->min_faster_correction_factor, slower = options->max_slower_correction_factor;
    // The order is the reference's: the first broken rule is the one reported.
    const struct {
        bool holds;
        const char *rule;
    } rules[] = {
        { options->max_observations >= 1, "max_observations must be >= 1" },
        { options->min_observations >= 1, "min_observations must be >= 1" },
        { options->is_faster_unbounded || (isfinite(faster) && faster > 0.0 && faster <= 1.0),
          "min_faster_correction_factor must be finite and in (0, 1]" },
        { options->is_slower_unbounded || (isfinite(slower) && slower >= 1.0),
          "max_slower_correction_factor must be finite and >= 1" },
        { options->bucket_count >= 1, "bucket_count must be >= 1" },
        { options->max_num_tokens >= 1, "max_num_tokens must be >= 1" },
        { options->max_batch_size >= 1, "max_batch_size must be >= 1" },
        { options->max_kv_tokens >= 1, "max_kv_tokens must be >= 1" },
        { options->min_observations <= options->max_observations, "min_observations must be <= max_observations" },
        { is_square(options->bucket_count), "bucket_count must be a perfect square" },
        { options->correction == FPM_CORRECTION_GRID || options->correction == FPM_CORRECTION_SMOOTH,
          "correction must be grid or smooth" },
        { options->regression == FPM_REGRESSION_REFERENCE || options->regression == FPM_REGRESSION_ROBUST,
          "regression must be reference or robust" },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!rules[i].holds)
            return fpm_error_set(error, FPM_INVALID_CONFIG, "invalid forward pass perf options: %s", rules[i].rule);
    return FPM_OK;
}

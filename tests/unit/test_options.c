// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <criterion/criterion.h>
#include <math.h>

typedef struct option_case {
    fpm_model_options options;
    const char *rule; // part of the message; NULL = valid
} option_case;

static fpm_model_options with_count(size_t offset, uint64_t value) {
    fpm_model_options o = fpm_model_options_default();
    memcpy((char *)&o + offset, &value, sizeof value);
    return o;
}

static fpm_model_options with_number(size_t offset, double value) {
    fpm_model_options o = fpm_model_options_default();
    memcpy((char *)&o + offset, &value, sizeof value);
    return o;
}

#define COUNT(field, value) with_count(offsetof(fpm_model_options, field), value)
#define NUMBER(field, value) with_number(offsetof(fpm_model_options, field), (double)(value))

Test(options, every_rule_is_checked) {
    const option_case cases[] = {
        { fpm_model_options_default(), NULL },
        { COUNT(max_observations, 0), "max_observations must be >= 1" },
        { COUNT(max_observations, 4), "min_observations must be <= max_observations" },
        { COUNT(max_observations, 5), NULL },
        { COUNT(max_observations, UINT64_MAX), NULL },
        { COUNT(min_observations, 0), "min_observations must be >= 1" },
        { COUNT(min_observations, 65), "min_observations must be <= max_observations" },
        { NUMBER(min_faster_correction_factor, 0.0), "min_faster" },
        { NUMBER(min_faster_correction_factor, -1), "min_faster" },
        { NUMBER(min_faster_correction_factor, 1.0), NULL },
        { NUMBER(min_faster_correction_factor, 1.0000000001), "min_faster" },
        { NUMBER(min_faster_correction_factor, 5e-324), NULL },
        { NUMBER(min_faster_correction_factor, NAN), "min_faster" },
        { NUMBER(min_faster_correction_factor, INFINITY), "min_faster" },
        { NUMBER(min_faster_correction_factor, -INFINITY), "min_faster" },
        { NUMBER(max_slower_correction_factor, 1.0), NULL },
        { NUMBER(max_slower_correction_factor, 0.9999), "max_slower" },
        { NUMBER(max_slower_correction_factor, NAN), "max_slower" },
        { NUMBER(max_slower_correction_factor, INFINITY), "max_slower" },
        { COUNT(bucket_count, 0), "bucket_count must be >= 1" },
        { COUNT(bucket_count, 1), NULL },
        { COUNT(bucket_count, 2), "perfect square" },
        { COUNT(bucket_count, 1000000000000), NULL },
        { COUNT(bucket_count, 1000000000001), "perfect square" },
        { COUNT(bucket_count, UINT64_MAX), "perfect square" },
        { COUNT(bucket_count, UINT64_C(4294967295) * 4294967295), NULL },
        { COUNT(max_num_tokens, 0), "max_num_tokens" },
        { COUNT(max_batch_size, 0), "max_batch_size" },
        { COUNT(max_kv_tokens, 0), "max_kv_tokens" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_error error = { 0 };
        const fpm_status status = fpm_model_options_validate(&cases[i].options, &error);
        cr_assert_eq(status, cases[i].rule ? FPM_INVALID_CONFIG : FPM_OK, "case %zu: %s", i, error.message);
        if (cases[i].rule) cr_assert(strstr(error.message, cases[i].rule), "case %zu: %s", i, error.message);
    }
}

Test(options, an_unbounded_side_is_not_read) {
    fpm_model_options o = fpm_model_options_default();
    o.is_faster_unbounded = o.is_slower_unbounded = true;
    o.min_faster_correction_factor = (double)NAN;
    o.max_slower_correction_factor = -1;
    cr_assert_eq(fpm_model_options_validate(&o, NULL), FPM_OK);
}

Test(options, the_first_broken_rule_is_the_one_named) {
    fpm_model_options o = fpm_model_options_default();
    fpm_error error;
    o.bucket_count = 7;
    o.max_kv_tokens = 0;
    o.min_faster_correction_factor = 2;
    fpm_model_options_validate(&o, &error);
    cr_assert(strstr(error.message, "min_faster"));
    o.min_faster_correction_factor = 1;
    fpm_model_options_validate(&o, &error);
    cr_assert(strstr(error.message, "max_kv_tokens"));
    o.max_kv_tokens = 1;
    fpm_model_options_validate(&o, &error);
    cr_assert(strstr(error.message, "perfect square"));
}

Test(options, forms_are_those_of_the_lists) {
    fpm_model_options o = fpm_model_options_default();
    cr_assert_eq(o.correction, FPM_CORRECTION_GRID);
    cr_assert_eq(o.regression, FPM_REGRESSION_REFERENCE);
    o.correction = (fpm_correction_form)2;
    cr_assert_eq(fpm_model_options_validate(&o, NULL), FPM_INVALID_CONFIG);
    o.correction = FPM_CORRECTION_SMOOTH;
    o.regression = (fpm_regression_form)2;
    cr_assert_eq(fpm_model_options_validate(&o, NULL), FPM_INVALID_CONFIG);
    o.regression = FPM_REGRESSION_ROBUST;
    cr_assert_eq(fpm_model_options_validate(&o, NULL), FPM_OK);
}

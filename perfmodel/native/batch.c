// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/native/batch.h"

#include <math.h>

double fpm_derived_pairs(const fpm_scheduled_requests *s) {
    const double n = (double)s->num_prefill_requests, tokens = (double)s->sum_prefill_tokens;
    const double squares = fmin(tokens * tokens / n + n * s->var_prefill_length, tokens * tokens);
    return tokens * ((double)s->sum_prefill_kv_tokens / n) + 0.5 * squares;
}

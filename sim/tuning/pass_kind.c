// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/pass_kind.h"

// Sum of the features: prefill (tokens), decode (requests, KV tokens), mixed (prefill tokens, KV tokens).
static uint64_t load_of(const fpm_scheduled_requests *scheduled) {
    const uint64_t first =
        scheduled->sum_prefill_tokens ? scheduled->sum_prefill_tokens : scheduled->num_decode_requests;
    return first + scheduled->sum_decode_kv_tokens;
}

fpm_kind sim_pass_kind(const fpm_metrics *ranks, size_t n_ranks) {
    fpm_kind kind = FPM_EMPTY;
    uint64_t most = 1; // a rank with work has a sum of 1 at least
    for (size_t i = 0; i < n_ranks; i++) {
        const uint64_t load = load_of(&ranks[i].scheduled);
        if (load < most) continue;
        most = load; // the later of equals
        kind = fpm_metrics_kind(&ranks[i]);
    }
    return kind;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/metrics_check.h"

_Static_assert(FPM_EMPTY == 0 && FPM_PREFILL == 1 && FPM_DECODE == 2 && FPM_MIXED == 3,
               "fpm_scheduled_kind adds them up");

fpm_metrics fpm_metrics_idle(void) { return (fpm_metrics){ .version = FPM_VERSION }; }

fpm_kind fpm_metrics_kind(const fpm_metrics *rank) { return fpm_scheduled_kind(&rank->scheduled); }

const char *fpm_kind_name(fpm_kind kind) {
    static const char *const names[] = { "empty", "prefill", "decode", "mixed" };
    return kind >= FPM_EMPTY && kind <= FPM_MIXED ? names[kind] : "unknown";
}

static fpm_status validate_rank(const fpm_metrics *rank, size_t position, fpm_error *error) {
    const fpm_scheduled_requests *s = &rank->scheduled;
    if (rank->version != FPM_VERSION)
        return fpm_error_set(error, FPM_UNSUPPORTED_SCHEMA_VERSION,
                             "unsupported schema version for ForwardPassMetrics: got %u, expected %u (rank %zu)",
                             rank->version, FPM_VERSION, position);
    if (s->num_prefill_requests == 0 && s->sum_prefill_tokens > 0)
        return fpm_error_set(error, FPM_INVALID_METRICS,
                             "num_prefill_requests is 0 but sum_prefill_tokens is %u (rank %zu)", s->sum_prefill_tokens,
                             position);
    if (s->num_prefill_requests == 0 && s->sum_prefill_kv_tokens > 0)
        return fpm_error_set(error, FPM_INVALID_METRICS,
                             "num_prefill_requests is 0 but sum_prefill_kv_tokens is %u (rank %zu)",
                             s->sum_prefill_kv_tokens, position);
    if (s->num_decode_requests == 0 && s->sum_decode_kv_tokens > 0)
        return fpm_error_set(error, FPM_INVALID_METRICS,
                             "num_decode_requests is 0 but sum_decode_kv_tokens is %u (rank %zu)",
                             s->sum_decode_kv_tokens, position);
    return FPM_OK;
}

fpm_status fpm_metrics_validate(const fpm_metrics *ranks, size_t n_ranks, fpm_error *error) {
    if (n_ranks == 0) return fpm_error_set(error, FPM_INVALID_METRICS, "at least one attention-DP rank is required");
    for (size_t i = 0; i < n_ranks; i++) {
        const fpm_status status = validate_rank(&ranks[i], i, error);
        if (status) return status;
    }
    return FPM_OK;
}

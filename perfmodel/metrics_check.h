// SPDX-License-Identifier: GPL-3.0-or-later
//
// The two things done with every rank on the hot path, as inline functions without branches on data: is the record
// sound, and how much load does it carry. Which rule a bad record breaks is asked afterwards, off the hot path
// (fpm_metrics_validate).
#ifndef PERFMODEL_METRICS_CHECK_H
#define PERFMODEL_METRICS_CHECK_H

#include "perfmodel/perfmodel.h"

// True when a rule of fpm_metrics_validate is broken.
static inline bool fpm_metrics_is_unsound(const fpm_metrics *rank) {
    const fpm_scheduled_requests *s = &rank->scheduled;
    const bool is_other_version = rank->version != FPM_VERSION;
    const bool is_prefill_orphaned =
        (s->num_prefill_requests == 0) & ((s->sum_prefill_tokens | s->sum_prefill_kv_tokens) != 0);
    const bool is_decode_orphaned = (s->num_decode_requests == 0) & (s->sum_decode_kv_tokens != 0);
    return is_other_version | is_prefill_orphaned | is_decode_orphaned;
}

static inline bool fpm_metrics_any_unsound(const fpm_metrics *ranks, size_t n_ranks) {
    bool is_unsound = n_ranks == 0;
    for (size_t i = 0; i < n_ranks; i++) is_unsound |= fpm_metrics_is_unsound(&ranks[i]);
    return is_unsound;
}

// Kind of a rank from three of its numbers; see fpm_metrics_kind.
static inline fpm_kind fpm_scheduled_kind(const fpm_scheduled_requests *s) {
    const unsigned has_prefill = s->sum_prefill_tokens > 0;
    const unsigned has_decode = (s->num_decode_requests | s->sum_decode_kv_tokens) > 0;
    return (fpm_kind)(has_prefill + 2 * has_decode); // the enum counts in this order
}

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Collectives of one worker: a latency that grows with the ranks, joined with the bytes that a rank must send.
#include "perfmodel/native/operator_parts.h"

// What one GPU can send to the others of its group.
static double link_bytes_per_s(const fpm_system *system, double ranks) {
    return ranks <= (double)system->gpus_per_node ? system->intra_node_bytes_per_s : system->inter_node_bytes_per_s;
}

// From the values of 2, 4 and 8 ranks to any number, on a logarithmic scale; beyond 8 as from 4 to 8.
static double at_ranks(double ranks, double at_2, double more_4, double more_8) {
    const double octaves = log2(ranks);
    if (octaves <= 2) return at_2 + more_4 * (octaves > 1 ? octaves - 1 : 0);
    return at_2 + more_4 + more_8 * (octaves - 2);
}

fpm_family fpm_collective_family(fpm_collective collective) {
    switch (collective) {
    case FPM_ALL_GATHER:
        return FPM_FAMILY_ALL_GATHER;
    case FPM_REDUCE_SCATTER:
        return FPM_FAMILY_REDUCE_SCATTER;
    case FPM_ALL_TO_ALL:
        return FPM_FAMILY_ALL_TO_ALL;
    case FPM_ALL_REDUCE:
    case FPM_COLLECTIVES:
        break;
    }
    return FPM_FAMILY_ALL_REDUCE;
}

fpm_price fpm_collective_price(const fpm_operators *operators, fpm_collective collective, double ranks, double bytes) {
    if (!(ranks > 1)) return (fpm_price){ .bound = FPM_BOUND_LAUNCH };
    const double *curve = fpm_curve_of(operators, fpm_collective_family(collective), FPM_BF16);
    const double step_ms = 1e3 * (ranks - 1) / ranks / link_bytes_per_s(operators->system, ranks);
    // A rank keeps its own part. Switches can add up on the way, so this is the bound of an all-reduce too.
    const double bound_ms = bytes * step_ms;
    // Small messages carry their flags along; large ones synchronise, which takes longer to begin with.
    const double is_large = bytes / (bytes + curve[COLLECTIVE_PROTOCOL_BYTES]);
    const double latency_ms =
        1e-3 * (at_ranks(ranks, curve[COLLECTIVE_LATENCY_2], curve[COLLECTIVE_LATENCY_4], curve[COLLECTIVE_LATENCY_8]) +
                curve[COLLECTIVE_PROTOCOL] * is_large);
    const double slower = exp2(at_ranks(ranks, 0, log2(curve[COLLECTIVE_SLOWER_4]), log2(curve[COLLECTIVE_SLOWER_8])));
    const double network_ms = bytes * step_ms * slower / curve[COLLECTIVE_SHARE_2];
    return (fpm_price){ .ms = fpm_norm(latency_ms, network_ms, curve[COLLECTIVE_SHARPNESS]),
                        .floor_ms = latency_ms,
                        .bound_ms = bound_ms,
                        .bound = network_ms > latency_ms ? FPM_BOUND_NETWORK : FPM_BOUND_LAUNCH };
}

fpm_price fpm_send_price(const fpm_operators *operators, double bytes) {
    // A point-to-point send takes 10 us and most of the link between nodes.
    const double bound_ms = 1e3 * bytes / operators->system->inter_node_bytes_per_s;
    return (fpm_price){ .ms = 10e-3 + bound_ms / 0.8,
                        .floor_ms = 10e-3,
                        .bound_ms = bound_ms,
                        .bound = bound_ms > 10e-3 ? FPM_BOUND_NETWORK : FPM_BOUND_LAUNCH };
}

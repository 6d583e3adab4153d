// SPDX-License-Identifier: GPL-3.0-or-later
//
// Routed experts: a roofline over the tokens that reach the busiest rank and the experts that any of them touches.
#include "perfmodel/native/operator_parts.h"

double fpm_moe_imbalance(const fpm_moe_shape *shape) {
    if (!(shape->expert > 1)) return 1;
    const double experts_of_rank = shape->n_experts / shape->expert;
    // Means of `experts_of_rank` loads whose spread is `skew` times their mean; the largest of `expert` such means.
    return 1 + shape->skew * sqrt(2 * log(shape->expert) / experts_of_rank);
}

// Experts of one rank that at least one of the tokens touches: concave in the tokens, so that splitting a batch never saves weight traffic.
static double experts_touched(const fpm_moe_shape *shape, double tokens) {
    const double chance = shape->experts_per_token / shape->n_experts;
    if (chance >= 1) return tokens > 0 ? shape->n_experts / shape->expert : 0;
    return shape->n_experts / shape->expert * -expm1(tokens * log1p(-chance));
}

fpm_price fpm_moe_price(const fpm_operators *operators, fpm_precision weights, bool has_16bit_activations,
                        const fpm_moe_shape *shape, double tokens) {
    const int format = fpm_format(weights, has_16bit_activations);
    const double *curve = fpm_curve_of(operators, FPM_FAMILY_MOE, format);
    const double flop_ms = fpm_flop_ms(operators, format), byte_ms = fpm_byte_ms(operators);
    const double matrices = shape->is_ungated ? 2 : 3;
    const double width = shape->intermediate / shape->tensor;
    const double touched = experts_touched(shape, tokens);
    const double pairs = tokens * shape->experts_per_token / shape->expert * shape->imbalance;
    const double weight_bytes = shape->hidden * width * matrices * fpm_format_weight_bytes(format);
    const double pair_bytes = (shape->hidden + (matrices - 1) * width) * fpm_format_activation_bytes(format);
    const double memory_ms = byte_ms * (touched * weight_bytes + pairs * pair_bytes);
    const double compute_ms = 2 * pairs * shape->hidden * width * matrices * flop_ms;
    const double padded_ms = 2 * (pairs + touched * curve[MOE_PAD_TOKENS]) * shape->hidden *
                             (width + curve[MOE_PAD_WIDTH]) * matrices * flop_ms;
    return fpm_priced(1e-3 * curve[MOE_FLOOR], padded_ms / curve[MOE_COMPUTE], memory_ms / curve[MOE_MEMORY],
                      curve[MOE_SHARPNESS], compute_ms > memory_ms ? compute_ms : memory_ms);
}

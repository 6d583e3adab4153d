// SPDX-License-Identifier: GPL-3.0-or-later
//
// Routed experts: a roofline over the tokens that reach the busiest rank and the experts that any of them touches.
#include "perfmodel/native/operator_parts.h"

// Loads that follow a power law near 1 / x between one token and all of them have a standard deviation of about twice their mean. Fitted alone,
// the measured kernels of every system ask for 1.5 to 3.
static const double spread_of_skew = 2;

double fpm_moe_imbalance(const fpm_moe_shape *shape) {
    if (!(shape->expert > 1)) return 1;
    // The largest of `expert` means of `experts_of_rank` loads each, as of normal deviates.
    const double experts_of_rank = shape->n_experts / shape->expert;
    const double busiest = 1 + spread_of_skew * shape->skew * sqrt(2 * log(shape->expert) / experts_of_rank);
    return busiest < shape->expert ? busiest : shape->expert; // one rank has it all
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
    const double touched = experts_touched(shape, tokens / (1 + 0.2 * shape->skew));
    const double pairs = tokens * shape->experts_per_token / shape->expert * shape->imbalance;
    const double weight_bytes = shape->hidden * width * matrices * fpm_format_weight_bytes(format);
    const double pair_bytes = (shape->hidden + (matrices - 1) * width) * fpm_format_activation_bytes(format);
    const double memory_ms = byte_ms * (touched * weight_bytes + pairs * pair_bytes);
    const double compute_ms = 2 * pairs * shape->hidden * width * matrices * flop_ms;
    const double padded_ms = 2 * (pairs + touched * curve[MOE_PAD_TOKENS]) * shape->hidden *
                             (width + curve[MOE_PAD_WIDTH]) * matrices * flop_ms;
    const double walk_ms = 1e-6 * curve[MOE_DEPTH] * (shape->hidden + width);
    const double p = curve[MOE_SHARPNESS];
    const double moved_ms = 2 * shape->hidden * byte_ms * (tokens * curve[MOE_PASSES] + pairs * curve[MOE_PAIR_PASSES]);
    fpm_price price =
        fpm_priced(1e-3 * curve[MOE_FLOOR] + moved_ms, fpm_norm(padded_ms / curve[MOE_COMPUTE], walk_ms, p),
                   memory_ms / curve[MOE_MEMORY], p, compute_ms, memory_ms);
    price.floor_ms = 1e-3 * curve[MOE_FLOOR];
    return price;
}

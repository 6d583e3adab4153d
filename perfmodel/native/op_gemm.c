// SPDX-License-Identifier: GPL-3.0-or-later
//
// Matrix products: a roofline of the padded shape.
#include "perfmodel/native/operator_parts.h"

fpm_price fpm_gemm_price(const fpm_operators *operators, fpm_precision weights, bool has_16bit_activations, double m,
                         double n, double k) {
    const int format = fpm_format(weights, has_16bit_activations);
    const double *curve = fpm_curve_of(operators, FPM_FAMILY_GEMM, format);
    const double flop_ms = fpm_flop_ms(operators, format), byte_ms = fpm_byte_ms(operators);
    const double memory_ms =
        byte_ms * (n * k * fpm_format_weight_bytes(format) + m * k * fpm_format_activation_bytes(format) + 2 * m * n);
    const double compute_ms = 2 * m * n * k * flop_ms;
    const double padded_ms = 2 * (m + curve[GEMM_PAD_M]) * (n + curve[GEMM_PAD_N]) * (k + curve[GEMM_PAD_K]) * flop_ms;
    // A tile walks along k on one core: with few tiles that walk is what takes the time.
    const double walk_ms = 1e-6 * curve[GEMM_DEPTH] * k;
    const double p = curve[GEMM_SHARPNESS];
    return fpm_priced(1e-3 * curve[GEMM_FLOOR], fpm_norm(padded_ms / curve[GEMM_COMPUTE], walk_ms, p),
                      memory_ms / curve[GEMM_MEMORY], p, compute_ms, memory_ms);
}

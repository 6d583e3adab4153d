// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the families share: peaks, bandwidths, the norm, and the kernels that only move memory.
#include "perfmodel/native/operators.h"

#include "perfmodel/native/operator_parts.h"

const char *fpm_bound_name(fpm_bound bound) {
    switch (bound) {
    case FPM_BOUND_COMPUTE:
        return "compute";
    case FPM_BOUND_MEMORY:
        return "memory";
    case FPM_BOUND_NETWORK:
        return "network";
    case FPM_BOUND_LAUNCH:
        return "launch";
    }
    return "";
}

const double *fpm_curve_of(const fpm_operators *operators, fpm_family family, int format) {
    return operators->curves[family][format].values;
}

static fpm_precision precision_of(int format) { return (fpm_precision)(format % FPM_PRECISIONS); }

double fpm_format_weight_bytes(int format) {
    static const double bytes[] = {
#define X(code, name, bytes_each) bytes_each,
        FPM_PRECISION_LIST(X)
#undef X
    };
    return bytes[precision_of(format)];
}

static fpm_arithmetic arithmetic_of(int format) {
    if (format >= FPM_PRECISIONS) return FPM_ARITHMETIC_BF16;
    switch (precision_of(format)) {
    case FPM_FP8:
    case FPM_FP8_BLOCK:
    case FPM_MXFP4: // with 8-bit activations the products are fp8 ones
        return FPM_ARITHMETIC_FP8;
    case FPM_NVFP4:
        return FPM_ARITHMETIC_FP4;
    case FPM_INT8:
        return FPM_ARITHMETIC_INT8;
    case FPM_BF16:
    case FPM_INT4: // never multiplied as such
    case FPM_PRECISIONS:
        break;
    }
    return FPM_ARITHMETIC_BF16;
}

double fpm_format_activation_bytes(int format) {
    const fpm_arithmetic arithmetic = arithmetic_of(format);
    if (arithmetic == FPM_ARITHMETIC_BF16) return 2;
    return arithmetic == FPM_ARITHMETIC_FP4 ? 0.5625 : 1;
}

double fpm_flop_ms(const fpm_operators *operators, int format) {
    const double *peaks = operators->system->flops_per_s;
    const double peak = peaks[arithmetic_of(format)];
    return 1e3 / (peak > 0 ? peak : peaks[FPM_ARITHMETIC_BF16]);
}

double fpm_byte_ms(const fpm_operators *operators) { return 1e3 / operators->system->memory_bytes_per_s; }

double fpm_norm(double a, double b, double p) {
    const double large = a > b ? a : b, small = a > b ? b : a;
    if (!(small > 0)) return large;
    return large * pow(1 + pow(small / large, p), 1 / p);
}

fpm_price fpm_priced(double floor_ms, double compute_ms, double memory_ms, double p, double peak_compute_ms,
                     double peak_memory_ms) {
    fpm_bound bound = compute_ms > memory_ms ? FPM_BOUND_COMPUTE : FPM_BOUND_MEMORY;
    if (floor_ms > compute_ms && floor_ms > memory_ms) bound = FPM_BOUND_LAUNCH;
    return (fpm_price){ .ms = floor_ms + fpm_norm(compute_ms, memory_ms, p),
                        .floor_ms = floor_ms,
                        .bound_ms = peak_compute_ms > peak_memory_ms ? peak_compute_ms : peak_memory_ms,
                        .peak_compute_ms = peak_compute_ms,
                        .peak_memory_ms = peak_memory_ms,
                        .bound = bound };
}

fpm_price fpm_memory_price(const fpm_operators *operators, double bytes) {
    const double *curve = fpm_curve_of(operators, FPM_FAMILY_MEMORY, FPM_BF16);
    const double bound_ms = bytes * fpm_byte_ms(operators);
    return fpm_priced(1e-3 * curve[MEMORY_FLOOR], 0, bound_ms / curve[MEMORY_SHARE], 1, 0, bound_ms);
}

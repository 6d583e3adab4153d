// SPDX-License-Identifier: GPL-3.0-or-later
//
// The tables of parameters: one per family, behind defaults, reading, writing and fitting.
#include <string.h>

#include "perfmodel/native/operator_parts.h"

static const char *const family_names[] = {
#define X(code, name) name,
    FPM_FAMILY_LIST(X)
#undef X
};

const char *fpm_family_name(fpm_family family) { return family_names[family]; }

#define X(code, name, min, max, typical, help) { name, min, max, typical, help },
static const fpm_parameter gemm[] = { GEMM_PARAMETERS(X) };
static const fpm_parameter moe[] = { MOE_PARAMETERS(X) };
static const fpm_parameter attention[] = { ATTENTION_PARAMETERS(X) };
static const fpm_parameter bmm[] = { BMM_PARAMETERS(X) };
static const fpm_parameter linear[] = { LINEAR_PARAMETERS(X) };
static const fpm_parameter collective[] = { COLLECTIVE_PARAMETERS(X) };
static const fpm_parameter memory[] = { MEMORY_PARAMETERS(X) };
#undef X

typedef struct parameter_table {
    const fpm_parameter *parameters;
    size_t n;
} parameter_table;
#define TABLE(array) \
    { array, sizeof array / sizeof *array }
static const parameter_table tables[FPM_FAMILIES] = {
    [FPM_FAMILY_GEMM] = TABLE(gemm),
    [FPM_FAMILY_MOE] = TABLE(moe),
    [FPM_FAMILY_ATTENTION_PREFILL] = TABLE(attention),
    [FPM_FAMILY_ATTENTION_DECODE] = TABLE(attention),
    [FPM_FAMILY_SPECIAL_PREFILL] = TABLE(attention),
    [FPM_FAMILY_SPECIAL_DECODE] = TABLE(attention),
    [FPM_FAMILY_LATENT_PREFILL] = TABLE(attention),
    [FPM_FAMILY_LATENT_DECODE] = TABLE(attention),
    [FPM_FAMILY_LATENT_BMM] = TABLE(bmm),
    [FPM_FAMILY_INDEXER_PREFILL] = TABLE(attention),
    [FPM_FAMILY_INDEXER_DECODE] = TABLE(attention),
    [FPM_FAMILY_LINEAR_PREFILL] = TABLE(linear),
    [FPM_FAMILY_LINEAR_DECODE] = TABLE(linear),
    [FPM_FAMILY_ALL_REDUCE] = TABLE(collective),
    [FPM_FAMILY_ALL_GATHER] = TABLE(collective),
    [FPM_FAMILY_REDUCE_SCATTER] = TABLE(collective),
    [FPM_FAMILY_ALL_TO_ALL] = TABLE(collective),
    [FPM_FAMILY_MEMORY] = TABLE(memory),
};
_Static_assert(sizeof gemm / sizeof *gemm <= FPM_CURVE_VALUES, "a curve has room for every parameter");
_Static_assert(sizeof attention / sizeof *attention <= FPM_CURVE_VALUES, "a curve has room for every parameter");
_Static_assert(sizeof collective / sizeof *collective <= FPM_CURVE_VALUES, "a curve has room for every parameter");

const fpm_parameter *fpm_family_parameters(fpm_family family, size_t *n_parameters) {
    *n_parameters = tables[family].n;
    return tables[family].parameters;
}

// ---------------------------------------------------------------------------------------------------------------------
// Number formats
// ---------------------------------------------------------------------------------------------------------------------

int fpm_format(fpm_precision precision, bool has_16bit_activations) {
    const bool is_16bit = precision == FPM_BF16;
    return (int)precision + (has_16bit_activations && !is_16bit ? FPM_PRECISIONS : 0);
}

const char *fpm_format_name(int format) {
    static const char *const names[FPM_FORMATS] = {
#define X(code, name, bytes) [code] = name, [FPM_PRECISIONS + code] = name "_a16",
        FPM_PRECISION_LIST(X)
#undef X
    };
    if (format < 0 || format >= FPM_FORMATS || format == FPM_PRECISIONS + FPM_BF16) return NULL;
    return names[format];
}

static bool is_formatless(fpm_family family) {
    switch (family) {
    case FPM_FAMILY_INDEXER_PREFILL:
    case FPM_FAMILY_INDEXER_DECODE:
    case FPM_FAMILY_LINEAR_PREFILL:
    case FPM_FAMILY_LINEAR_DECODE:
    case FPM_FAMILY_ALL_REDUCE:
    case FPM_FAMILY_ALL_GATHER:
    case FPM_FAMILY_REDUCE_SCATTER:
    case FPM_FAMILY_ALL_TO_ALL:
    case FPM_FAMILY_MEMORY:
        return true;
    case FPM_FAMILY_GEMM:
    case FPM_FAMILY_MOE:
    case FPM_FAMILY_ATTENTION_PREFILL:
    case FPM_FAMILY_ATTENTION_DECODE:
    case FPM_FAMILY_SPECIAL_PREFILL:
    case FPM_FAMILY_SPECIAL_DECODE:
    case FPM_FAMILY_LATENT_PREFILL:
    case FPM_FAMILY_LATENT_DECODE:
    case FPM_FAMILY_LATENT_BMM:
    case FPM_FAMILIES:
        break;
    }
    return false;
}

bool fpm_family_has_format(fpm_family family, int format) {
    if (fpm_format_name(format) == NULL) return false;
    if (format == FPM_BF16) return true;
    if (is_formatless(family)) return false;
    if (family == FPM_FAMILY_GEMM || family == FPM_FAMILY_MOE) return true;
    const bool has_scores = family == FPM_FAMILY_ATTENTION_PREFILL || family == FPM_FAMILY_SPECIAL_PREFILL;
    return format == FPM_FP8 || (format == FPM_PRECISIONS + FPM_FP8 && has_scores);
}

// ---------------------------------------------------------------------------------------------------------------------
// Defaults
// ---------------------------------------------------------------------------------------------------------------------

// What quantised kernels lose against bf16 ones, as medians over the measured systems: they pay for scales and reach less of a higher peak.
static void quantise(fpm_curve *curve, fpm_family family, int format) {
    if (format == FPM_BF16) return;
    double *values = curve->values;
    if (family == FPM_FAMILY_GEMM) {
        const bool is_fp4 = format == FPM_NVFP4 || format == FPM_MXFP4;
        values[GEMM_FLOOR] = is_fp4 ? 10 : 7;
        values[GEMM_COMPUTE] = is_fp4 ? 0.43 : 0.54;
        values[GEMM_MEMORY] = is_fp4 ? 0.57 : 0.65;
    }
    if (family == FPM_FAMILY_MOE) {
        const bool is_4bit = fpm_format_weight_bytes(format) < 1;
        values[MOE_FLOOR] = 35;
        values[MOE_COMPUTE] = 0.25;
        values[MOE_MEMORY] = is_4bit ? 0.35 : 0.5;
    }
}

fpm_curve fpm_curve_typical(fpm_family family, int format) {
    fpm_curve curve = { { 0 } };
    for (size_t i = 0; i < tables[family].n; i++) curve.values[i] = tables[family].parameters[i].typical;
    quantise(&curve, family, format);
    return curve;
}

void fpm_operators_init(fpm_operators *operators, const fpm_system *system) {
    memset(operators, 0, sizeof *operators);
    operators->system = system;
    operators->backend = FPM_VLLM;
    for (int family = 0; family < FPM_FAMILIES; family++)
        for (int format = 0; format < FPM_FORMATS; format++)
            operators->curves[family][format] = fpm_curve_typical((fpm_family)family, format);
}

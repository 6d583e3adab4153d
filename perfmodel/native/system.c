// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/native/native.h"

#include <float.h>
#include <string.h>

typedef struct figure_rule {
    const char *name;
    double value;
    bool is_needed; // above 0; else 0 or more
} figure_rule;

static fpm_status check_figures(const fpm_system *s, fpm_error *error) {
    const figure_rule rules[] = {
        { "memory_bytes", s->memory_bytes, true },
        { "memory_bytes_per_s", s->memory_bytes_per_s, true },
        { "bf16 flops_per_s", s->flops_per_s[FPM_ARITHMETIC_BF16], true }, // norms, routers and LM heads run in it
        { "fp8 flops_per_s", s->flops_per_s[FPM_ARITHMETIC_FP8], false },
        { "fp4 flops_per_s", s->flops_per_s[FPM_ARITHMETIC_FP4], false },
        { "int8 flops_per_s", s->flops_per_s[FPM_ARITHMETIC_INT8], false },
        { "intra_node_bytes_per_s", s->intra_node_bytes_per_s, true },
        { "inter_node_bytes_per_s", s->inter_node_bytes_per_s, true },
        { "gpus_per_node", (double)s->gpus_per_node, true },
        { "gpus_per_rack", (double)s->gpus_per_rack, false },
        { "reserved_bytes", s->reserved_bytes, false },
        { "power_w", s->power_w, false },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const figure_rule *r = &rules[i];
        const bool is_well = r->is_needed ? r->value > 0 && r->value <= DBL_MAX : r->value >= 0 && r->value <= DBL_MAX;
        if (!is_well)
            return fpm_error_set(error, FPM_INVALID_CONFIG, "system %s: %s = %g is out of range (%s)", s->name, r->name,
                                 r->value, r->is_needed ? "above 0" : "0 or more");
    }
    return FPM_OK;
}

fpm_status fpm_system_check(const fpm_system *s, fpm_error *error) {
    if (s->name[0] == '\0' || !memchr(s->name, '\0', sizeof s->name))
        return fpm_error_set(error, FPM_INVALID_CONFIG, "a system needs a name of 1 to %d bytes", FPM_NAME_BYTES - 1);
    if (s->generation >= FPM_GENERATIONS)
        return fpm_error_set(error, FPM_INVALID_CONFIG, "system %s: generation is none of the list", s->name);
    const fpm_status status = check_figures(s, error);
    if (status) return status;
    if (s->reserved_bytes >= s->memory_bytes)
        return fpm_error_set(error, FPM_INVALID_CONFIG,
                             "system %s: reserved_bytes = %g is not less than the memory, %g", s->name,
                             s->reserved_bytes, s->memory_bytes);
    if (s->gpus_per_rack != 0 && s->gpus_per_rack < s->gpus_per_node)
        return fpm_error_set(error, FPM_INVALID_CONFIG,
                             "system %s: gpus_per_rack = %lld is less than gpus_per_node = %lld", s->name,
                             (long long)s->gpus_per_rack, (long long)s->gpus_per_node);
    return FPM_OK;
}

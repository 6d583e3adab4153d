// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which file of curves prices which system.
#include "sim/deployment/operator_curves.h"

#include <criterion/criterion.h>
#include <string.h>

#include "perfmodel/native/operator_parts.h"

#define CONFIGS SOURCE_DIR "/configs"

static const fpm_system gpu = { .name = "gpu", .memory_bytes_per_s = 1e12, .flops_per_s = { 1e14 } };

static bool load(fpm_operators *operators, const char *name, const char *collectives) {
    bool is_measured;
    sim_error error = { 0 };
    cr_assert_eq(sim_system_curves_load(operators, &is_measured, CONFIGS, &gpu, name, collectives, FPM_VLLM, &error),
                 SIM_OK, "%s", error.message);
    cr_assert_eq(operators->system, &gpu);
    cr_assert_eq(operators->backend, FPM_VLLM);
    return is_measured;
}

Test(operator_files, collectives_may_come_from_another_file_than_the_other_kernels) {
    static fpm_operators own, other, mixed;
    cr_expect(load(&own, "a100_sxm", "a100_sxm"));
    cr_expect(load(&other, "l40s", "l40s"));
    cr_expect(load(&mixed, "a100_sxm", "l40s"));
    for (int family = 0; family < FPM_FAMILIES; family++) {
        const bool is_collective = family >= FPM_FAMILY_ALL_REDUCE && family <= FPM_FAMILY_ALL_TO_ALL;
        cr_expect_eq(
            memcmp(mixed.curves[family], (is_collective ? &other : &own)->curves[family], sizeof mixed.curves[family]),
            0, "%s", fpm_family_name((fpm_family)family));
    }
    cr_expect_neq(memcmp(own.curves[FPM_FAMILY_ALL_REDUCE], other.curves[FPM_FAMILY_ALL_REDUCE],
                         sizeof own.curves[FPM_FAMILY_ALL_REDUCE]),
                  0);
}

Test(operator_files, a_system_of_which_nothing_is_measured_has_the_typical_curves) {
    static fpm_operators unknown, typical;
    cr_expect_not(load(&unknown, "no_such_gpu", "no_such_gpu"));
    cr_expect(load(&typical, "typical", "typical"));
    cr_expect_eq(memcmp(unknown.curves, typical.curves, sizeof typical.curves), 0);
}

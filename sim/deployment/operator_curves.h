// SPDX-License-Identifier: GPL-3.0-or-later
//
// The curves of one system as a file (configs/operators/SYSTEM.ini): [FAMILY.FORMAT] for all backends, [FAMILY.FORMAT.BACKEND] where one differs; families
// that know no number format are [FAMILY] and [FAMILY.BACKEND]. Keys are the parameters of the family. What a file leaves out is typical
// (fpm_operators_init).
#ifndef SIM_DEPLOYMENT_OPERATOR_CURVES_H
#define SIM_DEPLOYMENT_OPERATOR_CURVES_H

#include <stdio.h>

#include "perfmodel/native/operators.h"
#include "sim/config/error.h"

// Index of the backend whose curves are those of all.
enum { SIM_ALL_BACKENDS = FPM_BACKENDS, SIM_CURVE_SETS };

typedef struct sim_operator_curves {
    fpm_operators operators[SIM_CURVE_SETS];
    bool is_given[SIM_CURVE_SETS][FPM_FAMILIES][FPM_FORMATS];
} sim_operator_curves;

// Typical curves for every backend. `system` is borrowed.
void sim_operator_curves_init(sim_operator_curves *curves, const fpm_system *system);

// The curves of `backend` from the file at `path`. SIM_IO, or SIM_USAGE with file and line for what is no curve.
sim_status sim_operator_curves_load(fpm_operators *operators, const fpm_system *system, fpm_backend backend,
                                    const char *path, sim_error *error);

// The curves of a system from the files of those names (data_files.h: `dir` may be ""): `operators`, else "typical" (*is_measured: false), else the defaults
// of fpm_operators_init; and for the collectives `collectives`, where that is another and exists. Errors as above.
sim_status sim_system_curves_load(fpm_operators *operators, bool *is_measured, const char *dir,
                                  const fpm_system *system, const char *name, const char *collectives,
                                  fpm_backend backend, sim_error *error);

// Everything that is given, as such a file. False: it could not be written.
bool sim_operator_curves_write(const sim_operator_curves *curves, FILE *out);

// Section of a curve: "gemm.fp8.vllm", "all_reduce".
enum { SIM_CURVE_NAME_BYTES = 48 };
void sim_operator_curve_name(char name[SIM_CURVE_NAME_BYTES], fpm_family family, int format, int backend);

#endif

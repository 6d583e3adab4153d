// SPDX-License-Identifier: GPL-3.0-or-later
//
// perfmodel.operator_tables: a directory of measured kernels, each file a CSV file (README.md has the columns). The files are gemm.csv, moe.csv and
// collective.csv; one is enough, and any other *.csv is refused, so that a misspelt name is no silence.
#ifndef SIM_DEPLOYMENT_TABLE_FILES_H
#define SIM_DEPLOYMENT_TABLE_FILES_H

#include "perfmodel/native/operator_tables.h"
#include "sim/config/error.h"
#include "sim/deployment/deployment.h"

// All files of `directory`, checked against the system of `operators` (and not yet part of it). The tables are the caller's. SIM_USAGE: no such directory, or
// none of the files in it; SIM_IO; SIM_BAD_DATA with file and line: no table, or a cell that cannot be.
sim_status sim_table_files_load(fpm_operator_tables **tables, const char *directory, const fpm_operators *operators,
                                sim_error *error);
// One file from memory (tests, fuzzing); `name` is gemm.csv, moe.csv or collective.csv.
sim_status sim_table_files_parse(fpm_operator_tables **tables, const char *text, size_t n_bytes, const char *name,
                                 const fpm_operators *operators, sim_error *error);

// A line for the user when a kind that has tables prices no operator of the deployment, with a shape that would; else "".
enum { SIM_TABLE_NOTE_BYTES = 320 };
void sim_table_files_note(char note[SIM_TABLE_NOTE_BYTES], const fpm_operator_tables *tables,
                          const fpm_deployment *deployment, const fpm_operators *operators);

#endif

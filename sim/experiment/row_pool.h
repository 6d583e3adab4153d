// SPDX-License-Identifier: GPL-3.0-or-later
//
// Independent rows on a few threads: each takes the next row that nobody has, so that long and short ones even out. What a row yields has its place by
// row, and a row knows nothing of others, so nothing depends on who ran what.
#ifndef SIM_EXPERIMENT_ROW_POOL_H
#define SIM_EXPERIMENT_ROW_POOL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/config/error.h"

typedef struct sim_row_pool_options {
    uint32_t n_threads;                   // >= 1
    FILE *progress;                       // where a progress line goes; NULL = none
    const volatile sig_atomic_t *stopped; // the signal that asks to stop; NULL = never
    const char *what;                     // is counted; NULL = rows
    // What stands behind the progress line, asked for when a row is done, by any thread; NULL = nothing.
    void (*describe)(void *self, char *text, size_t n);
} sim_row_pool_options;

// One row. A status other than SIM_OK ends all rows; what only concerns the row belongs into its result.
typedef sim_status sim_row_job(void *self, size_t row, sim_error *error);

// Runs rows 0 to n_rows - 1 and returns the first status that is not SIM_OK.
sim_status sim_row_pool_run(size_t n_rows, sim_row_job *job, void *self, const sim_row_pool_options *options,
                            sim_error *error);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// fpm.jsonl: one ForwardPassMetrics row per rank and pass, in order of pass end and worker. `wall_time` is the price of the pass as the model gave
// it, in seconds and before the clock rounded it to nanoseconds, so that `forepass estimate` gives it back to the last bit.
#ifndef SIM_REPORT_FPM_LOG_H
#define SIM_REPORT_FPM_LOG_H

#include "sim/cluster/observer.h"
#include "sim/report/output_dir.h"

typedef struct sim_fpm_log {
    sim_output_file *file;
} sim_fpm_log;

// SIM_IO on a short write; SIM_INTERNAL when a sum does not fit the 32 bits of the schema (never wrapped).
sim_status sim_fpm_log_write(sim_fpm_log *log, const sim_pass_record *pass, sim_error *error);

#endif

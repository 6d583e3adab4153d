// SPDX-License-Identifier: GPL-3.0-or-later
//
// An FPM log as a series of passes to learn from: what its readers (a truth that is matched, a sequence that is learned, `tune`) share. A pass is an iteration
// with work and a wall time, which is that of its slowest rank; iterations without either are counted and passed over, as the reference has it. Constant
// memory: the largest iteration.
#ifndef SIM_TUNING_PASS_LOG_H
#define SIM_TUNING_PASS_LOG_H

#include "perfmodel/perfmodel.h"
#include "sim/config/error.h"

typedef struct sim_logged_pass {
    const fpm_metrics *ranks; // valid; live until the next one is read
    size_t n_ranks;           // 0: the log is at its end
    fpm_pass load;            // not priced
    double wall_s;            // a picosecond to 292 years
    double observed_ms;       // the same
} sim_logged_pass;

typedef struct sim_pass_log {
    const char *path;
    fpm_log_reader *reader;                        // NULL: not open
    uint64_t n_iterations, n_idle, n_without_time; // read so far; without work, with work but no wall time
    uint64_t n_disagreeing;                        // passes whose ranks give different wall times
    const fpm_metrics *ranks;                      // of the iteration read last
    size_t n_ranks;
} sim_pass_log;

// `path` is borrowed; "-" is standard input. SIM_IO, SIM_NO_MEMORY.
sim_status sim_pass_log_open(sim_pass_log *log, const char *path, sim_error *error);
void sim_pass_log_close(sim_pass_log *log); // also of one that is zeroed

// The next pass. SIM_BAD_DATA with file and line: text that is no FPM log, ranks that contradict themselves, another version, a wall time that
// nothing can have taken. SIM_IO, SIM_NO_MEMORY.
sim_status sim_pass_log_next(sim_pass_log *log, sim_logged_pass *pass, sim_error *error);
// What the library has against the iteration read last, with file and line.
sim_status sim_pass_log_refuse(const sim_pass_log *log, const fpm_error *reason, sim_error *error);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// One line that tells how far a run is, redrawn at most ten times a second.
#ifndef SIM_REPORT_PROGRESS_H
#define SIM_REPORT_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

typedef struct sim_progress {
    FILE *out;
    uint64_t n_total;
    const char *what; // is counted
    double drawn_s;   // wall clock of the last drawing; 0 = never
    double started_s;
    char note[96]; // behind it all; "" = nothing
} sim_progress;

#define SIM_PROGRESS_NO_TIME (-1) // there is no one virtual time

void sim_progress_begin(sim_progress *progress, FILE *out, uint64_t n_total); // of requests
void sim_progress_begin_of(sim_progress *progress, FILE *out, uint64_t n_total, const char *what);
void sim_progress_update(sim_progress *progress, uint64_t n_done, int64_t virtual_ns);
// Clear the line.
void sim_progress_end(sim_progress *progress);

#endif

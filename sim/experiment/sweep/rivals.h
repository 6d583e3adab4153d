// SPDX-License-Identifier: GPL-3.0-or-later
//
// early_stop = dominated: the points of earlier rounds that are still the best at something, and whether a run can get anywhere beside them. A run is given up once,
// whatever becomes of its open requests (report/outlook.h), one of them is at least as good in every objective and better in one. With repeats a rival is as good as
// the worst of its runs.
#ifndef SIM_EXPERIMENT_SWEEP_RIVALS_H
#define SIM_EXPERIMENT_SWEEP_RIVALS_H

#include "sim/experiment/run.h"
#include "sim/experiment/sweep/results_db.h"

typedef struct sim_rival {
    char point[40];
    double values[SIM_OBJECTIVES];
} sim_rival;

typedef struct sim_rivals {
    sim_objectives objectives;
    sim_rival *list; // none beats another
    size_t n, capacity;
} sim_rivals;

// SIM_USAGE, at sweep.objective: nothing is known of one of them before a run ends.
sim_status sim_rivals_check(const sim_objectives *objectives, const sim_config *config, sim_error *error);

void sim_rivals_init(sim_rivals *rivals, const sim_objectives *objectives);
void sim_rivals_clear(sim_rivals *rivals);
// The points of the design from position `first` up to and without `end` whose `n_repeats` runs are all done.
sim_status sim_rivals_add_round(sim_rivals *rivals, sim_results *results, size_t first, size_t end, uint32_t n_repeats,
                                sim_error *error);

// As bytes, to another rank of the same program: goes with free(). NULL: no memory. Of no rivals too.
char *sim_rivals_pack(const sim_rivals *rivals, size_t *n_bytes);
// They lie in `bytes` from then on, and are not to be cleared.
void sim_rivals_unpack(sim_rivals *rivals, char *bytes);

// A run among rivals. `watch` is for sim_trial_run_watched, and lives as long as this.
typedef struct sim_rivals_watch {
    const sim_rivals *rivals;
    sim_run_watch watch;
    char reason[256]; // why it was given up
} sim_rivals_watch;
void sim_rivals_watch_init(sim_rivals_watch *watch, const sim_rivals *rivals);

#endif

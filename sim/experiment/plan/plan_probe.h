// SPDX-License-Identifier: GPL-3.0-or-later
//
// One run of a plan, digested to what verdicts and explanations need. Not a sim_trial, whose summary has lost the single requests: a plan asks of the same run how many
// requests were good under several sets of bounds, and which bound each of the others missed.
#ifndef SIM_EXPERIMENT_PLAN_PLAN_PROBE_H
#define SIM_EXPERIMENT_PLAN_PLAN_PROBE_H

#include <signal.h>

#include "sim/experiment/settings.h"
#include "sim/experiment/trial.h"
#include "sim/experiment/workload_store.h"

// The bounds of [sla].
typedef enum sim_plan_bound { SIM_PLAN_TTFT, SIM_PLAN_TPOT, SIM_PLAN_E2E, SIM_PLAN_BOUNDS } sim_plan_bound;
extern const char *const sim_plan_bound_names[SIM_PLAN_BOUNDS];             // "ttft", "tpot", "e2e"
int64_t sim_plan_bound_ns(const sim_sla_config *sla, sim_plan_bound bound); // 0 = not given
sim_sla_config sim_plan_bound_alone(const sim_sla_config *sla, sim_plan_bound bound);

// Under which bounds requests are counted: the latencies are as the model says, or longer or shorter by the error it is known to have.
typedef enum sim_plan_scenario {
    SIM_PLAN_AS_MODELLED,
    SIM_PLAN_SLOWER,
    SIM_PLAN_FASTER,
    SIM_PLAN_SCENARIOS
} sim_plan_scenario;

enum { SIM_PLAN_BATCHES = 16 };

// All counts are of measured requests, i.e. those that arrived after the warm-up.
typedef struct sim_plan_replicate {
    uint64_t n_arrived;
    uint64_t n_good[SIM_PLAN_SCENARIOS];
    uint64_t n_missed[SIM_PLAN_BOUNDS]; // completed, but not within this bound; a request may miss several
    uint64_t n_rejected, n_unfinished;
    double percentile_ms[SIM_PLAN_BOUNDS]; // at [sla] percentile, of completed requests
    // equal stretches of the requests in order of arrival
    uint64_t batch_arrived[SIM_PLAN_BATCHES], batch_good[SIM_PLAN_BATCHES];
    uint64_t digest; // of every request's fate
} sim_plan_replicate;

typedef struct sim_plan_prober {
    sim_workload_store *workloads;
    const volatile sig_atomic_t *stopped; // as in sim_run_options
    sim_sla_config slas[SIM_PLAN_SCENARIOS];
} sim_plan_prober;

// What is made of a finished run, on the thread that ran it.
typedef struct sim_plan_inspector {
    void (*inspect)(void *self, const sim_run_facts *facts, const sim_summary *summary);
    void *self;
} sim_plan_inspector;

typedef struct sim_plan_fate {
    sim_trial_outcome outcome;
    char reason[256]; // "" when done
} sim_plan_fate;

// Run `config`, whose percentiles are those of [sla]. SIM_OK whatever its outcome, as sim_trial_run; otherwise a status that ends the plan. For several threads.
sim_status sim_plan_probe(const sim_plan_prober *prober, const sim_config *config, const sim_plan_inspector *inspector,
                          sim_plan_fate *fate, sim_error *error);

// The same with the run digested.
sim_status sim_plan_probe_replicate(const sim_plan_prober *prober, const sim_config *config,
                                    sim_plan_replicate *replicate, sim_plan_fate *fate, sim_error *error);

#endif

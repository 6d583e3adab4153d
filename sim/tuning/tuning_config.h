// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sections [tuning] and [truth]: what learns, from which wall times, and which of the two times advances the clock.
#ifndef SIM_TUNING_TUNING_CONFIG_H
#define SIM_TUNING_TUNING_CONFIG_H

#include "sim/config/config.h"

typedef enum sim_tuning_mode { SIM_TUNING_OFF, SIM_TUNING_ONLINE } sim_tuning_mode;
typedef enum sim_tuning_scope { SIM_TUNING_POOL, SIM_TUNING_WORKER } sim_tuning_scope;
typedef enum sim_tuning_clock { SIM_CLOCK_MODEL, SIM_CLOCK_TRUTH } sim_tuning_clock;
extern const char *const sim_tuning_mode_names[], *const sim_tuning_scope_names[], *const sim_tuning_clock_names[];

// When learning ends: after so many learned passes (of one model), or at a virtual time. Both 0: never.
typedef struct sim_freeze {
    uint64_t passes;
    int64_t time_ns;
} sim_freeze;

typedef struct sim_tuning_config { // section [tuning]
    int mode;                      // sim_tuning_mode
    int scope;                     // sim_tuning_scope
    int clock;                     // sim_tuning_clock
    int64_t update_every;          // finished passes of a model that it learns at once; until then they wait
    sim_freeze freeze_after;
    double drift_threshold; // fraction; drift_guard.h
    int64_t drift_window;   // passes
} sim_tuning_config;

typedef enum sim_truth_source { SIM_TRUTH_NONE, SIM_TRUTH_SYNTHETIC, SIM_TRUTH_RECORDED } sim_truth_source;
typedef enum sim_truth_feed { SIM_FEED_MATCH, SIM_FEED_SEQUENCE } sim_truth_feed;
typedef enum sim_out_of_range { SIM_RANGE_NEAREST, SIM_RANGE_ESTIMATOR, SIM_RANGE_FAIL } sim_out_of_range;
extern const char *const sim_truth_source_names[];

// From a virtual time on, wall times are multiplied by a factor, which replaces the one before.
typedef struct sim_truth_step {
    int64_t time_ns;
    double factor;
} sim_truth_step;

enum { SIM_MAX_TRUTH_STEPS = 15 };
typedef struct sim_truth_steps {
    uint64_t n;
    sim_truth_step steps[SIM_MAX_TRUTH_STEPS]; // times ascend
} sim_truth_steps;

typedef struct sim_truth_config { // section [truth]
    int source;                   // sim_truth_source
    const char *path;             // recorded: FPM log
    int feed;                     // sim_truth_feed
    int out_of_range;             // sim_out_of_range
    double prefill_bias, decode_bias, mixed_bias;
    double noise_cv, outlier_probability, outlier_factor, drift_per_hour, worker_spread_cv;
    sim_truth_steps steps;
    int64_t quantum_ns; // wall times are whole multiples; 0: as they are
    int64_t seed;       // < 0: the root seed
} sim_truth_config;

extern const sim_key_table sim_tuning_keys;
extern const sim_key_table sim_truth_keys;

// Fill both and check the rules between them. SIM_USAGE: online tuning or a clock of the truth without one, a key of [truth] that its source does not read,
// source = recorded without a path, a sequence where a match is needed.
sim_status sim_tuning_read(const sim_config *config, sim_tuning_config *tuning, sim_truth_config *truth,
                           sim_error *error);

// Does a run have anything to do with a truth?
static inline bool sim_tuning_is_on(const sim_truth_config *truth) { return truth->source != SIM_TRUTH_NONE; }

#endif

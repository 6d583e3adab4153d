// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a [sweep] varies: dimensions of one key or several that move together, some of them only under a condition; keys that follow from others; constraints.
// A point is a place in the unit cube, one coordinate per dimension, or a row of a file; what it sets, and whether it may run, follows.
#ifndef SIM_EXPERIMENT_SWEEP_SPACE_H
#define SIM_EXPERIMENT_SWEEP_SPACE_H

#include "sim/experiment/fingerprint.h"
#include "sim/experiment/sweep/domain.h"
#include "sim/experiment/sweep/sweep_config.h"

typedef struct sim_space sim_space;

typedef struct sim_point {
    char **values;   // of each key of the space, as written; NULL: the key stays as the configuration has it
    char **absolute; // where that is another text: a relative path, from where it was written; else NULL
    char *reason;    // why it cannot run; NULL: it may
    sim_fingerprint hash;
    sim_fingerprint trace_hash; // of the trace's bytes; "" without one
} sim_point;

// Read the open part of [sweep] of `config`, which must outlive the space. SIM_USAGE, with file and line: an unknown or doubled key, a value that its key does not
// take, an expression that is none, nothing to vary. `tables` are those of the configuration.
sim_status sim_space_new(sim_space **space, const sim_config *config, const sim_sweep_config *sweep,
                         const sim_key_table *const *tables, size_t n_tables, sim_error *error);
void sim_space_free(sim_space *space);

size_t sim_space_n_keys(const sim_space *space);
const char *sim_space_key(const sim_space *space, size_t key);
size_t sim_space_n_dimensions(const sim_space *space);
const sim_domain *sim_space_domain(const sim_space *space, size_t dimension);
// Values of a dimension; 0: it is continuous.
size_t sim_space_n_values(const sim_space *space, size_t dimension);
// Where a continuous dimension is written, for messages; `name` is that of its first key.
sim_domain_place sim_space_place(const sim_space *space, size_t dimension);

// The point at `position` (one coordinate per dimension, each from 0 to below 1). SIM_USAGE: an expression fails, or a computed value is none of its key.
sim_status sim_space_point(sim_space *space, const double *position, sim_point *point, sim_error *error);
// A point of given values (of each key; NULL or "" = none), with the place they were written at.
sim_status sim_space_row(sim_space *space, const char *const *values, const char *file, int64_t line, sim_point *point,
                         sim_error *error);
void sim_point_clear(sim_point *point, size_t n_keys);

// Add a key that a row of a file may set. SIM_USAGE: no such key, or one that is there already.
sim_status sim_space_add_key(sim_space *space, const char *name, const char *file, int64_t line, sim_error *error);

// What a key is set to; NULL: nothing.
const char *sim_point_setting(const sim_point *point, size_t key);
// The configuration of a point, a copy of the space's.
sim_status sim_space_config(const sim_space *space, const sim_point *point, sim_config **config, sim_error *error);

#endif

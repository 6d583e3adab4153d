// SPDX-License-Identifier: GPL-3.0-or-later
//
// The values that one key may take, as places 0 to n - 1 in the order of ease: the higher the place, the more surely the SLA is met, if the world is monotone. A
// search then is the same for replicas (more is easier), for loads (less is easier), for whole numbers and for real ones, which stand on a grid as fine as
// the answer is wanted.
#ifndef SIM_EXPERIMENT_PLAN_PLAN_AXIS_H
#define SIM_EXPERIMENT_PLAN_PLAN_AXIS_H

#include "sim/config/config.h"

typedef struct sim_plan_axis {
    char key[SIM_SECTION_BYTES + 80]; // section.key
    bool is_integer;
    bool is_falling; // higher values are harder; init says false
    double low, high;
    double
        per_unit; // the key's value is an axis value divided by this: requests/s of a trace at speedup 1, else 1, as init says
    int64_t n; // places
} sim_plan_axis;

// `key` must hold a whole or a real number. Real values stand `resolution_frac` apart, relative to them (to the width of the range, where it reaches to 0 or
// below). SIM_USAGE, without a place: no such key, one of [plan], [sla], [report] or load.seed, another type, no value in the range.
sim_status sim_plan_axis_init(sim_plan_axis *axis, const sim_config *config, const char *key, double low, double high,
                              double resolution_frac, sim_error *error);

double sim_plan_axis_value(const sim_plan_axis *axis, int64_t place);
// "section.key=value"; false when it does not fit.
bool sim_plan_axis_assign(const sim_plan_axis *axis, int64_t place, char *text, size_t size);

// May a plan set this key, and has it such a key at all? SIM_USAGE without a place. `key` (may be NULL) is what is known of it.
sim_status sim_plan_check_key(const sim_config *config, const char *name, const sim_key **key, sim_error *error);
// Each word of `assignments`, section.key=value with blanks between them, into the configuration. SIM_USAGE without a place.
sim_status sim_plan_assign(sim_config *config, const char *assignments, sim_error *error);

#endif

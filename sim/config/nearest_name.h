// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: the search for the name a user meant, one candidate at a time, so that names in tables of any shape need
// no array of pointers.
#ifndef SIM_CONFIG_NEAREST_NAME_H
#define SIM_CONFIG_NEAREST_NAME_H

#include <stddef.h>

typedef struct sim_nearest {
    const char *name; // best so far; NULL: none is near enough to be a slip
    size_t distance;
} sim_nearest;

// Consider `candidate`; of two equally near ones the first stays.
void sim_nearest_consider(sim_nearest *nearest, const char *wanted, const char *candidate);

#endif

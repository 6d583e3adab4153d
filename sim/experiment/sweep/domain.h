// SPDX-License-Identifier: GPL-3.0-or-later
//
// The values that one swept key, or several keys together, may take:
//   1, 2, 4, 8                     a list; a value with commas of its own stands in double quotes
//   2:16:2                         start:stop:step, the stop included; any unit that the key takes (10ms:50ms:10ms)
//   log(1, 64, 7)                  7 values from 1 to 64 at equal ratios, of six significant digits, whole for a key that counts
//   2..16, log(1..64)              anything between, for the methods that draw; whole for a key that counts
//   1 & 8, 2 & 4                   for the keys of "parallel.tensor & cluster.replicas", which move together
// Lists and ranges may be mixed.
#ifndef SIM_EXPERIMENT_SWEEP_DOMAIN_H
#define SIM_EXPERIMENT_SWEEP_DOMAIN_H

#include "sim/config/config.h"

typedef struct sim_domain {
    size_t n_keys;
    char **values; // n_values x n_keys, row by row
    size_t n_values;
    bool is_continuous; // no values, but all from low to high
    bool is_log, is_whole;
    double low, high; // in nanoseconds where `unit` is "ns"
    const char *unit; // behind a number; "" or "ns"
} sim_domain;

#define SIM_DOMAIN_VALUES 1000000 // at most

// Where a domain stands, for messages.
typedef struct sim_domain_place {
    const char *name; // of the keys
    const char *file;
    int64_t line;
    bool is_whole; // the key counts
} sim_domain_place;

// SIM_USAGE at its place: an empty domain or value, a range that leads nowhere, numbers that are none, values of another number of keys.
sim_status sim_domain_parse(sim_domain *domain, const char *text, size_t n_keys, const sim_domain_place *place,
                            sim_error *error);
void sim_domain_clear(sim_domain *domain);

// The value of its key at `position`, 0 <= position < 1, along the domain; value i of n spans [i / n, (i + 1) / n).
#define SIM_DOMAIN_BYTES 200
void sim_domain_value(const sim_domain *domain, size_t key, double position, char text[SIM_DOMAIN_BYTES]);

// How many values positions can stand for: those of a list, or the whole numbers of an interval. 0: no such number, or more than SIM_DOMAIN_VALUES.
size_t sim_domain_n_different(const sim_domain *domain);
// The how-manieth of them a position stands for, from 0; and the position that stands for one, in the middle of its span where a list has it.
size_t sim_domain_index(const sim_domain *domain, double position);
double sim_domain_position(const sim_domain *domain, size_t index);

#endif

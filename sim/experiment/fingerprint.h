// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a configuration means, as a short text: two that mean the same have the same, however they are written, wherever they and their files lie.
// XXH3, 128 bits, over the canonical spelling of every key (sim_config_visit); a file that a key names counts by its content.
#ifndef SIM_EXPERIMENT_FINGERPRINT_H
#define SIM_EXPERIMENT_FINGERPRINT_H

#include "sim/config/config.h"

#define SIM_FINGERPRINT_BYTES 33 // hexadecimal, the terminator included
typedef struct sim_fingerprint {
    char text[SIM_FINGERPRINT_BYTES];
} sim_fingerprint;

// Contents of files seen so far, so that a trace is hashed once. Not for several threads at a time.
typedef struct sim_file_hashes sim_file_hashes;
sim_status sim_file_hashes_new(sim_file_hashes **hashes, sim_error *error);
void sim_file_hashes_free(sim_file_hashes *hashes);
// Of the bytes of the file; "" when it cannot be read.
sim_fingerprint sim_file_hash(sim_file_hashes *hashes, const char *path);

// Of the keys of `tables`, in their order, but for `except` ("section.key"; NULL = none).
sim_fingerprint sim_fingerprint_of(const sim_config *config, const sim_key_table *const *tables, size_t n_tables,
                                   const char *except, sim_file_hashes *hashes);

#endif

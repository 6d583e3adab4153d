// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: text to typed values and back.
#ifndef SIM_CONFIG_VALUES_H
#define SIM_CONFIG_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/config/keys.h"

// Parse `text` as a value of `key` into `field`, which has the type keys.h names (at most SIM_KEY_CUSTOM_BYTES). Texts and paths
// are stored as pointers to `text`. False: `problem` says what is wrong and what would be right, without naming the key.
bool sim_value_parse(const sim_key *key, const char *text, void *field, char *problem, size_t n_problem);

#endif

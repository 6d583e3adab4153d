// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: what a sim_config holds. One entry per key of the joined tables, in their order.
#ifndef SIM_CONFIG_STORE_H
#define SIM_CONFIG_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/config/config.h"

#define SIM_INCLUDE_DEPTH 16
#define SIM_MAX_FILES 256 // readings; files that include each other twice would double them at every level

typedef struct sim_config_entry {
    char *text;       // the value as written, paths absolute; NULL: the key stands at its default
    const char *file; // where it was given; one of sim_config.files
    int64_t line;     // 0: --set
    uint32_t file_id; // which reading of a file gave it, from 1; 0: --set
} sim_config_entry;

struct sim_config {
    const sim_key_table **tables;
    size_t n_tables;
    size_t *first_entries; // of each table
    sim_config_entry *entries;
    size_t n_entries;
    char **files; // names entries and messages point to
    size_t n_files;
    uint32_t n_file_ids;
};

const char *sim_entry_text(const sim_config_entry *entry, const sim_key *key);

// Find a key; true and its table and entry indices, or false.
typedef struct sim_key_place {
    const sim_key_table *table;
    const sim_key *key;
    sim_config_entry *entry;
} sim_key_place;
bool sim_config_find(const sim_config *config, const char *section, const char *key, sim_key_place *place);
bool sim_config_has_section(const sim_config *config, const char *section);

// "unknown key ..." or "unknown section ..." with the nearest known name, at a place.
sim_status sim_config_unknown(const sim_config *config, const char *section, const char *key, const char *file,
                              int64_t line, sim_error *error);

// Where a value comes from while it is stored.
typedef struct sim_value_source {
    const char *name;   // for messages
    const char *beside; // the file relative paths are relative to; NULL: the working directory
    int64_t line;
    uint32_t file_id;
} sim_value_source;

// Check `text` and put it into the entry. On an error the entry is as it was.
sim_status sim_config_store(const sim_key_place *place, const char *text, const sim_value_source *source,
                            sim_error *error);

#endif

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

// One value of an open section.
typedef struct sim_open_entry {
    const sim_key_table *table;
    char *name;
    sim_config_entry value;
} sim_open_entry;

struct sim_config {
    const sim_key_table **tables;
    size_t n_tables;
    size_t *first_entries; // of each table
    sim_config_entry *entries;
    size_t n_entries;
    sim_open_entry *open;
    size_t n_open;
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
// The same for section.key; the section is the longest known one in front.
bool sim_config_find_named(const sim_config *config, const char *name, sim_key_place *place);
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

// The open section a name belongs to: NULL when it has no dot or the section is not open.
const sim_key_table *sim_open_table(const sim_config *config, const char *section, const char *name);
// Put a value of an open section in its place; one that --set gave stays. A second one in one file is SIM_USAGE.
sim_status sim_open_store(sim_config *config, const sim_key_table *table, const char *name, const char *text,
                          const sim_value_source *source, sim_error *error);
bool sim_open_copy(sim_config *config, const sim_config *from); // false: no memory
void sim_open_free(sim_config *config);

// Check `text` and put it into the entry. On an error the entry is as it was.
sim_status sim_config_store(const sim_key_place *place, const char *text, const sim_value_source *source,
                            sim_error *error);

#endif

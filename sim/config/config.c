// SPDX-License-Identifier: GPL-3.0-or-later
//
// The store: joined tables, values and where they came from. Values are kept as text and parsed twice, once when they come (to
// refuse them at their place) and once when a room asks for its struct; a configuration is far too small for that to matter, and
// it can be printed again as it was written.
#include "sim/config/config.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/config/ini_reader.h"
#include "sim/config/nearest_name.h"
#include "sim/config/paths.h"
#include "sim/config/store.h"
#include "sim/config/values.h"

typedef union scratch {
    max_align_t alignment;
    unsigned char bytes[SIM_KEY_CUSTOM_BYTES];
} scratch;

// ---------------------------------------------------------------------------------------------------------------------
// Life
// ---------------------------------------------------------------------------------------------------------------------

// A table is code: what is wrong with one is found when the program starts, not when a user meets the key.
static sim_status check_key(const sim_key_table *table, const sim_key *key, sim_error *error) {
    scratch value;
    char problem[256] = "";
    const bool can_have_word = key->type != SIM_KEY_BOOL && key->type != SIM_KEY_TEXT && key->type != SIM_KEY_PATH &&
                               key->type != SIM_KEY_NAMED && key->type != SIM_KEY_CUSTOM;
    if (key->word && !can_have_word) {
        return sim_error_set(error, SIM_INTERNAL, NULL, 0, "%s.%s: this type has no word", table->section, key->name);
    }
    if (!sim_value_parse(key, key->default_text, &value, problem, sizeof problem)) {
        return sim_error_set(error, SIM_INTERNAL, NULL, 0, "%s.%s: its default: %s", table->section, key->name,
                             problem);
    }
    return SIM_OK;
}

static sim_status check_tables(const sim_config *config, sim_error *error) {
    for (size_t t = 0; t < config->n_tables; t++) {
        const sim_key_table *table = config->tables[t];
        if (strlen(table->section) > SIM_SECTION_BYTES) {
            return sim_error_set(error, SIM_INTERNAL, NULL, 0, "[%s]: the name is too long", table->section);
        }
        for (size_t k = 0; k < table->n_keys; k++) {
            const sim_status status = check_key(table, &table->keys[k], error);
            if (status != SIM_OK) return status;
            sim_key_place place;
            if (strcmp(table->keys[k].name, SIM_KEY_OTHERS) == 0) continue;
            if (!sim_config_find(config, table->section, table->keys[k].name, &place) ||
                place.entry != &config->entries[config->first_entries[t] + k]) {
                return sim_error_set(error, SIM_INTERNAL, NULL, 0, "%s.%s: declared twice", table->section,
                                     table->keys[k].name);
            }
        }
    }
    return SIM_OK;
}

// All keys at their defaults, the tables not looked at. NULL: no memory.
static sim_config *new_unchecked(const sim_key_table *const *tables, size_t n_tables) {
    sim_config *config = calloc(1, sizeof *config);
    if (!config) return NULL;
    for (size_t t = 0; t < n_tables; t++) config->n_entries += tables[t]->n_keys;
    config->n_tables = n_tables;
    config->tables = calloc(n_tables + 1, sizeof *config->tables);
    config->first_entries = calloc(n_tables + 1, sizeof *config->first_entries);
    config->entries = calloc(config->n_entries + 1, sizeof *config->entries);
    if (!config->tables || !config->first_entries || !config->entries) {
        sim_config_free(config);
        return NULL;
    }
    for (size_t t = 0, at = 0; t < n_tables; t++) {
        config->tables[t] = tables[t];
        config->first_entries[t] = at;
        at += tables[t]->n_keys;
    }
    return config;
}

sim_status sim_config_new(sim_config **out, const sim_key_table *const *tables, size_t n_tables, sim_error *error) {
    *out = NULL;
    sim_config *config = new_unchecked(tables, n_tables);
    if (!config) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const sim_status status = check_tables(config, error);
    if (status != SIM_OK) {
        sim_config_free(config);
        return status;
    }
    *out = config;
    return SIM_OK;
}

sim_status sim_config_copy(sim_config **out, const sim_config *from, sim_error *error) {
    *out = NULL;
    sim_config *config = new_unchecked(from->tables, from->n_tables);
    bool is_whole = config;
    for (size_t i = 0; is_whole && i < from->n_entries; i++) {
        config->entries[i] = from->entries[i];
        if (!from->entries[i].text) continue;
        config->entries[i].text = strdup(from->entries[i].text);
        is_whole = config->entries[i].text;
    }
    is_whole = is_whole && sim_open_copy(config, from);
    if (!is_whole) {
        sim_config_free(config);
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    config->n_file_ids = from->n_file_ids;
    *out = config;
    return SIM_OK;
}

void sim_config_free(sim_config *config) {
    if (!config) return;
    for (size_t i = 0; config->entries && i < config->n_entries; i++) free(config->entries[i].text);
    for (size_t i = 0; i < config->n_files; i++) free(config->files[i]);
    free(config->entries);
    sim_open_free(config);
    free(config->files);
    free(config->first_entries);
    free(config->tables);
    free(config);
}

// ---------------------------------------------------------------------------------------------------------------------
// Names
// ---------------------------------------------------------------------------------------------------------------------

const char *sim_entry_text(const sim_config_entry *entry, const sim_key *key) {
    return entry->text ? entry->text : key->default_text;
}

bool sim_config_find(const sim_config *config, const char *section, const char *key, sim_key_place *place) {
    if (strcmp(key, SIM_KEY_OTHERS) == 0) return false;
    for (size_t t = 0; t < config->n_tables; t++) {
        const sim_key_table *table = config->tables[t];
        if (strcmp(table->section, section) != 0) continue;
        for (size_t k = 0; k < table->n_keys; k++) {
            if (strcmp(table->keys[k].name, key) != 0) continue;
            *place = (sim_key_place){ table, &table->keys[k], &config->entries[config->first_entries[t] + k] };
            return true;
        }
    }
    return false;
}

bool sim_config_has_section(const sim_config *config, const char *section) {
    for (size_t t = 0; t < config->n_tables; t++) {
        if (strcmp(config->tables[t]->section, section) == 0) return true;
    }
    return false;
}

static sim_status unknown_section(const sim_config *config, const char *section, const char *file, int64_t line,
                                  sim_error *error) {
    sim_nearest nearest = { 0 };
    for (size_t t = 0; t < config->n_tables; t++) sim_nearest_consider(&nearest, section, config->tables[t]->section);
    if (nearest.name) {
        return sim_error_set(error, SIM_USAGE, file, line, "unknown section [%s] (did you mean [%s]?)", section,
                             nearest.name);
    }
    char known[256] = "";
    size_t at = 0;
    for (size_t t = 0; t < config->n_tables && at < sizeof known; t++) {
        const int n = snprintf(known + at, sizeof known - at, "%s%s", t ? ", " : "", config->tables[t]->section);
        at += n > 0 ? (size_t)n : 0;
    }
    return sim_error_set(error, SIM_USAGE, file, line, "unknown section [%s] (sections: %s)", section, known);
}

sim_status sim_config_unknown(const sim_config *config, const char *section, const char *key, const char *file,
                              int64_t line, sim_error *error) {
    if (!sim_config_has_section(config, section)) return unknown_section(config, section, file, line, error);
    sim_nearest nearest = { 0 };
    const char *elsewhere = NULL;
    for (size_t t = 0; t < config->n_tables; t++) {
        const sim_key_table *table = config->tables[t];
        const bool is_here = strcmp(table->section, section) == 0;
        for (size_t k = 0; k < table->n_keys; k++) {
            if (is_here) sim_nearest_consider(&nearest, key, table->keys[k].name);
            if (!elsewhere && strcmp(table->keys[k].name, key) == 0) elsewhere = table->section;
        }
    }
    if (elsewhere) {
        return sim_error_set(error, SIM_USAGE, file, line, "unknown key %s in [%s] (it is a key of [%s])", key, section,
                             elsewhere);
    }
    if (nearest.name) {
        return sim_error_set(error, SIM_USAGE, file, line, "unknown key %s in [%s] (did you mean %s?)", key, section,
                             nearest.name);
    }
    return sim_error_set(error, SIM_USAGE, file, line, "unknown key %s in [%s] (see forepass list keys)", key, section);
}

// ---------------------------------------------------------------------------------------------------------------------
// Values
// ---------------------------------------------------------------------------------------------------------------------

sim_status sim_config_store(const sim_key_place *place, const char *text, const sim_value_source *source,
                            sim_error *error) {
    const char *section = place->table->section, *name = place->key->name;
    const bool is_path =
        place->key->type == SIM_KEY_PATH || (place->key->type == SIM_KEY_NAMED && sim_path_shows(text));
    char *stored = is_path ? sim_path_absolute(source->beside, text) : strdup(text);
    if (!stored) {
        return sim_error_set(error, SIM_IO, source->name, source->line, "%s.%s: the path cannot be made absolute: %s",
                             section, name, strerror(errno));
    }
    scratch value;
    char problem[400];
    const char *refusal = sim_ini_refusal(name, stored);
    if (!refusal && !sim_value_parse(place->key, stored, &value, problem, sizeof problem)) refusal = problem;
    if (refusal) {
        free(stored);
        return sim_error_set(error, SIM_USAGE, source->name, source->line, "%s.%s: %s", section, name, refusal);
    }
    free(place->entry->text);
    *place->entry = (sim_config_entry){ stored, source->name, source->line, source->file_id };
    return SIM_OK;
}

void sim_config_fill(const sim_config *config, const sim_key_table *table, void *out) {
    for (size_t t = 0; t < config->n_tables; t++) {
        if (config->tables[t] != table) continue;
        for (size_t k = 0; k < table->n_keys; k++) {
            const sim_key *key = &table->keys[k];
            const char *text = sim_entry_text(&config->entries[config->first_entries[t] + k], key);
            char problem[8];
            const bool is_well = sim_value_parse(key, text, (char *)out + key->offset, problem, sizeof problem);
            assert(is_well && "values are checked when they come");
            (void)is_well;
        }
        return;
    }
    assert(false && "the table is none of this configuration");
}

bool sim_config_is_given(const sim_config *config, const char *section, const char *key) {
    sim_key_place place;
    const bool is_known = sim_config_find(config, section, key, &place);
    assert(is_known);
    return is_known && place.entry->text;
}

sim_status sim_config_contradiction(const sim_config *config, sim_error *error, const char *section, const char *key,
                                    const char *format, ...) {
    sim_key_place place;
    const bool is_given = sim_config_find(config, section, key, &place) && place.entry->text;
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return sim_error_set(error, SIM_USAGE, is_given ? place.entry->file : NULL, is_given ? place.entry->line : 0, "%s",
                         message);
}

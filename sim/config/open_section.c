// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sections that take names beyond their keys: what a sweep varies is named by the keys of other sections.
#include <stdlib.h>
#include <string.h>

#include "sim/config/ini_reader.h"
#include "sim/config/store.h"

const sim_key_table *sim_open_table(const sim_config *config, const char *section, const char *name) {
    if (!strchr(name, '.')) return NULL;
    for (size_t t = 0; t < config->n_tables; t++) {
        const sim_key_table *table = config->tables[t];
        if (strcmp(table->section, section) != 0) continue;
        for (size_t k = 0; k < table->n_keys; k++)
            if (strcmp(table->keys[k].name, SIM_KEY_OTHERS) == 0) return table;
    }
    return NULL;
}

static sim_open_entry *find(sim_config *config, const sim_key_table *table, const char *name) {
    for (size_t i = 0; i < config->n_open; i++)
        if (config->open[i].table == table && strcmp(config->open[i].name, name) == 0) return &config->open[i];
    return NULL;
}

// NULL: no memory.
static sim_open_entry *add(sim_config *config, const sim_key_table *table, const char *name) {
    char *kept = strdup(name);
    sim_open_entry *more = kept ? realloc(config->open, (config->n_open + 1) * sizeof *more) : NULL;
    if (!more) {
        free(kept);
        return NULL;
    }
    config->open = more;
    more[config->n_open] = (sim_open_entry){ .table = table, .name = kept };
    return &more[config->n_open++];
}

sim_status sim_open_store(sim_config *config, const sim_key_table *table, const char *name, const char *text,
                          const sim_value_source *source, sim_error *error) {
    const char *refusal = sim_ini_refusal(name, text);
    if (refusal)
        return sim_error_set(error, SIM_USAGE, source->name, source->line, "%s.%s: %s", table->section, name, refusal);
    sim_open_entry *entry = find(config, table, name);
    if (entry && source->file_id && entry->value.file_id == source->file_id)
        return sim_error_set(error, SIM_USAGE, source->name, source->line,
                             "duplicate key %s.%s, given in line %lld already (keep one of them)", table->section, name,
                             (long long)entry->value.line);
    const bool is_hidden = entry && entry->value.file_id == 0 && source->file_id != 0;
    if (is_hidden) return SIM_OK;
    char *kept = strdup(text);
    if (kept && !entry) entry = add(config, table, name);
    if (!kept || !entry) {
        free(kept);
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    free(entry->value.text);
    entry->value = (sim_config_entry){ kept, source->name, source->line, source->file_id };
    return SIM_OK;
}

bool sim_open_copy(sim_config *config, const sim_config *from) {
    for (size_t i = 0; i < from->n_open; i++) {
        sim_open_entry *made = add(config, from->open[i].table, from->open[i].name);
        if (!made) return false;
        made->value = from->open[i].value;
        made->value.text = strdup(from->open[i].value.text);
        if (!made->value.text) return false;
    }
    return true;
}

void sim_open_free(sim_config *config) {
    for (size_t i = 0; i < config->n_open; i++) {
        free(config->open[i].name);
        free(config->open[i].value.text);
    }
    free(config->open);
}

size_t sim_config_n_open(const sim_config *config, const char *section) {
    size_t n = 0;
    for (size_t i = 0; i < config->n_open; i++) n += strcmp(config->open[i].table->section, section) == 0;
    return n;
}

sim_open_value sim_config_open(const sim_config *config, const char *section, size_t index) {
    for (size_t i = 0; i < config->n_open; i++) {
        const sim_open_entry *entry = &config->open[i];
        if (strcmp(entry->table->section, section) != 0 || index-- > 0) continue;
        return (sim_open_value){ section, entry->name, entry->value.text, entry->value.file, entry->value.line };
    }
    return (sim_open_value){ section, "", "", NULL, 0 };
}

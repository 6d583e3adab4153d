// SPDX-License-Identifier: GPL-3.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/config/config.h"
#include "sim/config/store.h"
#include "sim/config/values.h"

typedef union parsed {
    max_align_t alignment;
    bool is_on;
    int64_t count;
    double real;
    int choice;
    unsigned char bytes[SIM_KEY_CUSTOM_BYTES];
} parsed;

// Blanks at ends dropped, runs of them one.
static void squeeze(const char *text, char *out, size_t n) {
    size_t at = 0;
    for (; *text && at + 1 < n; text++) {
        const bool is_blank = *text == ' ' || *text == '\t';
        if (!is_blank) {
            out[at++] = *text;
        } else if (at > 0 && out[at - 1] != ' ') {
            out[at++] = ' ';
        }
    }
    if (at > 0 && out[at - 1] == ' ') at--;
    out[at] = '\0';
}

static void spell(const sim_key *key, const char *text, char *out, size_t n) {
    parsed value;
    char problem[8];
    const bool is_word = key->word && strcmp(text, key->word) == 0;
    if (is_word || !sim_value_parse(key, text, &value, problem, sizeof problem)) {
        snprintf(out, n, "%s", text);
        return;
    }
    switch (key->type) {
    case SIM_KEY_BOOL:
        snprintf(out, n, "%s", value.is_on ? "true" : "false");
        return;
    case SIM_KEY_INT:
        snprintf(out, n, "%" PRId64, value.count);
        return;
    case SIM_KEY_DURATION:
        snprintf(out, n, "%" PRId64 "ns", value.count);
        return;
    case SIM_KEY_REAL:
    case SIM_KEY_MS:
        snprintf(out, n, "%.17g", value.real);
        return;
    case SIM_KEY_CHOICE:
        snprintf(out, n, "%s", key->choices[value.choice]);
        return;
    case SIM_KEY_CUSTOM:
        squeeze(text, out, n);
        return;
    case SIM_KEY_TEXT:
    case SIM_KEY_PATH:
    case SIM_KEY_NAMED:
        snprintf(out, n, "%s", text);
        return;
    }
}

void sim_config_visit(const sim_config *config, const sim_key_table *table, sim_config_visitor *visit, void *self) {
    for (size_t t = 0; t < config->n_tables; t++) {
        if (config->tables[t] != table) continue;
        for (size_t k = 0; k < table->n_keys; k++) {
            char text[SIM_CANONICAL_BYTES];
            const sim_key *key = &table->keys[k];
            spell(key, sim_entry_text(&config->entries[config->first_entries[t] + k], key), text, sizeof text);
            visit(self, table->section, key, text);
        }
    }
}

const sim_key *sim_config_spell(const sim_config *config, const char *name, char spelled[SIM_CANONICAL_BYTES]) {
    sim_key_place place;
    if (!sim_config_find_named(config, name, &place)) return NULL;
    spell(place.key, sim_entry_text(place.entry, place.key), spelled, SIM_CANONICAL_BYTES);
    return place.key;
}

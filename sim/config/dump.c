// SPDX-License-Identifier: GPL-3.0-or-later
//
// The configuration and the key tables as text.
#include <stdlib.h>
#include <string.h>

#include "sim/config/ini_reader.h"
#include "sim/config/store.h"

enum { COMMENT_COLUMN = 44, MAX_COLUMNS = 130, MAX_COMMENT_BYTES = 512 };

// What stands behind a value: its help, and its unit or what else it could be. Bounds are left to `list keys`.
static void describe(const sim_key *key, char *text, size_t n) {
    char more[200] = "";
    if (key->type == SIM_KEY_CHOICE) sim_key_range(key, more, sizeof more);
    if (!*more && key->unit) snprintf(more, sizeof more, "%s", key->unit);
    snprintf(text, n, "%s%s%s%s", key->help, *more ? " (" : "", more, *more ? ")" : "");
}

static bool write_key(const sim_key *key, const char *value, size_t name_width, FILE *out) {
    char comment[MAX_COMMENT_BYTES];
    size_t n = name_width + strlen(*value ? " = " : " =") + strlen(value);
    if (n > SIM_INI_LINE_BYTES) return fprintf(out, "%s = %s\n", key->name, value) >= 0; // a long path, without comment
    const size_t n_pad = n < COMMENT_COLUMN ? COMMENT_COLUMN - n : 1;
    const size_t n_room = n + n_pad + strlen("; ");
    describe(key, comment, sizeof comment);
    if (n_room + strlen(comment) > MAX_COLUMNS) snprintf(comment, sizeof comment, "%s", key->help);
    if (fprintf(out, "%-*s =%s%s", (int)name_width, key->name, *value ? " " : "", value) < 0) return false;
    const bool has_comment = *comment && n_room + strlen(comment) <= SIM_INI_LINE_BYTES;
    if (has_comment && fprintf(out, "%*s; %s", (int)n_pad, "", comment) < 0) return false;
    return fputc('\n', out) != EOF;
}

static bool write_others(const sim_config *config, const sim_key_table *table, FILE *out) {
    for (size_t i = 0; i < config->n_open; i++) {
        const sim_open_entry *entry = &config->open[i];
        if (entry->table == table && fprintf(out, "%s = %s\n", entry->name, entry->value.text) < 0) return false;
    }
    return true;
}

static bool write_entry(const sim_config *config, size_t t, size_t k, size_t name_width, FILE *out) {
    const sim_key *key = &config->tables[t]->keys[k];
    if (strcmp(key->name, SIM_KEY_OTHERS) == 0) return write_others(config, config->tables[t], out);
    return write_key(key, sim_entry_text(&config->entries[config->first_entries[t] + k], key), name_width, out);
}

bool sim_config_write(const sim_config *config, FILE *out) {
    for (size_t t = 0; t < config->n_tables; t++) {
        const sim_key_table *table = config->tables[t];
        // Tables of one section stand behind each other.
        const bool is_continued = t > 0 && strcmp(table->section, config->tables[t - 1]->section) == 0;
        if (is_continued ? fprintf(out, "; %s\n", table->help) < 0
                         : fprintf(out, "%s; %s\n[%s]\n", t ? "\n" : "", table->help, table->section) < 0)
            return false;
        size_t name_width = 0;
        for (size_t k = 0; k < table->n_keys; k++) {
            if (strlen(table->keys[k].name) > name_width) name_width = strlen(table->keys[k].name);
        }
        for (size_t k = 0; k < table->n_keys; k++)
            if (!write_entry(config, t, k, name_width, out)) return false;
    }
    return !ferror(out);
}

// ---------------------------------------------------------------------------------------------------------------------
// list keys
// ---------------------------------------------------------------------------------------------------------------------

enum { N_COLUMNS = 5, MAX_CELL_BYTES = 160 };

typedef struct row {
    char cells[N_COLUMNS][MAX_CELL_BYTES]; // name, type, default, unit, range
} row;

static void fill_row(const sim_key_table *table, const sim_key *key, row *out) {
    snprintf(out->cells[0], MAX_CELL_BYTES, "%s.%s", table->section, key->name);
    snprintf(out->cells[1], MAX_CELL_BYTES, "%s", sim_key_type_name(key->type));
    snprintf(out->cells[2], MAX_CELL_BYTES, "%s", *key->default_text ? key->default_text : "-");
    snprintf(out->cells[3], MAX_CELL_BYTES, "%s", key->unit && *key->unit ? key->unit : "-");
    sim_key_range(key, out->cells[4], MAX_CELL_BYTES);
    if (!*out->cells[4]) snprintf(out->cells[4], MAX_CELL_BYTES, "-");
}

static bool write_row(const row *cells, const int widths[N_COLUMNS], const char *help, FILE *out) {
    for (size_t c = 0; c < N_COLUMNS; c++) {
        if (fprintf(out, "%-*s  ", widths[c], cells->cells[c]) < 0) return false;
    }
    return fprintf(out, "%s\n", help) >= 0;
}

bool sim_config_write_keys(const sim_key_table *const *tables, size_t n_tables, FILE *out) {
    static const row head = { { "KEY", "TYPE", "DEFAULT", "UNIT", "VALUES" } };
    enum { MAX_WIDTH = 32 }; // a long list of choices does not push every help text to the right
    int widths[N_COLUMNS] = { 3, 4, 7, 4, 6 };
    for (size_t t = 0; t < n_tables; t++) {
        for (size_t k = 0; k < tables[t]->n_keys; k++) {
            row cells;
            fill_row(tables[t], &tables[t]->keys[k], &cells);
            for (size_t c = 0; c < N_COLUMNS; c++) {
                const int n = (int)strlen(cells.cells[c]);
                if (n > widths[c] && n <= MAX_WIDTH) widths[c] = n;
            }
        }
    }
    if (!write_row(&head, widths, "MEANING", out)) return false;
    for (size_t t = 0; t < n_tables; t++) {
        for (size_t k = 0; k < tables[t]->n_keys; k++) {
            row cells;
            fill_row(tables[t], &tables[t]->keys[k], &cells);
            if (!write_row(&cells, widths, tables[t]->keys[k].help, out)) return false;
        }
    }
    return !ferror(out);
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Names stand one behind the other, each with its NUL; an open-addressing index of session numbers points into them.
#include "sim/workload/session_table.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "sim/workload/growable.h"

struct sim_session_table {
    char *names;
    size_t n_name_bytes, name_capacity;
    size_t *starts; // of each session's name
    size_t n, start_capacity;
    uint32_t *index; // session + 1, 0 = free; a power of two, at most half full
    size_t index_size;
};

sim_session_table *sim_session_table_new(void) { return calloc(1, sizeof(sim_session_table)); }

void sim_session_table_free(sim_session_table *table) {
    if (!table) return;
    free(table->names);
    free(table->starts);
    free(table->index);
    free(table);
}

size_t sim_session_table_count(const sim_session_table *table) { return table->n; }

const char *sim_session_table_name(const sim_session_table *table, uint32_t session) {
    return table->names + table->starts[session];
}

// The place of a name in the index: its session, or the free slot where it belongs.
static size_t find_slot(const sim_session_table *table, const char *name, size_t n_bytes) {
    size_t mask = table->index_size - 1;
    for (size_t slot = XXH3_64bits(name, n_bytes) & mask;; slot = (slot + 1) & mask) {
        if (table->index[slot] == 0) return slot;
        const char *known = sim_session_table_name(table, table->index[slot] - 1);
        if (strncmp(known, name, n_bytes) == 0 && known[n_bytes] == '\0') return slot;
    }
}

static bool widen_index(sim_session_table *table) {
    if (table->index && table->n < table->index_size / 2) return true;
    size_t size = table->index ? table->index_size * 2 : 64;
    uint32_t *index = calloc(size, sizeof *index);
    if (!index) return false;
    free(table->index);
    table->index = index;
    table->index_size = size;
    for (uint32_t session = 0; session < table->n; session++) {
        const char *name = sim_session_table_name(table, session);
        index[find_slot(table, name, strlen(name))] = session + 1;
    }
    return true;
}

bool sim_session_table_look_up(const sim_session_table *table, const char *name, size_t n_bytes, uint32_t *session) {
    if (!table->index) return false;
    size_t slot = find_slot(table, name, n_bytes);
    if (table->index[slot] == 0) return false;
    *session = table->index[slot] - 1;
    return true;
}

bool sim_session_table_find(sim_session_table *table, const char *name, size_t n_bytes, uint32_t *session) {
    if (!widen_index(table)) return false;
    size_t slot = find_slot(table, name, n_bytes);
    if (table->index[slot] == 0) {
        char *names = sim_grown(table->names, &table->name_capacity, table->n_name_bytes + n_bytes + 1, 1);
        if (!names) return false;
        table->names = names;
        size_t *starts = sim_grown(table->starts, &table->start_capacity, table->n + 1, sizeof *starts);
        if (!starts || table->n >= UINT32_MAX - 1) return false;
        table->starts = starts;
        memcpy(names + table->n_name_bytes, name, n_bytes);
        names[table->n_name_bytes + n_bytes] = '\0';
        starts[table->n] = table->n_name_bytes;
        table->n_name_bytes += n_bytes + 1;
        table->index[slot] = (uint32_t)++table->n;
    }
    *session = table->index[slot] - 1;
    return true;
}

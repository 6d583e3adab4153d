// SPDX-License-Identifier: GPL-3.0-or-later
//
// Names of sessions, numbered in order of first appearance.
#ifndef SIM_WORKLOAD_SESSION_TABLE_H
#define SIM_WORKLOAD_SESSION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_session_table sim_session_table;

sim_session_table *sim_session_table_new(void); // NULL: no memory
void sim_session_table_free(sim_session_table *table);
// Number of the session of this name, new or known. False: no memory. O(n_bytes).
bool sim_session_table_find(sim_session_table *table, const char *name, size_t n_bytes, uint32_t *session);
// The same for a known one only; false: unknown.
bool sim_session_table_look_up(const sim_session_table *table, const char *name, size_t n_bytes, uint32_t *session);
size_t sim_session_table_count(const sim_session_table *table);
const char *sim_session_table_name(const sim_session_table *table, uint32_t session);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/workload_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/fingerprint.h"

typedef struct held {
    sim_fingerprint key;
    uint64_t seed; // 0 for a trace, which no seed changes
    sim_workload *workload;
    size_t n_users;
    uint64_t used_at; // by number of calls, to let the longest unused one go
} held;

struct sim_workload_store {
    pthread_mutex_t lock; // also while one loads: the others would want the same
    sim_file_hashes *hashes;
    held *held;
    size_t n_held;
    size_t n_idle_kept;
    uint64_t n_calls;
};

sim_status sim_workload_store_new(sim_workload_store **store, size_t n_idle, sim_error *error) {
    sim_workload_store *made = calloc(1, sizeof *made);
    if (!made) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const sim_status status = sim_file_hashes_new(&made->hashes, error);
    if (status) {
        free(made);
        return status;
    }
    pthread_mutex_init(&made->lock, NULL);
    made->n_idle_kept = n_idle;
    *store = made;
    return SIM_OK;
}

void sim_workload_store_free(sim_workload_store *store) {
    if (!store) return;
    for (size_t i = 0; i < store->n_held; i++) sim_workload_free(store->held[i].workload);
    free(store->held);
    sim_file_hashes_free(store->hashes);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

// --- under the lock --------------------------------------------------------------------------------------------------

static void drop(sim_workload_store *store, size_t at) {
    sim_workload_free(store->held[at].workload);
    store->held[at] = store->held[--store->n_held];
}

// Let the longest unused ones go until few enough are left.
static void drop_idle(sim_workload_store *store) {
    for (;;) {
        size_t n_idle = 0, oldest = 0;
        for (size_t i = 0; i < store->n_held; i++) {
            if (store->held[i].n_users > 0) continue;
            if (n_idle++ == 0 || store->held[i].used_at < store->held[oldest].used_at) oldest = i;
        }
        if (n_idle <= store->n_idle_kept) return;
        drop(store, oldest);
    }
}

static held *find(sim_workload_store *store, const sim_fingerprint *key, uint64_t seed) {
    for (size_t i = 0; i < store->n_held; i++)
        if (store->held[i].seed == seed && strcmp(store->held[i].key.text, key->text) == 0) return &store->held[i];
    return NULL;
}

static sim_status load(sim_workload_store *store, const sim_config *config, const sim_workload_config *settings,
                       uint64_t root_seed, held *entry, sim_error *error) {
    held *more = realloc(store->held, (store->n_held + 1) * sizeof *more);
    if (!more) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    store->held = more;
    const sim_status status = sim_workload_new(&entry->workload, config, settings, root_seed, error);
    if (!status) store->held[store->n_held++] = *entry;
    return status;
}

static sim_status take(sim_workload_store *store, const sim_config *config, const sim_workload_config *settings,
                       uint64_t root_seed, const sim_workload **workload, sim_error *error) {
    static const sim_key_table *const tables[] = { &sim_workload_keys, &sim_csv_keys };
    const sim_fingerprint key = sim_fingerprint_of(config, tables, 2, NULL, store->hashes);
    const uint64_t seed = settings->source == SIM_SOURCE_TRACE ? 0 : root_seed;
    held *found = find(store, &key, seed);
    if (!found) {
        held made = { .key = key, .seed = seed };
        const sim_status status = load(store, config, settings, root_seed, &made, error);
        if (status) return status;
        found = &store->held[store->n_held - 1];
    }
    found->n_users++;
    *workload = found->workload;
    return SIM_OK;
}

// --- for all threads -------------------------------------------------------------------------------------------------

sim_status sim_workload_store_take(sim_workload_store *store, const sim_config *config,
                                   const sim_workload_config *settings, uint64_t root_seed,
                                   const sim_workload **workload, sim_error *error) {
    pthread_mutex_lock(&store->lock);
    const sim_status status = take(store, config, settings, root_seed, workload, error);
    pthread_mutex_unlock(&store->lock);
    return status;
}

void sim_workload_store_give_back(sim_workload_store *store, const sim_workload *workload) {
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->n_held; i++) {
        if (store->held[i].workload != workload) continue;
        store->held[i].n_users--;
        store->held[i].used_at = ++store->n_calls;
        break;
    }
    drop_idle(store);
    pthread_mutex_unlock(&store->lock);
}

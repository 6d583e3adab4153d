// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/row_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/report/progress.h"

typedef struct pool {
    size_t n_rows;
    sim_row_job *job;
    void *self;
    const sim_row_pool_options *options;
    atomic_size_t next_row;
    atomic_bool is_over;
    pthread_mutex_t lock; // of what follows
    size_t n_done;
    sim_progress progress;
    sim_status status; // of what ends all rows, the first one
    sim_error *error;
} pool;

static void end_all(pool *all, sim_status status, const sim_error *error) {
    pthread_mutex_lock(&all->lock);
    if (!all->status) {
        all->status = status;
        if (all->error) *all->error = *error;
    }
    pthread_mutex_unlock(&all->lock);
    atomic_store(&all->is_over, true);
}

static void count_done(pool *all) {
    pthread_mutex_lock(&all->lock);
    all->n_done++;
    if (all->options->progress && all->options->describe)
        all->options->describe(all->self, all->progress.note, sizeof all->progress.note);
    if (all->options->progress) sim_progress_update(&all->progress, all->n_done, SIM_PROGRESS_NO_TIME);
    pthread_mutex_unlock(&all->lock);
}

static void *run_rows(void *context) {
    pool *all = context;
    while (!atomic_load(&all->is_over)) {
        const size_t row = atomic_fetch_add(&all->next_row, 1);
        if (row >= all->n_rows) break;
        sim_error error = { .code = SIM_OK };
        const sim_status status = all->job(all->self, row, &error);
        if (status)
            end_all(all, status, &error);
        else
            count_done(all);
    }
    return NULL;
}

// The caller's thread is one of them. One that cannot be made is one fewer.
static void run_threads(pool *all, pthread_t *threads, uint32_t n_more) {
    uint32_t n_made = 0;
    while (n_made < n_more && pthread_create(&threads[n_made], NULL, run_rows, all) == 0) n_made++;
    run_rows(all);
    for (uint32_t i = 0; i < n_made; i++) pthread_join(threads[i], NULL);
}

sim_status sim_row_pool_run(size_t n_rows, sim_row_job *job, void *self, const sim_row_pool_options *options,
                            sim_error *error) {
    pool all = { .n_rows = n_rows, .job = job, .self = self, .options = options, .error = error };
    const uint32_t n_more = options->n_threads - 1;
    pthread_t *threads = calloc((size_t)n_more + 1, sizeof *threads);
    if (!threads) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    pthread_mutex_init(&all.lock, NULL);
    if (options->progress)
        sim_progress_begin_of(&all.progress, options->progress, n_rows, options->what ? options->what : "rows");
    run_threads(&all, threads, n_more);
    if (options->progress) sim_progress_end(&all.progress);
    pthread_mutex_destroy(&all.lock);
    free(threads);
    return all.status;
}

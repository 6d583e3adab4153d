// SPDX-License-Identifier: GPL-3.0-or-later
//
// Messages are bytes: a job is its repeat, the values of the keys, ended by NUL each, and the rivals, if there are any; a result is a header and the summary.
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/experiment/sweep/ranks.h"
#include "sim/report/progress.h"

enum { TAG_JOB = 1, TAG_RESULT, TAG_HOME };

typedef struct result_header {
    int status;       // sim_status: what ended the rank's work; SIM_OK: a result
    char name[16];    // of the outcome
    char reason[512]; // of the outcome, or the error's message
    char file[512];   // of the error
    long long line;
    double cpu_s;
    uint64_t seed;
    bool has_summary; // which follows, ended by NUL
} result_header;

// --- life ------------------------------------------------------------------------------------------------------------

// Set by mpirun, by srun with PMI or PMIx. A program started by hand does without MPI.
static bool was_launched(void) {
    static const char *const marks[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (getenv(marks[i])) return true;
    return false;
}

sim_status sim_ranks_join(sim_ranks *ranks, sim_error *error) {
    *ranks = (sim_ranks){ 0, 1 };
    int provided;
    if (!was_launched()) return SIM_OK;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED)
        return sim_error_set(error, SIM_INTERNAL, NULL, 0, "MPI does not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->n);
    return SIM_OK;
}

void sim_ranks_leave(const sim_ranks *ranks) {
    int is_up = 0;
    MPI_Initialized(&is_up);
    if (!is_up) return;
    for (int rank = 1; ranks->rank == 0 && rank < ranks->n; rank++)
        MPI_Send(NULL, 0, MPI_CHAR, rank, TAG_HOME, MPI_COMM_WORLD);
    MPI_Finalize();
}

// --- messages --------------------------------------------------------------------------------------------------------

// Waits without burning the core that a run could use, which MPI_Recv alone would.
static void pause_briefly(void) { nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL); }

// The next message from `source`, or NULL when none is there and `waits` is false; goes with free().
static char *receive(int source, bool waits, MPI_Status *status) {
    int is_there = 0, n = 0;
    for (;;) {
        MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, status);
        if (is_there || !waits) break;
        pause_briefly();
    }
    if (!is_there) return NULL;
    MPI_Get_count(status, MPI_CHAR, &n);
    char *bytes = calloc((size_t)n + 1, 1);
    if (!bytes) MPI_Abort(MPI_COMM_WORLD, 1); // the other side waits for ever otherwise
    MPI_Recv(bytes, n, MPI_CHAR, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, status);
    return bytes;
}

static void send_job(int rank, const sim_space *space, const sim_job *job, const sim_rivals *rivals) {
    const size_t n_keys = sim_space_n_keys(space);
    size_t n_rivals = 0, n = sizeof job->repeat;
    char *packed = rivals ? sim_rivals_pack(rivals, &n_rivals) : NULL;
    if (rivals && !packed) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t k = 0; k < n_keys; k++) {
        const char *setting = sim_point_setting(job->point, k);
        n += 2 + (setting ? strlen(setting) : 0);
    }
    char *bytes = malloc(n + n_rivals);
    if (!bytes) MPI_Abort(MPI_COMM_WORLD, 1);
    memcpy(bytes, &job->repeat, sizeof job->repeat);
    size_t at = sizeof job->repeat;
    for (size_t k = 0; k < n_keys; k++) {
        const char *value = sim_point_setting(job->point, k);
        bytes[at++] = value ? '=' : '-'; // not given
        strcpy(bytes + at, value ? value : "");
        at += strlen(bytes + at) + 1;
    }
    if (packed) memcpy(bytes + at, packed, n_rivals);
    MPI_Send(bytes, (int)(at + n_rivals), MPI_CHAR, rank, TAG_JOB, MPI_COMM_WORLD);
    free(packed);
    free(bytes);
}

static void send_result(const result_header *header, const char *summary) {
    const size_t n_summary = summary ? strlen(summary) + 1 : 0;
    char *bytes = malloc(sizeof *header + n_summary);
    if (!bytes) MPI_Abort(MPI_COMM_WORLD, 1);
    memcpy(bytes, header, sizeof *header);
    if (summary) memcpy(bytes + sizeof *header, summary, n_summary);
    MPI_Send(bytes, (int)(sizeof *header + n_summary), MPI_CHAR, 0, TAG_RESULT, MPI_COMM_WORLD);
    free(bytes);
}

// --- ranks above 0 ---------------------------------------------------------------------------------------------------

static void send_failure(sim_status status, const sim_error *why) {
    result_header header = { .status = (int)status, .line = why->line };
    snprintf(header.reason, sizeof header.reason, "%s", why->message);
    snprintf(header.file, sizeof header.file, "%s", why->file);
    send_result(&header, NULL);
}

static void serve_job(const sim_space *space, sim_trials *trials, char *bytes, size_t n_bytes) {
    const size_t n_keys = sim_space_n_keys(space);
    char **values = calloc(n_keys + 1, sizeof *values);
    if (!values) MPI_Abort(MPI_COMM_WORLD, 1);
    const sim_point point = { .values = values };
    sim_job job = { .point = &point };
    memcpy(&job.repeat, bytes, sizeof job.repeat);
    char *at = bytes + sizeof job.repeat;
    for (size_t k = 0; k < n_keys; k++) {
        values[k] = *at == '=' ? at + 1 : NULL;
        at += strlen(at) + 1;
    }
    sim_job_outcome outcome;
    sim_error error = { .code = SIM_OK };
    sim_rivals rivals;
    const bool has_rivals = at < bytes + n_bytes;
    if (has_rivals) sim_rivals_unpack(&rivals, at);
    const sim_status status = sim_job_run(space, trials, &job, has_rivals ? &rivals : NULL, &outcome, &error);
    free(values);
    if (status) {
        send_failure(status, &error);
        return;
    }
    result_header header = { .cpu_s = outcome.cpu_s, .seed = outcome.seed, .has_summary = outcome.summary };
    snprintf(header.name, sizeof header.name, "%s", outcome.status);
    snprintf(header.reason, sizeof header.reason, "%s", outcome.reason);
    send_result(&header, outcome.summary);
    free(outcome.summary);
}

void sim_ranks_serve(const sim_space *space, sim_trials *trials, sim_status prepared, const sim_error *why) {
    for (bool is_home = false; !is_home;) {
        MPI_Status status;
        int n_bytes;
        char *bytes = receive(0, true, &status);
        MPI_Get_count(&status, MPI_CHAR, &n_bytes);
        is_home = status.MPI_TAG == TAG_HOME;
        if (!is_home && prepared)
            send_failure(prepared, why);
        else if (!is_home)
            serve_job(space, trials, bytes, (size_t)n_bytes);
        free(bytes);
    }
}

// --- rank 0 ----------------------------------------------------------------------------------------------------------

typedef struct giving {
    const sim_space *space;
    sim_trials *trials;
    const sim_job *jobs;
    size_t n_jobs;
    const sim_jobs_options *options;
    sim_job_done *done;
    void *self;
    size_t *job_of; // of each rank; SIZE_MAX = idle
    int n_ranks;
    atomic_size_t next_job;
    atomic_bool is_over;  // nothing more is given out
    pthread_mutex_t lock; // of what follows, and of `done`
    size_t n_done;
    sim_progress progress;
    sim_status status;
    sim_error *error;
} giving;

static bool take_next(giving *all, size_t *job) {
    const volatile sig_atomic_t *stopped = all->options->stopped;
    if ((stopped && *stopped) || atomic_load(&all->is_over)) return false;
    *job = atomic_fetch_add(&all->next_job, 1);
    return *job < all->n_jobs;
}

static void end_all(giving *all, sim_status status, const sim_error *error) {
    if (!all->status) {
        all->status = status;
        if (all->error) *all->error = *error;
    }
    atomic_store(&all->is_over, true);
}

static void take_outcome(giving *all, size_t job, sim_status status, const sim_job_outcome *outcome, sim_error *error) {
    pthread_mutex_lock(&all->lock);
    if (!status) status = all->done(all->self, job, outcome, error);
    if (status) end_all(all, status, error);
    all->n_done++;
    if (all->options->progress && all->options->describe)
        all->options->describe(all->self, all->progress.note, sizeof all->progress.note);
    if (all->options->progress) sim_progress_update(&all->progress, all->n_done, SIM_PROGRESS_NO_TIME);
    pthread_mutex_unlock(&all->lock);
}

// Rank 0's share of the work, beside its messages.
static void *run_own(void *context) {
    giving *all = context;
    size_t job;
    while (take_next(all, &job)) {
        sim_job_outcome outcome;
        sim_error error = { .code = SIM_OK };
        const sim_status status =
            sim_job_run(all->space, all->trials, &all->jobs[job], all->options->rivals, &outcome, &error);
        take_outcome(all, job, status, &outcome, &error);
        if (!status) free(outcome.summary);
    }
    return NULL;
}

static void take_result(giving *all, int rank, char *bytes) {
    result_header header;
    memcpy(&header, bytes, sizeof header);
    sim_job_outcome outcome = { .status = header.name,
                                .summary = header.has_summary ? bytes + sizeof header : NULL,
                                .cpu_s = header.cpu_s,
                                .seed = header.seed };
    sim_error error = { .code = (sim_status)header.status, .line = header.line };
    snprintf(outcome.reason, sizeof outcome.reason, "%s", header.reason);
    snprintf(error.message, sizeof error.message, "%s", header.reason);
    snprintf(error.file, sizeof error.file, "%s", header.file);
    take_outcome(all, all->job_of[rank], (sim_status)header.status, &outcome, &error);
    all->job_of[rank] = SIZE_MAX;
}

// Gives every idle rank a job; false when all are idle, which they then stay.
static bool give_jobs(giving *all) {
    bool has_busy = false;
    for (int rank = 1; rank < all->n_ranks; rank++) {
        size_t job;
        if (all->job_of[rank] == SIZE_MAX && take_next(all, &job)) {
            all->job_of[rank] = job;
            send_job(rank, all->space, &all->jobs[job], all->options->rivals);
        }
        has_busy |= all->job_of[rank] != SIZE_MAX;
    }
    return has_busy;
}

static void exchange(giving *all) {
    while (give_jobs(all)) {
        MPI_Status status;
        char *bytes = receive(MPI_ANY_SOURCE, false, &status);
        if (bytes)
            take_result(all, status.MPI_SOURCE, bytes);
        else
            pause_briefly();
        free(bytes);
    }
}

static void share_out(giving *all) {
    pthread_t threads[64];
    uint32_t n_made = 0;
    while (n_made < all->options->n_threads && n_made < 64 && pthread_create(&threads[n_made], NULL, run_own, all) == 0)
        n_made++;
    exchange(all);
    for (uint32_t i = 0; i < n_made; i++) pthread_join(threads[i], NULL);
}

sim_status sim_ranks_run(const sim_ranks *ranks, const sim_space *space, sim_trials *trials, const sim_job *jobs,
                         size_t n_jobs, const sim_jobs_options *options, sim_job_done *done, void *self,
                         sim_error *error) {
    giving all = { .space = space,
                   .trials = trials,
                   .jobs = jobs,
                   .n_jobs = n_jobs,
                   .options = options,
                   .done = done,
                   .self = self,
                   .job_of = malloc((size_t)ranks->n * sizeof *all.job_of),
                   .n_ranks = ranks->n,
                   .error = error };
    if (!all.job_of) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (int rank = 0; rank < ranks->n; rank++) all.job_of[rank] = SIZE_MAX;
    pthread_mutex_init(&all.lock, NULL);
    if (options->progress) sim_progress_begin_of(&all.progress, options->progress, n_jobs, "runs");
    share_out(&all);
    if (options->progress) sim_progress_end(&all.progress);
    pthread_mutex_destroy(&all.lock);
    free(all.job_of);
    return all.status ? all.status : sim_signal_status(options->stopped);
}

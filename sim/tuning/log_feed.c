// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/log_feed.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/kernel/clock.h"
#include "sim/tuning/pass_log.h"

// --- one pass -------------------------------------------------------------------------------------------------------

typedef struct reading {
    const sim_log_feed *feed;
    sim_pass_log log;
    sim_log_counts *counts; // NULL: the first reading of two, which only counts
    uint64_t n_passes;      // so far
    uint64_t most_taught;   // passes before the held-out ones
    int64_t now_ns;         // wall time of the passes so far
} reading;

// Estimate by base and model, then let it learn.
static fpm_status teach(const sim_log_learner *learner, const fpm_pass *load, sim_observation *observation,
                        bool is_held_out, fpm_error *error) {
    bool has_estimate;
    double ms = 0;
    const fpm_status status = fpm_model_foresee(learner->model, load, &ms, &has_estimate, error);
    if (status) return status;
    observation->tuned_ms = has_estimate ? ms : SIM_NO_ESTIMATE;
    sim_measures_add(is_held_out ? learner->held_out : learner->learned, observation);
    return is_held_out ? FPM_OK : fpm_model_learn(learner->model, load, &observation->observed_ms, 1, error);
}

static fpm_status teach_all(reading *in, sim_logged_pass *pass, fpm_error *error) {
    const sim_log_feed *feed = in->feed;
    const bool is_held_out = in->n_passes >= in->most_taught;
    sim_observation observation = { .kind = pass->load.kind,
                                    .observed_ms = pass->observed_ms,
                                    .base_ms = SIM_NO_ESTIMATE,
                                    .noiseless_ms = SIM_NO_ESTIMATE };
    fpm_status status = FPM_OK;
    int64_t ns;
    if (!sim_ns_from_ms(pass->observed_ms, &ns) || !sim_ns_add(in->now_ns, ns, &in->now_ns))
        return fpm_error_set(error, FPM_OUT_OF_RANGE,
                             "all wall times together are more than 292 years (seconds are meant)");
    if (feed->base) {
        status = fpm_estimate_valid_ms(feed->base, pass->ranks, pass->n_ranks, &observation.base_ms, error);
        pass->load.base_ms = observation.base_ms;
    }
    observation.time_ns = in->now_ns;
    for (size_t i = 0; i < feed->n_learners && !status; i++)
        status = teach(&feed->learners[i], &pass->load, &observation, is_held_out, error);
    in->counts->n_learned += !is_held_out;
    in->counts->n_held_out += is_held_out;
    return status;
}

// --- the log ----------------------------------------------------------------------------------------------------------

static sim_status read_passes(reading *in, sim_error *error) {
    sim_logged_pass pass;
    for (;; in->n_passes++) {
        fpm_error reason = { .code = FPM_OK };
        const sim_status status = sim_pass_log_next(&in->log, &pass, error);
        if (status || pass.n_ranks == 0) return status;
        if (in->counts && teach_all(in, &pass, &reason)) return sim_pass_log_refuse(&in->log, &reason, error);
    }
}

static sim_status read_log(reading *in, sim_error *error) {
    sim_status status = sim_pass_log_open(&in->log, in->feed->path, error);
    if (status) return status;
    status = read_passes(in, error);
    sim_pass_log_close(&in->log);
    return status;
}

// Only a regular file gives the same bytes again. One that is not there is left to the reader, which says why.
static bool can_be_read_twice(const char *path) {
    struct stat about;
    return strcmp(path, "-") != 0 && (stat(path, &about) != 0 || S_ISREG(about.st_mode));
}

static sim_status find_held_out(const sim_log_feed *feed, uint64_t *most_taught, sim_error *error) {
    if (!can_be_read_twice(feed->path))
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "--holdout reads the log twice, which only a file can be (name one instead of %s)",
                             feed->path);
    reading in = { .feed = feed };
    const sim_status status = read_log(&in, error);
    const uint64_t n_held_out = (uint64_t)ceil(feed->held_out_share * (double)in.n_passes);
    *most_taught = n_held_out < in.n_passes ? in.n_passes - n_held_out : 0;
    return status;
}

sim_status sim_log_feed_run(const sim_log_feed *feed, sim_log_counts *counts, sim_error *error) {
    *counts = (sim_log_counts){ .n_iterations = 0 };
    reading in = { .feed = feed, .counts = counts, .most_taught = UINT64_MAX };
    sim_status status = SIM_OK;
    if (feed->held_out_share > 0) status = find_held_out(feed, &in.most_taught, error);
    if (!status) status = read_log(&in, error);
    counts->n_iterations = in.log.n_iterations;
    counts->n_idle = in.log.n_idle;
    counts->n_without_time = in.log.n_without_time;
    counts->n_disagreeing = in.log.n_disagreeing;
    if (status || in.n_passes > 0) return status;
    return sim_error_set(error, SIM_BAD_DATA, strcmp(feed->path, "-") == 0 ? "<stdin>" : feed->path, 0,
                         "no pass to learn from (%llu iterations, %llu of them without work, %llu without a wall_time "
                         "above 0)",
                         (unsigned long long)counts->n_iterations, (unsigned long long)counts->n_idle,
                         (unsigned long long)counts->n_without_time);
}

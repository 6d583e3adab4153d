// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/log_feed.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/kernel/clock.h"

// Line of the first rank that is not valid, else of the first one.
static int64_t bad_line(const fpm_log_reader *reader, const fpm_metrics *ranks, size_t n_ranks) {
    for (size_t i = 0; i < n_ranks; i++)
        if (fpm_metrics_validate(&ranks[i], 1, NULL)) return fpm_log_reader_line(reader, i);
    return fpm_log_reader_line(reader, 0);
}

static sim_status from_fpm(const fpm_error *source, const char *path, int64_t line, sim_error *error) {
    const sim_status code = source->code == FPM_NO_MEMORY ? SIM_NO_MEMORY
                            : source->code == FPM_IO      ? SIM_IO
                                                          : SIM_BAD_DATA;
    const char *file = source->file[0] ? source->file : strcmp(path, "-") == 0 ? "<stdin>" : path;
    // The classes of the reference are what its users search for.
    const bool has_class = source->code == FPM_UNSUPPORTED_SCHEMA_VERSION || source->code == FPM_INVALID_METRICS;
    sim_error_set(error, code, file, source->line ? source->line : line, "%s%s%s",
                  has_class ? fpm_status_name(source->code) : "", has_class ? ": " : "", source->message);
    error->column = source->column;
    return code;
}

// --- one iteration ----------------------------------------------------------------------------------------------------

typedef struct reading {
    const sim_log_feed *feed;
    fpm_log_reader *reader;
    sim_log_counts *counts;
    uint64_t n_passes;    // so far
    uint64_t most_taught; // passes before the held-out ones
    bool is_counting;     // the first reading of two
    int64_t now_ns;       // wall time of the passes so far
} reading;

static bool do_ranks_disagree(const fpm_metrics *ranks, size_t n_ranks) {
    double seen = 0;
    for (size_t i = 0; i < n_ranks; i++) {
        const double s = ranks[i].wall_time_s;
        if (!(s > 0)) continue;
        if (seen > 0 && s != seen) return true;
        seen = s;
    }
    return false;
}

// Estimate by base and model, then let it learn.
static fpm_status teach(const reading *in, const sim_log_learner *learner, const fpm_iteration *pass, double base_ms,
                        sim_observation *observation, bool is_held_out, fpm_error *error) {
    bool has_estimate;
    double ms = 0;
    const fpm_status status =
        fpm_model_estimate_ms(learner->model, pass->ranks, pass->n_ranks, &ms, &has_estimate, error);
    if (status) return status;
    observation->time_ns = in->now_ns;
    observation->base_ms = base_ms;
    observation->tuned_ms = has_estimate ? ms : SIM_NO_ESTIMATE;
    sim_measures_add(is_held_out ? learner->held_out : learner->learned, observation);
    return is_held_out ? FPM_OK : fpm_model_tune(learner->model, pass, 1, error);
}

static fpm_status teach_all(reading *in, const fpm_iteration *pass, fpm_kind kind, double observed_ms,
                            fpm_error *error) {
    const sim_log_feed *feed = in->feed;
    const bool is_held_out = in->n_passes >= in->most_taught;
    sim_observation observation = { .kind = kind, .observed_ms = observed_ms, .noiseless_ms = SIM_NO_ESTIMATE };
    double base_ms = SIM_NO_ESTIMATE;
    fpm_status status = FPM_OK;
    int64_t ns;
    if (!sim_ns_from_ms(observed_ms, &ns) || !sim_ns_add(in->now_ns, ns, &in->now_ns))
        return fpm_error_set(error, FPM_OUT_OF_RANGE,
                             "wall_time is %g s, more than can be measured (seconds are meant)", observed_ms / 1000);
    if (feed->base) status = fpm_estimate_valid_ms(feed->base, pass->ranks, pass->n_ranks, &base_ms, error);
    for (size_t i = 0; i < feed->n_learners && !status; i++)
        status = teach(in, &feed->learners[i], pass, base_ms, &observation, is_held_out, error);
    in->counts->n_learned += !is_held_out;
    in->counts->n_held_out += is_held_out;
    return status;
}

static fpm_status take(reading *in, const fpm_iteration *pass, fpm_error *error) {
    const fpm_status status = fpm_metrics_validate(pass->ranks, pass->n_ranks, error);
    if (status) return status;
    const fpm_kind kind = fpm_iteration_kind(pass->ranks, pass->n_ranks);
    const double observed_ms = fpm_iteration_observed_ms(pass->ranks, pass->n_ranks);
    const bool is_pass = kind != FPM_EMPTY && observed_ms > 0;
    if (!in->is_counting) {
        in->counts->n_iterations++;
        in->counts->n_idle += kind == FPM_EMPTY;
        in->counts->n_without_time += kind != FPM_EMPTY && !is_pass;
        in->counts->n_disagreeing += is_pass && pass->n_ranks > 1 && do_ranks_disagree(pass->ranks, pass->n_ranks);
    }
    const fpm_status outcome = is_pass && !in->is_counting ? teach_all(in, pass, kind, observed_ms, error) : FPM_OK;
    in->n_passes += is_pass;
    return outcome;
}

// --- the log ----------------------------------------------------------------------------------------------------------

static sim_status read_all(reading *in, sim_error *error) {
    const char *path = in->feed->path;
    for (;;) {
        fpm_iteration pass;
        int64_t line;
        fpm_error source = { .code = FPM_OK };
        if (fpm_log_reader_next(in->reader, &pass.ranks, &pass.n_ranks, &line, &source))
            return from_fpm(&source, path, 0, error);
        if (pass.n_ranks == 0) return SIM_OK;
        if (take(in, &pass, &source))
            return from_fpm(&source, path, bad_line(in->reader, pass.ranks, pass.n_ranks), error);
    }
}

static sim_status read_log(reading *in, sim_error *error) {
    fpm_error source = { .code = FPM_OK };
    if (fpm_log_reader_open(&in->reader, in->feed->path, &source)) return from_fpm(&source, in->feed->path, 0, error);
    const sim_status status = read_all(in, error);
    fpm_log_reader_free(in->reader);
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
    reading in = { .feed = feed, .is_counting = true };
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
    if (status || in.n_passes > 0) return status;
    return sim_error_set(error, SIM_BAD_DATA, strcmp(feed->path, "-") == 0 ? "<stdin>" : feed->path, 0,
                         "no pass to learn from (%llu iterations, %llu of them without work, %llu without a wall_time "
                         "above 0)",
                         (unsigned long long)counts->n_iterations, (unsigned long long)counts->n_idle,
                         (unsigned long long)counts->n_without_time);
}

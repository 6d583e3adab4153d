// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/pass_log.h"

#include <string.h>

#include "sim/kernel/clock.h"

static sim_status refuse(const sim_pass_log *log, const fpm_error *reason, int64_t line, sim_error *error) {
    const sim_status code = reason->code == FPM_NO_MEMORY ? SIM_NO_MEMORY
                            : reason->code == FPM_IO      ? SIM_IO
                                                          : SIM_BAD_DATA;
    const char *file = reason->file[0] ? reason->file : strcmp(log->path, "-") == 0 ? "<stdin>" : log->path;
    // The classes of the reference are what its users search for.
    const bool has_class = reason->code == FPM_UNSUPPORTED_SCHEMA_VERSION || reason->code == FPM_INVALID_METRICS;
    sim_error_set(error, code, file, reason->line ? reason->line : line, "%s%s%s",
                  has_class ? fpm_status_name(reason->code) : "", has_class ? ": " : "", reason->message);
    if (error) error->column = reason->column;
    return code;
}

// Line of the first rank that is not valid, else of the first one.
sim_status sim_pass_log_refuse(const sim_pass_log *log, const fpm_error *reason, sim_error *error) {
    size_t bad = 0;
    while (bad < log->n_ranks && !fpm_metrics_validate(&log->ranks[bad], 1, NULL)) bad++;
    return refuse(log, reason, fpm_log_reader_line(log->reader, bad < log->n_ranks ? bad : 0), error);
}

sim_status sim_pass_log_open(sim_pass_log *log, const char *path, sim_error *error) {
    fpm_error reason = { .code = FPM_OK };
    *log = (sim_pass_log){ .path = path };
    return fpm_log_reader_open(&log->reader, path, &reason) ? refuse(log, &reason, 0, error) : SIM_OK;
}

void sim_pass_log_close(sim_pass_log *log) {
    fpm_log_reader_free(log->reader);
    log->reader = NULL;
}

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

// Times in another unit, or garbage: errors relative to them would say nothing.
static fpm_status check_time(const sim_logged_pass *pass, fpm_error *reason) {
    int64_t ns;
    const bool is_too_short = pass->wall_s < 1e-12;
    if (!is_too_short && sim_ns_from_ms(pass->observed_ms, &ns)) return FPM_OK;
    return fpm_error_set(reason, FPM_OUT_OF_RANGE, "wall_time is %g s, %s than can be measured (seconds are meant)",
                         pass->wall_s, is_too_short ? "less" : "more");
}

sim_status sim_pass_log_next(sim_pass_log *log, sim_logged_pass *pass, sim_error *error) {
    for (;;) {
        int64_t line;
        fpm_error reason = { .code = FPM_OK };
        if (fpm_log_reader_next(log->reader, &log->ranks, &log->n_ranks, &line, &reason))
            return refuse(log, &reason, 0, error);
        pass->ranks = log->ranks;
        pass->n_ranks = log->n_ranks;
        if (log->n_ranks == 0) return SIM_OK;
        if (fpm_pass_read(&pass->load, log->ranks, log->n_ranks, &reason))
            return sim_pass_log_refuse(log, &reason, error);
        pass->wall_s = fpm_iteration_wall_s(log->ranks, log->n_ranks);
        pass->observed_ms = fpm_iteration_observed_ms(log->ranks, log->n_ranks);
        log->n_iterations++;
        const bool has_work = pass->load.kind != FPM_EMPTY, has_time = pass->observed_ms > 0;
        if (has_work && has_time) {
            log->n_disagreeing += do_ranks_disagree(log->ranks, log->n_ranks);
            return check_time(pass, &reason) ? sim_pass_log_refuse(log, &reason, error) : SIM_OK;
        }
        log->n_idle += !has_work;
        log->n_without_time += has_work;
    }
}

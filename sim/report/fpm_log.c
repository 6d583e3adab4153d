// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/fpm_log.h"

sim_status sim_fpm_log_write(sim_fpm_log *log, const sim_pass_record *pass, sim_error *error) {
    const char *path = sim_output_file_path(log->file);
    if (pass->has_queue_overflow)
        return sim_error_set(
            error, SIM_INTERNAL, path, 0,
            "the queue of worker %u holds more than 2^32-1 tokens, which ForwardPassMetrics cannot state "
            "(run without --fpm, or with more workers)",
            pass->worker);
    fpm_error reason;
    for (uint32_t i = 0; i < pass->n_ranks; i++)
        if (fpm_metrics_write_json(sim_output_file_stream(log->file), &pass->metrics[i], &reason))
            return sim_error_set(error, SIM_IO, path, 0, "%s", reason.message);
    return SIM_OK;
}

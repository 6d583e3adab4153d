// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/synthetic.h"

#include <stdlib.h>

#include "sim/kernel/random.h"
#include "sim/workload/contradiction.h"
#include "sim/workload/distribution.h"

typedef struct streams {
    sim_stream *input, *output, *group;
} streams;

// An answer may have 0 tokens where the user says so; a drawn tail that happens to go below 1 does not say so.
static uint32_t least_output(const sim_distribution *distribution) {
    return distribution->kind == SIM_DIST_CONSTANT || distribution->kind == SIM_DIST_UNIFORM ? 0 : 1;
}

static sim_status never(const sim_config *config, const char *key, sim_error *error) {
    return sim_contradiction(config, error, "workload", key,
                             "1000 draws in a row gave no usable length (1 to %u tokens with the shared prefix)",
                             (unsigned)SIM_MAX_TOKENS);
}

static sim_status generate(sim_workload *workload, const sim_config *config, const sim_workload_config *settings,
                           const streams *dice, sim_error *error) {
    const uint32_t shared = (uint32_t)settings->shared_prefix_tokens;
    const uint64_t n_groups = shared > 0 ? (uint64_t)settings->prefix_groups : 1;
    const uint32_t least = least_output(&settings->output_tokens);
    for (size_t i = 0; i < workload->n_requests; i++) {
        sim_request *request = &workload->requests[i];
        uint32_t own;
        if (!sim_distribution_draw(&settings->input_tokens, dice->input, 1, SIM_MAX_TOKENS - shared, &own))
            return never(config, "input_tokens", error);
        if (!sim_distribution_draw(&settings->output_tokens, dice->output, least, SIM_MAX_TOKENS,
                                   &request->output_tokens))
            return never(config, "output_tokens", error);
        request->input_tokens = shared + own;
        request->shared_tokens = shared;
        request->group = n_groups > 1 ? (uint32_t)sim_stream_integer(dice->group, n_groups) : 0;
        request->session = SIM_NO_SESSION;
    }
    return SIM_OK;
}

sim_status sim_synthetic_generate(sim_workload *workload, const sim_config *config, const sim_workload_config *settings,
                                  uint64_t root_seed, sim_error *error) {
    workload->requests = calloc((size_t)settings->requests, sizeof *workload->requests);
    streams dice = { sim_stream_new(root_seed, "input_tokens"), sim_stream_new(root_seed, "output_tokens"),
                     sim_stream_new(root_seed, "prefix_group") };
    sim_status status;
    if (workload->requests && dice.input && dice.output && dice.group) {
        workload->n_requests = (size_t)settings->requests;
        status = generate(workload, config, settings, &dice, error);
    } else {
        status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    workload->rows_read = workload->rows_kept = workload->n_requests;
    sim_stream_free(dice.input);
    sim_stream_free(dice.output);
    sim_stream_free(dice.group);
    return status;
}

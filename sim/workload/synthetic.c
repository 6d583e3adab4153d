// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/synthetic.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/kernel/random.h"
#include "sim/workload/contradiction.h"
#include "sim/workload/distribution.h"
#include "sim/workload/session_table.h"

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
        request->previous = SIM_NO_REQUEST;
        request->delay_ns = -1;
    }
    return SIM_OK;
}

static sim_status name_session(sim_workload *workload, size_t number, uint32_t *session, sim_error *error) {
    char name[24];
    int n = snprintf(name, sizeof name, "%zu", number);
    if (sim_session_table_find(workload->sessions, name, (size_t)n, session)) return SIM_OK;
    return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

// Requests become turns, those of one session in a row. A later prompt is the whole sequence before it and what was drawn for the turn, without a head of its
// own; the group is that of the first turn.
static sim_status chain(sim_workload *workload, const sim_config *config, const sim_workload_config *settings,
                        sim_error *error) {
    workload->sessions = sim_session_table_new();
    if (!workload->sessions) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (size_t i = 0; i < workload->n_requests; i++) {
        sim_request *request = &workload->requests[i];
        const size_t turns = (size_t)settings->turns, turn = i % turns;
        sim_status status = name_session(workload, i / turns, &request->session, error);
        if (status) return status;
        if (turn == 0) continue;
        const sim_request *before = request - 1;
        uint64_t input =
            (uint64_t)before->input_tokens + before->output_tokens + request->input_tokens - request->shared_tokens;
        if (input > SIM_MAX_TOKENS)
            return sim_contradiction(config, error, "workload", "turns",
                                     "turn %zu of a session has %llu prompt tokens (at most %u)", turn + 1,
                                     (unsigned long long)input, (unsigned)SIM_MAX_TOKENS);
        request->input_tokens = (uint32_t)input;
        request->shared_tokens = 0;
        request->group = before->group;
        request->previous = (uint32_t)(i - 1);
        request->delay_ns = settings->think_time_ns;
    }
    workload->n_sessions = sim_session_table_count(workload->sessions);
    workload->has_turns = workload->has_grown_prompts = settings->turns > 1;
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
        if (!status && settings->source == SIM_SOURCE_SESSIONS) status = chain(workload, config, settings, error);
    } else {
        status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    workload->rows_read = workload->rows_kept = workload->n_requests;
    sim_stream_free(dice.input);
    sim_stream_free(dice.output);
    sim_stream_free(dice.group);
    return status;
}

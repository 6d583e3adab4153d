// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/workload.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/line_reader.h"
#include "sim/workload/session_table.h"
#include "sim/workload/synthetic.h"
#include "sim/workload/trace_reader.h"

static_assert(sizeof(sim_request) == 64, "a request is 64 bytes, so that a million of them stay small");

static sim_status new_from_trace(sim_workload **workload, const sim_config *config, const sim_workload_config *settings,
                                 sim_error *error) {
    fpm_line_reader *lines;
    fpm_error fault;
    if (fpm_line_reader_open(&lines, settings->path, &fault)) return sim_error_from_fpm(error, &fault);
    sim_status status = sim_workload_from_lines(workload, lines, config, settings, error);
    fpm_line_reader_free(lines);
    return status;
}

static sim_status new_synthetic(sim_workload **out, const sim_config *config, const sim_workload_config *settings,
                                uint64_t root_seed, sim_error *error) {
    sim_workload *workload = calloc(1, sizeof *workload);
    if (!workload) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    workload->format_name = "";
    workload->path = strdup("");
    sim_status status = workload->path ? sim_synthetic_generate(workload, config, settings, root_seed, error)
                                       : sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (status)
        sim_workload_free(workload);
    else
        *out = workload;
    return status;
}

sim_status sim_workload_new(sim_workload **workload, const sim_config *config, const sim_workload_config *settings,
                            uint64_t root_seed, sim_error *error) {
    *workload = NULL;
    sim_status status = sim_workload_check(config, settings, error);
    if (status) return status;
    return settings->source == SIM_SOURCE_TRACE ? new_from_trace(workload, config, settings, error)
                                                : new_synthetic(workload, config, settings, root_seed, error);
}

static void free_texts(char **texts, size_t n) {
    for (size_t i = 0; i < n; i++) free(texts[i]);
    free(texts);
}

void sim_workload_free(sim_workload *workload) {
    if (!workload) return;
    free(workload->requests);
    free(workload->ids);
    free((void *)(uintptr_t)workload->path);
    free_texts(workload->warnings, workload->n_warnings);
    free_texts(workload->notes, workload->n_notes);
    sim_session_table_free(workload->sessions);
    free(workload);
}

const char *sim_workload_session_name(const sim_workload *workload, uint32_t session) {
    return session == SIM_NO_SESSION ? "" : sim_session_table_name(workload->sessions, session);
}

// Where the sequence of the turn before ends and the request's own part begins.
static uint32_t inherited_tokens(const sim_workload *workload, const sim_request *request) {
    if (!workload->has_grown_prompts || request->previous == SIM_NO_REQUEST) return 0;
    const sim_request *before = &workload->requests[request->previous];
    return before->input_tokens + before->output_tokens;
}

sim_span sim_workload_span(const sim_workload *workload, uint32_t request, uint32_t token) {
    const sim_request *r = &workload->requests[request];
    assert(token < r->input_tokens);
    for (uint32_t inherited; token < (inherited = inherited_tokens(workload, r)); r = &workload->requests[request]) {
        request = r->previous;
        if (token >= workload->requests[request].input_tokens)
            return (sim_span){ SIM_CONTENT_GENERATED, request, inherited };
    }
    if (token < r->shared_tokens) return (sim_span){ SIM_CONTENT_GROUP, r->group, r->shared_tokens };
    if (r->n_ids > 0) {
        uint32_t block = (token - r->shared_tokens) / workload->id_tokens;
        if (block < r->n_ids) {
            uint64_t end = r->shared_tokens + ((uint64_t)block + 1) * workload->id_tokens;
            if (end > r->input_tokens) end = r->input_tokens;
            return (sim_span){ SIM_CONTENT_TRACE, workload->ids[r->first_id + block], (uint32_t)end };
        }
    }
    return (sim_span){ SIM_CONTENT_OWN, request, r->input_tokens };
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/trace_order.h"

#include <stdlib.h>

typedef struct key {
    int64_t stamp_ns;
    size_t place; // in the file
} key;

static int compare_keys(const void *a, const void *b) {
    const key *left = a, *right = b;
    if (left->stamp_ns != right->stamp_ns) return left->stamp_ns < right->stamp_ns ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

// qsort is not stable, so the place breaks ties.
static sim_status sort(sim_workload *workload, sim_error *error) {
    size_t n = workload->n_requests;
    key *keys = calloc(n, sizeof *keys);
    sim_request *sorted = calloc(n, sizeof *sorted);
    uint32_t *new_places = calloc(n, sizeof *new_places);
    if (!keys || !sorted || !new_places) {
        free(keys);
        free(sorted);
        free(new_places);
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    for (size_t i = 0; i < n; i++) keys[i] = (key){ workload->requests[i].stamp_ns, i };
    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = workload->requests[keys[i].place];
        new_places[keys[i].place] = (uint32_t)i;
    }
    for (size_t i = 0; i < n; i++)
        if (sorted[i].previous != SIM_NO_REQUEST) sorted[i].previous = new_places[sorted[i].previous];
    free(keys);
    free(new_places);
    free(workload->requests);
    workload->requests = sorted;
    return SIM_OK;
}

sim_status sim_trace_order(sim_workload *workload, bool rebase, const char *name, sim_error *error) {
    size_t n = workload->n_requests;
    if (n == 0 || !workload->has_stamps) return SIM_OK;
    bool is_sorted = true;
    for (size_t i = 1; i < n && is_sorted; i++)
        is_sorted = workload->requests[i - 1].stamp_ns <= workload->requests[i].stamp_ns;
    if (!is_sorted) {
        sim_status status = sort(workload, error);
        if (status) return status;
    }
    int64_t first_ns = workload->requests[0].stamp_ns, span_ns;
    if (__builtin_sub_overflow(workload->requests[n - 1].stamp_ns, first_ns, &span_ns))
        return sim_error_set(error, SIM_BAD_DATA, name, 0,
                             "the timestamps span more than 292 years (wrong time unit?)");
    if (rebase)
        for (size_t i = 0; i < n; i++) workload->requests[i].stamp_ns -= first_ns;
    return SIM_OK;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/compare.h"

#include <stdlib.h>

#include "sim/kernel/clock.h"

// Clocks of real servers, and what writes them down, are good to about that.
static const int64_t measured_tolerance_ns = SIM_NS_PER_MS;

static sim_status compare(sim_comparison_pair *pair, uint64_t seed, const sim_row_pool_options *pool,
                          sim_error *error) {
    const sim_side *a = pair->sides[0], *b = pair->sides[1];
    const bool is_measured = a->kind == SIM_SIDE_MEASURED || b->kind == SIM_SIDE_MEASURED;
    const sim_pairing_rule rule = {
        .has_given_arrivals = !a->is_closed_loop && !b->is_closed_loop,
        .arrival_tolerance_ns = is_measured ? measured_tolerance_ns : 0,
    };
    sim_status status = sim_pairing_new(&pair->pairing, (const sim_request_table *[]){ &a->table, &b->table },
                                        (const char *[]){ a->name, b->name }, &rule, error);
    if (status) return status;
    // A recorded run has no bounds of its own and is judged by those of the other.
    const sim_sla_config *bounds[2] = { a->has_sla ? &a->sla : NULL, b->has_sla ? &b->sla : NULL };
    if (a->kind == SIM_SIDE_MEASURED) bounds[0] = bounds[1];
    const sim_compared_run runs[2] = { { &a->table, bounds[0] }, { &b->table, bounds[1] } };
    status = sim_compared_figures_new(&pair->figures, runs, &pair->pairing, seed, pool, error);
    if (!status && !sim_comparison_judge(pair)) status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    return status;
}

sim_status sim_comparison_new(sim_comparison *comparison, const sim_side *sides, size_t n_sides, uint64_t seed,
                              const sim_row_pool_options *pool, sim_error *error) {
    *comparison = (sim_comparison){
        .sides = sides,
        .n_sides = n_sides,
        .pairs = calloc(n_sides, sizeof *comparison->pairs),
        .seed = seed,
    };
    sim_status status = comparison->pairs ? SIM_OK : sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (size_t i = 0; i + 1 < n_sides && !status; i++) {
        comparison->pairs[i].sides[0] = &sides[0];
        comparison->pairs[i].sides[1] = &sides[i + 1];
        status = compare(&comparison->pairs[i], seed, pool, error);
    }
    if (status) sim_comparison_clear(comparison);
    return status;
}

void sim_comparison_clear(sim_comparison *comparison) {
    for (size_t i = 0; comparison->pairs && i + 1 < comparison->n_sides; i++) {
        sim_pairing_clear(&comparison->pairs[i].pairing);
        sim_compared_figures_clear(&comparison->pairs[i].figures);
        sim_text_list_clear(&comparison->pairs[i].verdict);
    }
    free(comparison->pairs);
    *comparison = (sim_comparison){ .pairs = NULL };
}

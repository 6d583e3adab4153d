// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/plan/plan_space.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OUTERS = 4096, MAX_WORDS = 1024 };

// A load is varied by its own key; what varies the number of GPUs may stand there for the other question.
static bool is_of_gpus(const sim_plan_config *plan) {
    return !plan->over[0] || strcmp(plan->over, "cluster.replicas") == 0;
}

// The message of `error`, at the place of a key of [plan].
static sim_status at_key(const sim_config *config, const char *key, sim_error *error) {
    char message[sizeof error->message];
    if (!error) return SIM_USAGE;
    memcpy(message, error->message, sizeof message);
    error->file[0] = '\0';
    return sim_config_contradiction(config, error, "plan", key, "plan.%s: %.480s", key, message);
}

// --- the load ------------------------------------------------------------------------------------------------------------

// Requests per second of the recorded times: one gap less than there are requests. 0: they all arrive at once.
static double rate_of(const sim_workload *workload) {
    if (workload->n_requests < 2) return 0;
    const sim_request *requests = workload->requests;
    const double span_s = (double)(requests[workload->n_requests - 1].stamp_ns - requests[0].stamp_ns) / 1e9;
    return span_s > 0 ? (double)(workload->n_requests - 1) / span_s : 0;
}

static sim_status read_load(sim_plan_space *space, const sim_config *config, const sim_workload *workload,
                            sim_load_config *load, sim_error *error) {
    sim_config_fill(config, &sim_load_keys, load);
    space->load_mode = sim_load_resolve(load, workload->has_stamps);
    if (space->load_mode != SIM_LOAD_TIMESTAMPS) return SIM_OK;
    space->trace_rate = rate_of(workload);
    if (space->trace_rate > 0) return SIM_OK;
    return sim_config_contradiction(config, error, "workload", "path",
                                    "all requests of the trace arrive at once, so "
                                    "it has no rate");
}

static sim_status max_rate_axis(sim_plan_space *space, const sim_config *config, const sim_plan_config *plan,
                                sim_error *error) {
    const bool is_recorded = space->load_mode == SIM_LOAD_TIMESTAMPS;
    const bool is_speedup = strcmp(plan->over, "load.speedup") == 0;
    if (space->load_mode == SIM_LOAD_CONCURRENCY)
        return sim_config_contradiction(config, error, "plan", "find",
                                        "find = max_rate needs arrivals that have a rate (load.mode = poisson or "
                                        "constant, or a trace with timestamps)");
    if (!is_of_gpus(plan) && strcmp(plan->over, is_recorded ? "load.speedup" : "load.rate") != 0)
        return sim_config_contradiction(config, error, "plan", "over", "find = max_rate varies %s (leave `over` out)",
                                        is_recorded ? "load.speedup" : "load.rate");
    const double unit =
        is_speedup ? space->trace_rate : 1; // range in speedups or in requests/s, the axis in requests/s
    const sim_status status =
        sim_plan_axis_init(&space->axes[0], config, is_recorded ? "load.speedup" : "load.rate",
                           plan->range.low[0] * unit, plan->range.high[0] * unit, plan->resolution_frac, error);
    if (status) return at_key(config, "range", error);
    if (space->axes[0].low <= 0) return sim_config_contradiction(config, error, "plan", "range", "a rate is above 0");
    if (is_recorded) space->axes[0].per_unit = space->trace_rate;
    return SIM_OK;
}

static sim_status max_concurrency_axis(sim_plan_space *space, const sim_config *config, const sim_plan_config *plan,
                                       const sim_load_config *load, sim_error *error) {
    if (load->mode != SIM_LOAD_DEFAULT && load->mode != SIM_LOAD_CONCURRENCY)
        return sim_config_contradiction(config, error, "load", "mode",
                                        "find = max_concurrency needs load.mode = concurrency");
    if (!is_of_gpus(plan) && strcmp(plan->over, "load.concurrency") != 0)
        return sim_config_contradiction(config, error, "plan", "over",
                                        "find = max_concurrency varies load.concurrency (leave `over` out)");
    const sim_status status = sim_plan_axis_init(&space->axes[0], config, "load.concurrency", plan->range.low[0],
                                                 plan->range.high[0], plan->resolution_frac, error);
    return status ? at_key(config, "range", error) : SIM_OK;
}

// --- what is chosen --------------------------------------------------------------------------------------------------------

// The names of `over`, each one an axis but for "layouts".
static sim_status read_over(sim_plan_space *space, const sim_config *config, const sim_plan_config *plan,
                            sim_error *error) {
    for (const char *at = plan->over;; at++) {
        at += strspn(at, " \t");
        const char *end = at + strcspn(at, ",");
        size_t n = (size_t)(end - at);
        while (n && (at[n - 1] == ' ' || at[n - 1] == '\t')) n--;
        char name[SIM_SECTION_BYTES + 80];
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (strcmp(name, "layouts") == 0) {
            space->has_layouts = true;
        } else {
            const size_t k = space->n_axes;
            if (k == SIM_PLAN_MAX_KEYS || k >= plan->range.n)
                return sim_config_contradiction(config, error, "plan", "range",
                                                "`over` has more keys than there are ranges (one LOW:HIGH per key, %d "
                                                "at most)",
                                                SIM_PLAN_MAX_KEYS);
            sim_status status = sim_plan_axis_init(&space->axes[k], config, name, plan->range.low[k],
                                                   plan->range.high[k], plan->resolution_frac, error);
            if (status) return at_key(config, "over", error);
            space->n_axes++;
        }
        at = end;
        if (*at == '\0') return SIM_OK;
    }
}

static sim_status check_choice(const sim_plan_space *space, const sim_config *config, const sim_plan_config *plan,
                               sim_error *error) {
    const size_t n_things = space->n_axes + space->has_layouts;
    if (plan->find == SIM_PLAN_MIN_GPUS && n_things > 1)
        return sim_config_contradiction(config, error, "plan", "over",
                                        "find = min_gpus is over one key or over layouts (find = min_cost takes "
                                        "several)");
    if (space->n_axes && plan->range.n > space->n_axes)
        return sim_config_contradiction(config, error, "plan", "range", "there are more ranges than keys in `over`");
    for (size_t i = 0; i + 1 < space->n_axes; i++)
        if (!space->axes[i].is_integer)
            return sim_config_contradiction(config, error, "plan", "over",
                                            "%s is no whole number: of several keys only the last may be real",
                                            space->axes[i].key);
    for (size_t i = 0; i < space->n_axes; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(space->axes[i].key, space->axes[k].key) == 0)
                return sim_config_contradiction(config, error, "plan", "over", "%s stands there twice",
                                                space->axes[i].key);
    return SIM_OK;
}

// --- outer assignments -----------------------------------------------------------------------------------------------------

static sim_status add_outer(sim_plan_space *space, const char *text, sim_error *error) {
    char **more = realloc(space->outers, (space->n_outers + 1) * sizeof *more);
    if (more) space->outers = more;
    char *copy = more ? strdup(text) : NULL;
    if (!copy) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    space->outers[space->n_outers++] = copy;
    return SIM_OK;
}

static bool assigns(const char *layout, const char *key) {
    const size_t n = strlen(key);
    for (const char *at = layout; (at = strstr(at, key)); at += n)
        if ((at == layout || at[-1] == ' ' || at[-1] == '\t') && at[n] == '=') return true;
    return false;
}

// A layout must be sound by itself, so that a slip in it is told at its line.
static sim_status check_layout(const sim_plan_space *space, const sim_config *config, const char *key,
                               const char *layout, sim_error *error) {
    for (size_t i = 0; i < space->n_axes; i++)
        if (assigns(layout, space->axes[i].key))
            return sim_config_contradiction(config, error, "plan", key, "%s is varied by `over` (leave it out here)",
                                            space->axes[i].key);
    sim_config *copy;
    sim_status status = sim_config_copy(&copy, config, error);
    if (status) return status;
    status = sim_plan_assign(copy, layout, error);
    sim_config_free(copy);
    return status == SIM_USAGE ? at_key(config, key, error) : status;
}

static sim_status add_layouts(sim_plan_space *space, const sim_config *config, const sim_plan_config *plan,
                              sim_error *error) {
    sim_status status = SIM_OK;
    for (size_t i = 0; i < SIM_PLAN_MAX_LAYOUTS && !status; i++) {
        char key[24];
        if (!plan->layouts[i][0]) continue;
        snprintf(key, sizeof key, "layout_%zu", i + 1);
        status = check_layout(space, config, key, plan->layouts[i], error);
        if (!status) status = add_outer(space, plan->layouts[i], error);
    }
    if (!status && space->n_outers == 0)
        return sim_config_contradiction(config, error, "plan", "over",
                                        "over = layouts needs layouts (layout_1 = parallel.tensor=2 "
                                        "cluster.replicas=4, layout_2 = ...)");
    return status;
}

// Layouts that are not asked for now must be sound all the same.
static sim_status set_layouts_aside(sim_plan_space *space, const sim_config *config, const sim_plan_config *plan,
                                    sim_error *error) {
    const sim_plan_space no_axes = { .n_axes = 0 };
    sim_status status = SIM_OK;
    for (size_t i = 0; i < SIM_PLAN_MAX_LAYOUTS && !status; i++) {
        char key[24];
        snprintf(key, sizeof key, "layout_%zu", i + 1);
        if (plan->layouts[i][0]) status = check_layout(&no_axes, config, key, plan->layouts[i], error);
    }
    return status ? status : add_outer(space, "", error);
}

// Each outer assignment so far, with every value of one more key.
static sim_status multiply(sim_plan_space *space, const sim_config *config, const sim_plan_axis *axis,
                           sim_error *error) {
    char **before = space->outers;
    const size_t n_before = space->n_outers;
    sim_status status = SIM_OK;
    if ((double)n_before * (double)axis->n > MAX_OUTERS)
        return sim_config_contradiction(config, error, "plan", "range",
                                        "there are more than %d mixes (only the last key is searched by bisection)",
                                        MAX_OUTERS);
    space->outers = NULL;
    space->n_outers = 0;
    for (size_t i = 0; i < n_before; i++) {
        for (int64_t place = 0; place < axis->n && !status; place++) {
            char word[256], text[MAX_WORDS];
            sim_plan_axis_assign(axis, place, word, sizeof word);
            snprintf(text, sizeof text, "%s%s%s", before[i], before[i][0] ? " " : "", word);
            status = add_outer(space, text, error);
        }
        free(before[i]);
    }
    free(before);
    return status;
}

static sim_status list_outers(sim_plan_space *space, const sim_config *config, const sim_plan_config *plan,
                              sim_error *error) {
    sim_status status =
        space->has_layouts ? add_layouts(space, config, plan, error) : set_layouts_aside(space, config, plan, error);
    for (size_t i = 0; i + 1 < space->n_axes && !status; i++) status = multiply(space, config, &space->axes[i], error);
    return status;
}

// Both ends of every axis must be values of its key.
static sim_status check_ends(const sim_plan_space *space, const sim_config *config, sim_error *error) {
    for (size_t i = 0; i < space->n_axes; i++) {
        for (int end = 0; end < 2; end++) {
            char word[256];
            sim_config *copy;
            sim_status status = sim_config_copy(&copy, config, error);
            if (status) return status;
            sim_plan_axis_assign(&space->axes[i], end ? space->axes[i].n - 1 : 0, word, sizeof word);
            status = sim_plan_assign(copy, word, error);
            sim_config_free(copy);
            if (status) return status == SIM_USAGE ? at_key(config, "range", error) : status;
        }
    }
    return SIM_OK;
}

// --- all of it -------------------------------------------------------------------------------------------------------------

static sim_status init(sim_plan_space *space, const sim_config *config, const sim_plan_config *plan,
                       const sim_workload *workload, sim_error *error) {
    sim_load_config load;
    sim_status status = read_load(space, config, workload, &load, error);
    if (status) return status;
    const bool is_of_load = plan->find == SIM_PLAN_MAX_RATE || plan->find == SIM_PLAN_MAX_CONCURRENCY;
    if (!is_of_load) {
        status = read_over(space, config, plan, error);
        if (!status) status = check_choice(space, config, plan, error);
        if (!status) status = list_outers(space, config, plan, error);
        space->inner = space->n_axes ? &space->axes[space->n_axes - 1] : NULL;
        return status;
    }
    status = plan->find == SIM_PLAN_MAX_RATE ? max_rate_axis(space, config, plan, error)
                                             : max_concurrency_axis(space, config, plan, &load, error);
    if (status) return status;
    space->axes[0].is_falling = true;
    space->n_axes = 1;
    space->inner = &space->axes[0];
    const bool sets_mode = plan->find == SIM_PLAN_MAX_CONCURRENCY && load.mode == SIM_LOAD_DEFAULT;
    return add_outer(space, sets_mode ? "load.mode=concurrency" : "", error);
}

sim_status sim_plan_space_init(sim_plan_space *space, const sim_config *config, const sim_plan_config *plan,
                               const sim_workload *workload, sim_error *error) {
    *space = (sim_plan_space){ .counts_gpus = plan->find != SIM_PLAN_MIN_COST };
    sim_status status = init(space, config, plan, workload, error);
    if (!status) status = check_ends(space, config, error);
    if (status) sim_plan_space_clear(space);
    return status;
}

void sim_plan_space_clear(sim_plan_space *space) {
    for (size_t i = 0; i < space->n_outers; i++) free(space->outers[i]);
    free(space->outers);
    space->outers = NULL;
    space->n_outers = 0;
}

sim_status sim_plan_load_axis(sim_plan_axis *axis, const sim_plan_space *space, const sim_config *config, double low,
                              double high, double resolution_frac, sim_error *error) {
    sim_load_config load;
    sim_config_fill(config, &sim_load_keys, &load);
    const char *key = "load.rate";
    double now = load.rate;
    if (space->load_mode == SIM_LOAD_TIMESTAMPS) {
        key = "load.speedup";
        now = load.speedup * space->trace_rate;
    } else if (space->load_mode == SIM_LOAD_CONCURRENCY) {
        key = "load.concurrency";
        now = (double)load.concurrency;
    }
    const sim_status status = sim_plan_axis_init(axis, config, key, now * low, now * high, resolution_frac, error);
    if (status) return status;
    if (space->load_mode == SIM_LOAD_TIMESTAMPS) axis->per_unit = space->trace_rate;
    axis->is_falling = true;
    return SIM_OK;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/plan/plan_points.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/plan/plan_axis.h"
#include "sim/experiment/row_pool.h"

const char *const sim_plan_verdict_names[] = { "open", "meets", "misses", "undecided", NULL };

struct sim_plan_points {
    const sim_config *config;
    const sim_plan_config *plan;
    const sim_plan_run_options *options;
    uint64_t root_seed;
    sim_plan_prober prober;
    sim_plan_point **points;
    size_t n_points;
    size_t n_runs;
    char told[160];
};

// --- life ----------------------------------------------------------------------------------------------------------------

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

// The model says t, the hardware takes t x (1 +- error): the bound on t moves the other way.
static sim_sla_config scaled(const sim_sla_config *sla, const double factor[SIM_PLAN_BOUNDS]) {
    sim_sla_config out = *sla;
    out.ttft_ns = llround((double)sla->ttft_ns * factor[SIM_PLAN_TTFT]);
    out.tpot_ns = llround((double)sla->tpot_ns * factor[SIM_PLAN_TPOT]);
    out.e2e_ns = llround((double)sla->e2e_ns * factor[SIM_PLAN_E2E]);
    return out;
}

void sim_plan_points_set_error(sim_plan_points *points, const double error_frac[SIM_PLAN_BOUNDS]) {
    const sim_sla_config *sla = sim_plan_points_sla(points);
    double tight[SIM_PLAN_BOUNDS], loose[SIM_PLAN_BOUNDS];
    for (int b = 0; b < SIM_PLAN_BOUNDS; b++) {
        tight[b] = 1 - error_frac[b];
        loose[b] = 1 + error_frac[b];
    }
    points->prober.slas[SIM_PLAN_SLOWER] = scaled(sla, tight);
    points->prober.slas[SIM_PLAN_FASTER] = scaled(sla, loose);
}

sim_status sim_plan_points_new(sim_plan_points **points, const sim_config *config, const sim_plan_config *plan,
                               const sim_plan_run_options *options, sim_error *error) {
    sim_plan_points *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    *made = (sim_plan_points){ .config = config, .plan = plan, .options = options };
    sim_load_config load;
    sim_sla_config sla;
    sim_config_fill(config, &sim_load_keys, &load);
    sim_config_fill(config, &sim_sla_keys, &sla);
    made->root_seed = (uint64_t)load.seed;
    made->prober.stopped = options->stopped;
    sim_status status = sim_sla_check(config, &sla, error);
    for (int s = 0; s < SIM_PLAN_SCENARIOS; s++) made->prober.slas[s] = sla;
    if (!status) status = sim_workload_store_new(&made->prober.workloads, (size_t)options->n_threads + 1, error);
    if (status)
        sim_plan_points_free(made);
    else
        *points = made;
    return status;
}

static void free_point(sim_plan_point *point) {
    if (!point) return;
    free(point->assignments);
    free(point->replicates);
    free(point);
}

void sim_plan_points_free(sim_plan_points *points) {
    if (!points) return;
    for (size_t i = 0; i < points->n_points; i++) free_point(points->points[i]);
    free(points->points);
    sim_workload_store_free(points->prober.workloads);
    free(points);
}

// --- configurations ------------------------------------------------------------------------------------------------------

sim_status sim_plan_points_config(const sim_plan_points *points, const char *assignments, const char *more,
                                  size_t replicate, sim_config **config, sim_error *error) {
    sim_config *made;
    sim_status status = sim_config_copy(&made, points->config, error);
    if (status) return status;
    char seed[64];
    snprintf(seed, sizeof seed, "load.seed=%" PRIu64, points->root_seed + replicate);
    status = sim_plan_assign(made, assignments, error);
    if (!status && more) status = sim_plan_assign(made, more, error);
    if (!status) status = sim_config_set(made, seed, error);
    if (status) {
        sim_config_free(made);
        return status;
    }
    *config = made;
    return SIM_OK;
}

static sim_status count_gpus(const sim_plan_points *points, sim_plan_point *point, sim_error *error) {
    sim_config *config;
    const sim_status status = sim_plan_points_config(points, point->assignments, NULL, 0, &config, error);
    if (status) return status;
    sim_cluster_config cluster;
    sim_parallel_config parallel;
    sim_config_fill(config, &sim_cluster_keys, &cluster);
    sim_config_fill(config, &sim_parallel_keys, &parallel);
    sim_config_free(config);
    point->gpus = (uint64_t)cluster.replicas * (uint64_t)(parallel.tensor * parallel.pipeline * parallel.data);
    point->gpu_hour_price = cluster.gpu_hour_price;
    return SIM_OK;
}

// --- points --------------------------------------------------------------------------------------------------------------

static sim_status add_point(sim_plan_points *points, const char *assignments, sim_plan_point **out, sim_error *error) {
    sim_plan_point **more = realloc(points->points, (points->n_points + 1) * sizeof *more);
    if (more) points->points = more;
    sim_plan_point *made = calloc(1, sizeof *made);
    char *text = strdup(assignments);
    if (!more || !made || !text) {
        free(made);
        free(text);
        return no_memory(error);
    }
    made->assignments = text;
    const sim_status status = count_gpus(points, made, error);
    if (status) {
        free_point(made);
        return status;
    }
    points->points[points->n_points++] = *out = made;
    return SIM_OK;
}

sim_status sim_plan_points_find(sim_plan_points *points, const char *assignments, sim_plan_point **point,
                                sim_error *error) {
    for (size_t i = 0; i < points->n_points; i++) { // a plan tries some tens
        if (strcmp(points->points[i]->assignments, assignments) != 0) continue;
        *point = points->points[i];
        return SIM_OK;
    }
    return add_point(points, assignments, point, error);
}

// --- statistics ----------------------------------------------------------------------------------------------------------

// Replicates of a point at most.
static size_t most_replicates(const sim_plan_points *points, const sim_plan_point *point) {
    const bool is_one = points->plan->judge_by == SIM_PLAN_BY_TRACE || points->plan->judge_by == SIM_PLAN_BY_BATCHES;
    return is_one || point->is_seedless ? 1 : (size_t)points->plan->max_repeats;
}

// Chance to be wrong at one look.
static double alpha_of(const sim_plan_points *points, const sim_plan_point *point) {
    const size_t n_looks = sim_looks_count(most_replicates(points, point));
    return (1 - points->plan->confidence) / (double)n_looks;
}

// Of one run: nearly independent stretches of it.
static sim_interval by_batches(const sim_plan_replicate *run, double alpha) {
    double shares[SIM_PLAN_BATCHES];
    uint64_t n_good = 0;
    size_t n = 0;
    for (int i = 0; i < SIM_PLAN_BATCHES; i++) {
        if (run->batch_arrived[i] == 0) continue;
        shares[n++] = (double)run->batch_good[i] / (double)run->batch_arrived[i];
        n_good += run->batch_good[i];
    }
    sim_interval interval = sim_interval_attainment(shares, n, n_good, run->n_arrived, alpha);
    if (run->n_arrived) interval.mean = (double)n_good / (double)run->n_arrived;
    return interval;
}

sim_interval sim_plan_point_attainment(const sim_plan_points *points, const sim_plan_point *point,
                                       sim_plan_scenario scenario) {
    const double alpha = alpha_of(points, point);
    const size_t n = point->n_replicates;
    if (n == 1 && scenario == SIM_PLAN_AS_MODELLED) return by_batches(point->replicates, alpha);
    double *shares = malloc((n + 1) * sizeof *shares);
    if (!shares) return (sim_interval){ (double)NAN, (double)NAN, (double)NAN };
    uint64_t n_good = 0, n_arrived = 0;
    for (size_t i = 0; i < n; i++) {
        const sim_plan_replicate *run = &point->replicates[i];
        shares[i] = run->n_arrived ? (double)run->n_good[scenario] / (double)run->n_arrived : 0;
        n_good += run->n_good[scenario];
        n_arrived += run->n_arrived;
    }
    const sim_interval interval = sim_interval_attainment(shares, n, n_good, n_arrived, alpha);
    free(shares);
    return interval;
}

sim_interval sim_plan_point_percentile(const sim_plan_points *points, const sim_plan_point *point,
                                       sim_plan_bound bound) {
    const size_t n = point->n_replicates;
    double *values = malloc((n + 1) * sizeof *values);
    if (!values) return (sim_interval){ (double)NAN, (double)NAN, (double)NAN };
    for (size_t i = 0; i < n; i++) values[i] = point->replicates[i].percentile_ms[bound];
    sim_interval interval = sim_interval_student(values, n, alpha_of(points, point));
    if (n == 1) interval.low = interval.high = interval.mean;
    if (interval.low < 0) interval.low = 0; // no latency is negative
    free(values);
    return interval;
}

double sim_plan_point_missed_share(const sim_plan_point *point, sim_plan_bound bound) {
    uint64_t n_missed = 0, n_arrived = 0;
    for (size_t i = 0; i < point->n_replicates; i++) {
        n_missed += point->replicates[i].n_missed[bound];
        n_arrived += point->replicates[i].n_arrived;
    }
    return n_arrived ? (double)n_missed / (double)n_arrived : 0;
}

double sim_plan_point_unserved_share(const sim_plan_point *point) {
    uint64_t n_unserved = 0, n_arrived = 0;
    for (size_t i = 0; i < point->n_replicates; i++) {
        n_unserved += point->replicates[i].n_rejected + point->replicates[i].n_unfinished;
        n_arrived += point->replicates[i].n_arrived;
    }
    return n_arrived ? (double)n_unserved / (double)n_arrived : 0;
}

// --- verdicts ------------------------------------------------------------------------------------------------------------

// n of n_arrived requests are as good as it takes, without a rounding of their share: exact for whole percentages and counts below 2^53.
static bool is_share_met(double n_good, double n_arrived, double percentile) {
    return n_good * 100 >= percentile * n_arrived;
}

static sim_plan_verdict judge_one_run(const sim_plan_points *points, const sim_plan_point *point,
                                      sim_plan_scenario scenario) {
    const sim_plan_replicate *run = point->replicates;
    const double percentile = points->prober.slas[scenario].percentile;
    if (run->n_arrived == 0) return SIM_PLAN_MISSES;
    const bool is_met = is_share_met((double)run->n_good[scenario], (double)run->n_arrived, percentile);
    if (points->plan->judge_by != SIM_PLAN_BY_BATCHES || scenario != SIM_PLAN_AS_MODELLED)
        return is_met ? SIM_PLAN_MEETS : SIM_PLAN_MISSES;
    const sim_interval interval = sim_plan_point_attainment(points, point, scenario);
    if (interval.low >= percentile / 100) return SIM_PLAN_MEETS;
    return interval.high < percentile / 100 ? SIM_PLAN_MISSES : SIM_PLAN_UNDECIDED;
}

// No number of replicates proves that nothing is ever missed: `percentile = 100` is met by all of max_repeats without a miss.
static sim_plan_verdict judge_everything(const sim_plan_points *points, const sim_plan_point *point,
                                         sim_plan_scenario scenario) {
    for (size_t i = 0; i < point->n_replicates; i++)
        if (point->replicates[i].n_good[scenario] < point->replicates[i].n_arrived) return SIM_PLAN_MISSES;
    return point->n_replicates >= most_replicates(points, point) ? SIM_PLAN_MEETS : SIM_PLAN_OPEN;
}

static sim_plan_verdict judge(const sim_plan_points *points, const sim_plan_point *point, sim_plan_scenario scenario) {
    if (point->fate.outcome != SIM_TRIAL_DONE) return SIM_PLAN_MISSES;
    const size_t n = point->n_replicates, n_most = most_replicates(points, point);
    if (n == 0) return SIM_PLAN_OPEN;
    if (n_most == 1) return judge_one_run(points, point, scenario);
    const double percentile = points->prober.slas[scenario].percentile;
    if (percentile >= 100) return judge_everything(points, point, scenario);
    if (n < sim_looks_next(0, n_most)) return SIM_PLAN_OPEN;
    const sim_interval interval = sim_plan_point_attainment(points, point, scenario);
    if (interval.low >= percentile / 100) return SIM_PLAN_MEETS;
    if (interval.high < percentile / 100) return SIM_PLAN_MISSES;
    return n >= n_most ? SIM_PLAN_UNDECIDED : SIM_PLAN_OPEN;
}

// --- runs ----------------------------------------------------------------------------------------------------------------

typedef struct batch_row {
    sim_plan_point *point;
    size_t replicate;
    sim_plan_replicate result;
    sim_plan_fate fate;
} batch_row;

typedef struct batch {
    const sim_plan_points *points;
    batch_row *rows;
    size_t n_rows;
} batch;

static sim_status run_row(void *self, size_t row, sim_error *error) {
    batch *b = self;
    batch_row *r = &b->rows[row];
    sim_config *config;
    sim_status status = sim_plan_points_config(b->points, r->point->assignments, NULL, r->replicate, &config, error);
    if (status) return status;
    status = sim_plan_probe_replicate(&b->points->prober, config, &r->result, &r->fate, error);
    sim_config_free(config);
    return status;
}

// How many replicates the point should have next. Two first, which tell whether the seed matters at all.
static size_t next_count(const sim_plan_points *points, const sim_plan_point *point) {
    const size_t n_most = most_replicates(points, point);
    if (n_most > 1 && point->n_replicates < 2) return 2;
    return sim_looks_next(point->n_replicates, n_most);
}

static sim_status add_rows(batch *b, sim_plan_point *point, sim_error *error) {
    const size_t n_new = next_count(b->points, point) - point->n_replicates;
    batch_row *rows = realloc(b->rows, (b->n_rows + n_new) * sizeof *rows);
    if (!rows) return no_memory(error);
    b->rows = rows;
    for (size_t i = 0; i < n_new; i++)
        b->rows[b->n_rows++] = (batch_row){ .point = point, .replicate = point->n_replicates + i };
    return SIM_OK;
}

static sim_status take_row(sim_plan_points *points, const batch_row *row, sim_error *error) {
    sim_plan_point *point = row->point;
    points->n_runs += row->fate.outcome != SIM_TRIAL_INFEASIBLE; // that one was never begun
    if (row->fate.outcome != SIM_TRIAL_DONE) {
        if (point->fate.outcome == SIM_TRIAL_DONE) point->fate = row->fate;
        return SIM_OK;
    }
    const size_t n = point->n_replicates;
    if (n == 1 && row->replicate == 1 && point->replicates[0].digest == row->result.digest &&
        points->plan->judge_by == SIM_PLAN_BY_AUTO) {
        point->is_seedless = true;
        return SIM_OK;
    }
    sim_plan_replicate *more = realloc(point->replicates, (n + 1) * sizeof *more);
    if (!more) return no_memory(error);
    point->replicates = more;
    point->replicates[point->n_replicates++] = row->result;
    return SIM_OK;
}

static void show_progress(const sim_plan_points *points) {
    FILE *out = points->options->progress;
    if (!out) return;
    fprintf(out, "\r%zu runs of %zu points; %s \033[K", points->n_runs, sim_plan_points_n_tried(points), points->told);
    fflush(out);
}

static sim_status run_batch(sim_plan_points *points, batch *b, sim_error *error) {
    const sim_row_pool_options pool = { .n_threads = points->options->n_threads, .stopped = points->options->stopped };
    show_progress(points);
    sim_status status = sim_row_pool_run(b->n_rows, run_row, b, &pool, error);
    for (size_t i = 0; i < b->n_rows && !status; i++) status = take_row(points, &b->rows[i], error);
    show_progress(points);
    return status;
}

// Judge what can be judged, put the next runs of the others into the batch. A point may stand in the list twice.
static sim_status plan_batch(sim_plan_points *points, sim_plan_point *const *which, size_t n,
                             sim_plan_scenario scenario, batch *b, sim_error *error) {
    sim_status status = SIM_OK;
    for (size_t i = 0; i < n && !status; i++) {
        sim_plan_verdict *verdict = &which[i]->verdicts[scenario];
        if (*verdict == SIM_PLAN_OPEN) *verdict = judge(points, which[i], scenario);
        bool is_open = *verdict == SIM_PLAN_OPEN;
        for (size_t k = 0; k < i && is_open; k++) is_open = which[k] != which[i];
        if (is_open) status = add_rows(b, which[i], error);
    }
    return status;
}

sim_status sim_plan_points_judge(sim_plan_points *points, sim_plan_point *const *which, size_t n,
                                 sim_plan_scenario scenario, sim_error *error) {
    for (;;) {
        batch b = { .points = points };
        sim_status status = plan_batch(points, which, n, scenario, &b, error);
        const bool is_over = b.n_rows == 0;
        // between runs, too: short ones look for a signal too rarely
        if (!status && !is_over) status = sim_signal_status(points->options->stopped);
        if (!status && !is_over) status = run_batch(points, &b, error);
        free(b.rows);
        if (status || is_over) return status;
    }
}

// --- what others ask -----------------------------------------------------------------------------------------------------

const sim_plan_prober *sim_plan_points_prober(const sim_plan_points *points) { return &points->prober; }
const sim_sla_config *sim_plan_points_sla(const sim_plan_points *points) {
    return &points->prober.slas[SIM_PLAN_AS_MODELLED];
}
const sim_plan_point *sim_plan_points_at(const sim_plan_points *points, size_t i) {
    return i < points->n_points ? points->points[i] : NULL;
}

size_t sim_plan_points_n_runs(const sim_plan_points *points) { return points->n_runs; }
size_t sim_plan_points_n_tried(const sim_plan_points *points) {
    size_t n = 0;
    for (size_t i = 0; i < points->n_points; i++)
        n += points->points[i]->n_replicates > 0 || points->points[i]->fate.outcome != SIM_TRIAL_DONE;
    return n;
}
void sim_plan_points_count_run(sim_plan_points *points) { points->n_runs++; }
void sim_plan_points_tell(sim_plan_points *points, const char *text) {
    snprintf(points->told, sizeof points->told, "%s", text);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/outlook.h"

#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kernel/clock.h"
#include "sim/report/latency_metrics.h"

// --- latencies: everything still open counts as zero ------------------------------------------------------------------

typedef struct latency_figure {
    sim_latency_metric *metric; // NULL: gaps between tokens
    bool is_mean;
    double percent; // of all others: 0 is the minimum, 100 the maximum
} latency_figure;

// "mean_ttft_ms", "p99_9_itl_ms".
static bool read_latency(const char *key, latency_figure *figure) {
    static const struct {
        const char *suffix;
        sim_latency_metric *metric;
    } metrics[] = { { "_ttft_ms", sim_latency_ttft },
                    { "_ttst_ms", sim_latency_ttst },
                    { "_tpot_ms", sim_latency_tpot },
                    { "_e2e_latency_ms", sim_latency_e2e },
                    { "_itl_ms", NULL } };
    const size_t n_key = strlen(key);
    char which[32] = "";
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const size_t n_suffix = strlen(metrics[i].suffix);
        if (n_key <= n_suffix || n_key - n_suffix >= sizeof which) continue;
        if (strcmp(key + n_key - n_suffix, metrics[i].suffix) != 0) continue;
        memcpy(which, key, n_key - n_suffix);
        figure->metric = metrics[i].metric;
    }
    figure->is_mean = strcmp(which, "mean") == 0;
    figure->percent = strcmp(which, "min") == 0 ? 0 : strcmp(which, "median") == 0 ? 50 : 100;
    if (figure->is_mean || figure->percent < 100 || strcmp(which, "max") == 0) return true;
    char *end;
    for (char *c = which; *c; c++)
        if (*c == '_') *c = '.';
    figure->percent = which[0] == 'p' ? strtod(which + 1, &end) : 0;
    return which[0] == 'p' && end != which + 1 && *end == '\0';
}

// How many of `n` sorted values lie above the percentile (statistics.h). Never fewer for a larger n, so that counting requests in that will have no value does
// no harm.
static size_t n_above(size_t n, double percent) { return n - 1 - (size_t)floor((double)(n - 1) * percent / 100 + 0.5); }

static double best_of_requests(const sim_collector *collector, const latency_figure *figure, double *values) {
    const size_t n = sim_latency_collect(collector, figure->metric, values);
    if (n == 0) return 0;
    if (figure->is_mean) return gsl_stats_mean(values, 1, n) * ((double)n / (double)collector->n_records);
    const size_t above = n_above(collector->n_records, figure->percent);
    return above < n ? gsl_stats_select(values, 1, n, n - 1 - above) : 0;
}

static double best_of_gaps(const sim_run_facts *facts, const latency_figure *figure) {
    const sim_gap_histogram *gaps = facts->counts->gaps;
    uint64_t n_planned = 0;
    for (size_t i = 0; i < facts->workload->n_requests; i++)
        n_planned +=
            facts->workload->requests[i].output_tokens > 1 ? facts->workload->requests[i].output_tokens - 1 : 0;
    const uint64_t n = sim_gap_histogram_count(gaps);
    if (n == 0) return 0;
    if (figure->is_mean) return sim_gap_histogram_mean(gaps) / 1e6 * ((double)n / (double)n_planned);
    sim_gap_histogram *all = sim_gap_histogram_new();
    if (!all) return 0; // which rules nothing out
    sim_gap_histogram_join(all, gaps);
    sim_gap_histogram_add(all, 0, n_planned - n);
    const double best = sim_gap_histogram_percentile(all, figure->percent) / 1e6;
    sim_gap_histogram_free(all);
    return best;
}

// --- the rest: everything still open completes now, and well ----------------------------------------------------------

typedef struct totals {
    double duration_ms, duration_s, gpu_hours;
    double requests, input_tokens, output_tokens; // completed
    double good_requests, good_tokens, arrived;
} totals;

static totals best_totals(const sim_run_facts *facts) {
    const sim_collector *collector = facts->collector;
    totals all = { .duration_ms = 0 };
    for (size_t i = 0; i < collector->n_records; i++) {
        const sim_request_record *record = &collector->records[i];
        const sim_request *request = &facts->workload->requests[i];
        const bool is_done = record->status == SIM_REQUEST_COMPLETED || record->status == SIM_REQUEST_REJECTED;
        const bool is_measured = !is_done || sim_collector_is_measured(collector, i);
        const double tokens = is_done ? record->n_output_tokens : request->output_tokens;
        all.arrived += is_measured;
        if (record->status == SIM_REQUEST_REJECTED) continue;
        all.requests++;
        all.input_tokens += request->input_tokens;
        all.output_tokens += tokens;
        if (!is_measured || (is_done && !sim_sla_is_good(facts->sla, record))) continue;
        all.good_requests++;
        all.good_tokens += tokens;
    }
    const bool has_ended = facts->counts->n_completed + facts->counts->n_rejected > 0;
    const int64_t duration_ns = has_ended ? facts->counts->last_terminal_ns - collector->first_arrival_ns : 0;
    all.duration_ms = sim_ms_from_ns(duration_ns);
    all.duration_s = sim_s_from_ns(duration_ns > 0 ? duration_ns : 1);
    all.gpu_hours = (double)facts->num_gpus * sim_s_from_ns(duration_ns) / 3600;
    return all;
}

typedef double total_figure(const sim_run_facts *facts, const totals *all);

#define FIGURE(name, expression)                                        \
    static double name(const sim_run_facts *facts, const totals *all) { \
        (void)facts, (void)all;                                         \
        return expression;                                              \
    }
FIGURE(duration, all->duration_ms)
FIGURE(gpu_hours, all->gpu_hours)
FIGURE(gpus, (double)facts->num_gpus)
FIGURE(preemptions, (double)facts->counts->n_preemptions)
FIGURE(rejected, (double)facts->counts->n_rejected)
FIGURE(price, facts->cluster_config->gpu_hour_price)
FIGURE(total_cost, all->gpu_hours * facts->cluster_config->gpu_hour_price)
FIGURE(token_cost, all->output_tokens > 0 ? total_cost(facts, all) / all->output_tokens * 1e6 : 0)
FIGURE(completed, all->requests)
FIGURE(input, all->input_tokens)
FIGURE(output, all->output_tokens)
FIGURE(request_rate, all->requests / all->duration_s)
FIGURE(input_rate, all->input_tokens / all->duration_s)
FIGURE(output_rate, all->output_tokens / all->duration_s)
FIGURE(total_rate, (all->input_tokens + all->output_tokens) / all->duration_s)
FIGURE(output_rate_per_gpu, output_rate(facts, all) / (double)facts->num_gpus)
FIGURE(good, all->good_requests)
FIGURE(good_rate, all->good_requests / all->duration_s)
FIGURE(good_token_rate, all->good_tokens / all->duration_s)
FIGURE(good_rate_per_gpu, good_rate(facts, all) / (double)facts->num_gpus)
FIGURE(attainment, all->arrived > 0 ? all->good_requests / all->arrived : 0)

static const struct {
    const char *key;
    bool is_smaller_better;
    total_figure *best;
} total_figures[] = {
    { "duration_ms", true, duration },
    { "gpu_hours", true, gpu_hours },
    { "num_gpus", true, gpus },
    { "num_preemptions", true, preemptions },
    { "rejected_requests", true, rejected },
    { "cost.gpu_hour_price", true, price },
    { "cost.total_cost", true, total_cost },
    { "cost.cost_per_million_output_tokens", true, token_cost },
    { "completed_requests", false, completed },
    { "total_input_tokens", false, input },
    { "total_output_tokens", false, output },
    { "request_throughput_rps", false, request_rate },
    { "input_throughput_tok_s", false, input_rate },
    { "output_throughput_tok_s", false, output_rate },
    { "total_throughput_tok_s", false, total_rate },
    { "output_throughput_per_gpu_tok_s", false, output_rate_per_gpu },
    { "goodput_completed_requests", false, good },
    { "goodput_request_throughput_rps", false, good_rate },
    { "goodput_output_throughput_tok_s", false, good_token_rate },
    { "goodput_per_gpu_rps", false, good_rate_per_gpu },
    { "sla_attainment", false, attainment },
};
enum { N_TOTAL_FIGURES = sizeof total_figures / sizeof *total_figures };

static size_t find_total(const char *figure) {
    size_t i = 0;
    while (i < N_TOTAL_FIGURES && strcmp(total_figures[i].key, figure) != 0) i++;
    return i;
}

bool sim_outlook_covers(const char *figure, bool is_smaller_better) {
    latency_figure latency;
    const size_t i = find_total(figure);
    if (i < N_TOTAL_FIGURES) return total_figures[i].is_smaller_better == is_smaller_better;
    return is_smaller_better && read_latency(figure, &latency);
}

double sim_outlook_best(const sim_run_facts *facts, const char *figure, double *values) {
    latency_figure latency = { .metric = NULL };
    const size_t i = find_total(figure);
    if (i < N_TOTAL_FIGURES) {
        const totals all = best_totals(facts);
        return total_figures[i].best(facts, &all);
    }
    read_latency(figure, &latency);
    return latency.metric ? best_of_requests(facts->collector, &latency, values) : best_of_gaps(facts, &latency);
}

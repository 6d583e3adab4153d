// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/results_schema.h"

#include <sqlite3.h>
#include <string.h>

// Figures of the summary that are columns of `run` and stand in the ranking; in a block: "block.key".
static const char *const figures[] = {
    "num_gpus",
    "completed_requests",
    "rejected_requests",
    "incomplete_requests",
    "duration_ms",
    "request_throughput_rps",
    "output_throughput_tok_s",
    "output_throughput_per_gpu_tok_s",
    "mean_ttft_ms",
    "p99_ttft_ms",
    "mean_tpot_ms",
    "p99_tpot_ms",
    "mean_itl_ms",
    "p99_itl_ms",
    "mean_e2e_latency_ms",
    "p99_e2e_latency_ms",
    "sla_attainment",
    "goodput_request_throughput_rps",
    "goodput_per_gpu_rps",
    "prefix_cache_reused_ratio",
    "num_preemptions",
    "gpu_hours",
    "cost.total_cost",
    "cost.cost_per_million_output_tokens",
};
enum { N_FIGURES = sizeof figures / sizeof *figures };

static const char *column_of(const char *figure) {
    const char *dot = strchr(figure, '.');
    return dot ? dot + 1 : figure;
}

char *sim_results_schema(void) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "BEGIN;"
                               "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
                               "CREATE TABLE experiment(id INTEGER PRIMARY KEY, method TEXT NOT NULL, "
                               "objectives TEXT NOT NULL, version TEXT NOT NULL, config TEXT NOT NULL);"
                               "CREATE TABLE point(hash TEXT PRIMARY KEY, keys TEXT NOT NULL);"
                               "CREATE TABLE design(position INTEGER PRIMARY KEY, point TEXT NOT NULL UNIQUE "
                               "REFERENCES point(hash));"
                               "CREATE TABLE run(point TEXT NOT NULL, repeat INTEGER NOT NULL, seed INTEGER NOT NULL, "
                               "version TEXT NOT NULL, trace_hash TEXT, status TEXT NOT NULL, reason TEXT");
    for (size_t i = 0; i < N_FIGURES; i++) sqlite3_str_appendf(sql, ", \"%w\" REAL", column_of(figures[i]));
    sqlite3_str_appendf(sql,
                        ", summary TEXT, cpu_s REAL, PRIMARY KEY(point, repeat));"
                        "INSERT INTO meta VALUES ('schema', '%d'); COMMIT",
                        SIM_RESULTS_SCHEMA);
    return sqlite3_str_finish(sql);
}

char *sim_results_insert(void) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "INSERT OR REPLACE INTO run SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7");
    for (size_t i = 0; i < N_FIGURES; i++) sqlite3_str_appendf(sql, ", json_extract(?8, '$.%q')", figures[i]);
    sqlite3_str_appendall(sql, ", ?8, ?9");
    return sqlite3_str_finish(sql);
}

static void append_objective(sqlite3_str *sql, const sim_objective *objective) {
    static const char *const divisors[] = {
        [SIM_PER_RUN] = "",
        [SIM_PER_GPU] = " / json_extract(run.summary, '$.num_gpus')",
        [SIM_PER_DOLLAR] = (" / (json_extract(run.summary, '$.num_gpus') * json_extract(run.summary, "
                            "'$.cost.gpu_hour_price'))"), // in brackets, or clang suspects a comma is missing
    };
    sqlite3_str_appendf(sql, "json_extract(run.summary, '$.%q') * 1.0%s", objective->figure, divisors[objective->per]);
}

char *sim_results_objectives(const sim_objectives *objectives) {
    static const char *const per[] = { "", " per gpu", " per dollar" };
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (size_t i = 0; i < objectives->n; i++)
        sqlite3_str_appendf(text, "%s%s %s%s", i ? ", " : "", objectives->list[i].is_smaller_better ? "min" : "max",
                            objectives->list[i].figure, per[objectives->list[i].per]);
    return sqlite3_str_finish(text);
}

static bool is_objective(const sim_objectives *objectives, const char *column) {
    for (size_t i = 0; i < objectives->n; i++)
        if (strcmp(objectives->list[i].name, column) == 0) return true;
    return false;
}

static void append_keys(sqlite3_str *sql, const sim_experiment *experiment) {
    for (size_t k = 0; k < experiment->n_keys; k++)
        sqlite3_str_appendf(sql, "json_extract(point.keys, '$.\"%q\"') AS \"%w\", ", experiment->keys[k],
                            experiment->keys[k]);
}

// Point by point, best first by the first objective, then the next, each as the mean of the point's runs; what is not done comes last; then by the hash of the point.
static void append_ranking(sqlite3_str *sql, const sim_experiment *experiment) {
    const sim_objectives *objectives = experiment->objectives;
    sqlite3_str_appendall(sql, "CREATE VIEW ranking AS SELECT ");
    append_keys(sql, experiment);
    sqlite3_str_appendall(sql, "run.status AS status, run.reason AS reason");
    for (size_t i = 0; i < objectives->n; i++) {
        sqlite3_str_appendall(sql, ", ");
        append_objective(sql, &objectives->list[i]);
        sqlite3_str_appendf(sql, " AS \"%w\"", objectives->list[i].name);
    }
    for (size_t i = 0; i < N_FIGURES; i++)
        if (!is_objective(objectives, column_of(figures[i])))
            sqlite3_str_appendf(sql, ", run.\"%w\" AS \"%w\"", column_of(figures[i]), column_of(figures[i]));
    sqlite3_str_appendall(sql, ", run.repeat AS repeat, run.seed AS seed, run.point AS point FROM design "
                               "JOIN point ON point.hash = design.point JOIN run ON run.point = design.point "
                               "WINDOW runs AS (PARTITION BY run.point) "
                               "ORDER BY max(run.status <> 'done') OVER runs");
    for (size_t i = 0; i < objectives->n; i++) {
        sqlite3_str_appendall(sql, ", avg(");
        append_objective(sql, &objectives->list[i]);
        sqlite3_str_appendf(sql, ") OVER runs %s",
                            objectives->list[i].is_smaller_better ? "ASC NULLS LAST" : "DESC NULLS LAST");
    }
    sqlite3_str_appendall(sql, ", run.point, run.repeat;");
}

// "b is as good as a in every objective", or "better in one".
static void append_comparison(sqlite3_str *sql, const sim_objectives *objectives, bool is_strict) {
    for (size_t i = 0; i < objectives->n; i++) {
        const bool is_min = objectives->list[i].is_smaller_better;
        sqlite3_str_appendf(sql, "%sb.o%d %s%s a.o%d", i ? (is_strict ? " OR " : " AND ") : "", (int)i,
                            is_min ? "<" : ">", is_strict ? "" : "=", (int)i);
    }
}

static void append_pareto(sqlite3_str *sql, const sim_experiment *experiment) {
    const sim_objectives *objectives = experiment->objectives;
    sqlite3_str_appendall(sql, "CREATE VIEW pareto AS WITH mean AS MATERIALIZED (SELECT run.point AS point");
    for (size_t i = 0; i < objectives->n; i++) {
        sqlite3_str_appendall(sql, ", avg(");
        append_objective(sql, &objectives->list[i]);
        sqlite3_str_appendf(sql, ") AS o%d", (int)i);
    }
    sqlite3_str_appendall(sql, " FROM design JOIN run ON run.point = design.point GROUP BY run.point "
                               "HAVING sum(run.status <> 'done') = 0");
    for (size_t i = 0; i < objectives->n; i++) sqlite3_str_appendf(sql, " AND o%d IS NOT NULL", (int)i);
    sqlite3_str_appendall(sql, ") SELECT ");
    append_keys(sql, experiment);
    for (size_t i = 0; i < objectives->n; i++)
        sqlite3_str_appendf(sql, "a.o%d AS \"%w\", ", (int)i, objectives->list[i].name);
    sqlite3_str_appendall(sql, "a.point AS point FROM mean AS a JOIN point ON point.hash = a.point WHERE NOT EXISTS "
                               "(SELECT 1 FROM mean AS b WHERE (");
    append_comparison(sql, objectives, false);
    sqlite3_str_appendall(sql, ") AND (");
    append_comparison(sql, objectives, true);
    sqlite3_str_appendall(sql, ")) ORDER BY ");
    for (size_t i = 0; i < objectives->n; i++)
        sqlite3_str_appendf(sql, "a.o%d %s, ", (int)i, objectives->list[i].is_smaller_better ? "ASC" : "DESC");
    sqlite3_str_appendall(sql, "a.point;");
}

char *sim_results_views(const sim_experiment *experiment) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "DROP VIEW IF EXISTS ranking; DROP VIEW IF EXISTS pareto;");
    append_ranking(sql, experiment);
    append_pareto(sql, experiment);
    return sqlite3_str_finish(sql);
}

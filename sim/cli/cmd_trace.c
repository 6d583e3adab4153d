// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass trace info FILE: what a trace holds, without simulating anything.
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/perfmodel.h"
#include "sim/cli/command.h"
#include "sim/workload/trace_info.h"

static double ms_from_ns(int64_t ns) { return (double)ns / 1e6; }

typedef struct description {
    const sim_workload *workload;
    sim_trace_info info;
} description;

// --- JSON: numbers go in as text, exact where cJSON's doubles would not be -------------------------------------------

static void add_count(cJSON *object, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    cJSON_AddRawToObject(object, key, text);
}

static void add_number(cJSON *object, const char *key, double value) {
    char text[FPM_NUMBER_BYTES];
    fpm_format_number(text, value);
    cJSON_AddRawToObject(object, key, text);
}

static void add_lengths(cJSON *root, const char *key, const sim_length_stats *stats) {
    cJSON *object = cJSON_AddObjectToObject(root, key);
    add_count(object, "sum", stats->sum);
    add_number(object, "mean", stats->mean);
    add_count(object, "min", stats->min);
    add_count(object, "p50", stats->p50);
    add_count(object, "p90", stats->p90);
    add_count(object, "p99", stats->p99);
    add_count(object, "max", stats->max);
}

static void add_format(cJSON *root, const sim_workload *workload) {
    cJSON_AddStringToObject(root, "path", workload->path);
    cJSON_AddStringToObject(root, "format", workload->format_name);
    cJSON_AddStringToObject(root, "time_unit", sim_time_unit_names[workload->time_unit]);
    if (workload->id_tokens == 0) return;
    add_count(root, "block_size", workload->id_tokens);
    cJSON_AddStringToObject(root, "block_rounding", sim_block_rounding_names[workload->block_rounding]);
}

static void add_rows(cJSON *root, const sim_workload *workload) {
    add_count(root, "rows_read", workload->rows_read);
    add_count(root, "rows_kept", workload->rows_kept);
    cJSON *dropped = cJSON_AddObjectToObject(root, "dropped");
    for (int i = 0; i < SIM_DROP_REASONS; i++)
        if (workload->dropped[i]) add_count(dropped, sim_drop_reason_names[i], workload->dropped[i]);
    cJSON *warnings = cJSON_AddArrayToObject(root, "warnings");
    for (size_t i = 0; i < workload->n_warnings; i++) {
        cJSON *warning = cJSON_CreateString(workload->warnings[i]);
        if (!cJSON_AddItemToArray(warnings, warning)) cJSON_Delete(warning);
    }
}

static cJSON *to_json(const description *trace) {
    const sim_workload *workload = trace->workload;
    const sim_trace_info *info = &trace->info;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", "forepass.trace_info");
    add_count(root, "version", 1);
    add_format(root, workload);
    add_rows(root, workload);
    add_lengths(root, "input_tokens", &info->input_tokens);
    add_lengths(root, "output_tokens", &info->output_tokens);
    cJSON_AddBoolToObject(root, "has_timestamps", workload->has_stamps);
    add_number(root, "span_ms", ms_from_ns(info->span_ns));
    add_count(root, "distinct_arrivals", info->distinct_arrivals);
    add_count(root, "adjacent_decreases", workload->disorder.adjacent_decreases);
    add_number(root, "largest_step_back_ms", ms_from_ns(workload->disorder.largest_step_ns));
    add_count(root, "blocks_total", info->blocks_total);
    add_count(root, "blocks_distinct", info->blocks_distinct);
    add_count(root, "infinite_cache_hit_blocks", info->infinite_cache_hit_blocks);
    add_count(root, "infinite_cache_hit_tokens", info->infinite_cache_hit_tokens);
    add_count(root, "sessions", info->sessions);
    return root;
}

static sim_status print_json(const description *trace, sim_error *error) {
    cJSON *root = to_json(trace);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    puts(text); // main reports what standard output did not take
    free(text);
    return SIM_OK;
}

// --- table -----------------------------------------------------------------------------------------------------------

static void print_lengths(const char *name, const sim_length_stats *stats) {
    printf("%-18s %14" PRIu64 " %12.2f %10" PRIu32 " %10" PRIu32 " %10" PRIu32 " %10" PRIu32 " %10" PRIu32 "\n", name,
           stats->sum, stats->mean, stats->min, stats->p50, stats->p90, stats->p99, stats->max);
}

static void print_head(const sim_workload *workload) {
    printf("%-18s %s\n%-18s %s, time unit %s", "trace", workload->path, "format", workload->format_name,
           sim_time_unit_names[workload->time_unit]);
    if (workload->id_tokens > 0)
        printf(", blocks of %" PRIu32 " tokens (%s)", workload->id_tokens,
               sim_block_rounding_names[workload->block_rounding]);
    printf("\n%-18s %" PRIu64 " read, %" PRIu64 " kept\n", "requests", workload->rows_read, workload->rows_kept);
    for (int i = 0; i < SIM_DROP_REASONS; i++)
        if (workload->dropped[i])
            printf("%-18s %" PRIu64 " dropped: %s\n", "", workload->dropped[i], sim_drop_reason_names[i]);
}

static void print_arrivals(const description *trace) {
    const sim_workload *workload = trace->workload;
    if (!workload->has_stamps) {
        printf("%-18s none\n", "timestamps");
        return;
    }
    double span_s = 1e-3 * ms_from_ns(trace->info.span_ns);
    printf("%-18s %.3f s, %" PRIu64 " distinct arrivals", "span", span_s, trace->info.distinct_arrivals);
    if (span_s > 0) printf(", %.3f requests/s", (double)workload->n_requests / span_s);
    printf("\n");
    if (workload->disorder.adjacent_decreases > 0)
        printf("%-18s %" PRIu64 " rows before the row in front of them, by at most %.3f s\n", "out of order",
               workload->disorder.adjacent_decreases, 1e-3 * ms_from_ns(workload->disorder.largest_step_ns));
}

static void print_blocks(const sim_trace_info *info) {
    if (info->blocks_total == 0) {
        printf("%-18s none\n", "prefix identity");
        return;
    }
    printf("%-18s %" PRIu64 " in all, %" PRIu64 " distinct\n", "blocks", info->blocks_total, info->blocks_distinct);
    printf("%-18s %" PRIu64 " blocks, %" PRIu64 " tokens (%.1f %% of the input)\n", "endless cache hits",
           info->infinite_cache_hit_blocks, info->infinite_cache_hit_tokens,
           100 * (double)info->infinite_cache_hit_tokens / (double)info->input_tokens.sum);
}

static void print_table(const description *trace) {
    print_head(trace->workload);
    print_arrivals(trace);
    if (trace->info.sessions > 0) printf("%-18s %" PRIu64 "\n", "sessions", trace->info.sessions);
    print_blocks(&trace->info);
    printf("\n%-18s %14s %12s %10s %10s %10s %10s %10s\n", "tokens", "sum", "mean", "min", "p50", "p90", "p99", "max");
    print_lengths("input", &trace->info.input_tokens);
    print_lengths("output", &trace->info.output_tokens);
}

// --- the command -----------------------------------------------------------------------------------------------------

static void tell(const sim_cli *cli, const sim_workload *workload) {
    for (size_t i = 0; i < workload->n_warnings; i++) fprintf(stderr, "forepass: %s\n", workload->warnings[i]);
    for (size_t i = 0; i < workload->n_notes && !cli->quiet; i++) fprintf(stderr, "forepass: %s\n", workload->notes[i]);
}

static sim_status info(const sim_cli *cli, const sim_config *config, sim_error *error) {
    sim_workload_config settings;
    sim_config_fill(config, &sim_workload_keys, &settings);
    sim_config_fill(config, &sim_csv_keys, &settings.csv);
    if (sim_config_is_given(config, "workload", "path"))
        return sim_config_contradiction(config, error, "workload", "path", "the trace is the argument FILE");
    if (sim_config_is_given(config, "workload", "source") && settings.source != SIM_SOURCE_TRACE)
        return sim_config_contradiction(config, error, "workload", "source", "trace info reads a trace");
    settings.source = SIM_SOURCE_TRACE;
    settings.path = cli->arguments[1];
    sim_workload *workload;
    sim_status status = sim_workload_new(&workload, config, &settings, 0, error);
    if (status) return status;
    description trace = { .workload = workload };
    status = sim_trace_info_compute(workload, &trace.info, error);
    if (!status) {
        tell(cli, workload);
        if (cli->json)
            status = print_json(&trace, error);
        else
            print_table(&trace);
    }
    sim_workload_free(workload);
    return status;
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    static const char *const names[] = { "info" };
    static const sim_key_table *const tables[] = { &sim_workload_keys,
                                                   &sim_csv_keys }; // a trace needs no other section
    const char *name = cli->arguments[0];
    if (strcmp(name, names[0]) != 0) {
        const char *nearest = sim_nearest_name(name, names, 1);
        return sim_error_set(error, SIM_USAGE, NULL, 0, "unknown command trace %s (%s)", name,
                             nearest ? "did you mean trace info?" : "there is trace info FILE");
    }
    if (cli->n_arguments < 2)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "trace info: a file is missing (- is standard input)");
    sim_config *config;
    sim_status status = sim_config_new(&config, tables, sizeof tables / sizeof *tables, error);
    if (status) return status;
    for (size_t i = 0; i < cli->n_sets && !status; i++) status = sim_config_set(config, cli->sets[i], error);
    if (!status) status = info(cli, config, error);
    sim_config_free(config);
    return status;
}

const sim_command sim_cmd_trace = {
    .name = "trace",
    .synopsis = "info FILE",
    .help = "describe a trace: rows, lengths, arrivals, shared prefixes",
    .details = "FILE is plain, gzip or zstd; - is standard input. --set takes every key of [workload] and [csv], e.g.\n"
               "workload.format, workload.time_unit, workload.on_bad_record=skip, or csv.input_tokens=COLUMN. Endless "
               "cache hits are what a prefix "
               "cache\n"
               "that never forgets would serve, rows in file order.\n",
    .options = SIM_OPT_SET | SIM_OPT_FORMAT | SIM_OPT_QUIET,
    .min_arguments = 1,
    .max_arguments = 2,
    .run = run,
};

// SPDX-License-Identifier: GPL-3.0-or-later
//
// dump-results DB: everything in a database of results that must be the same however the runs were spread over threads, ranks, shards and interruptions: all
// tables and views in an order of their own, without times of the simulator. dump-results DB cpu: the CPU seconds of all runs instead.
#include <stdio.h>
#include <string.h>

#include "sim/experiment/sweep/results_db.h"

static const char *const queries[] = {
    "SELECT key, value FROM meta ORDER BY key",
    "SELECT method, objectives, version, config FROM experiment",
    "SELECT hash, keys FROM point ORDER BY hash",
    "SELECT position, point FROM design ORDER BY position",
    "SELECT point, repeat, seed, version, trace_hash, status, reason, json_remove(summary, '$.wall_time_ms') FROM run "
    "ORDER "
    "BY point, repeat",
    "SELECT * FROM ranking",
    "SELECT * FROM pareto",
};

static sim_status print_row(void *self, const sim_results_row *row, sim_error *error) {
    (void)self, (void)error;
    for (size_t i = 0; i < row->n; i++) printf("%s%s", i ? "|" : "", row->texts[i] ? row->texts[i] : "-");
    putchar('\n');
    return SIM_OK;
}

int main(int argc, char **argv) {
    sim_results *results = NULL;
    sim_error error = { .code = SIM_OK };
    const bool is_cpu = argc == 3 && strcmp(argv[2], "cpu") == 0;
    if (argc != 2 && !is_cpu) {
        fprintf(stderr, "usage: dump-results DB [cpu]\n");
        return 2;
    }
    sim_status status = sim_results_open_to_read(&results, argv[1], &error);
    if (!status && is_cpu) status = sim_results_query(results, "SELECT sum(cpu_s) FROM run", print_row, NULL, &error);
    for (size_t i = 0; !is_cpu && i < sizeof queries / sizeof *queries && !status; i++)
        status = sim_results_query(results, queries[i], print_row, NULL, &error);
    if (status) fprintf(stderr, "%s: %s\n", argv[1], error.message);
    sim_results_close(results);
    return sim_status_exit(status);
}

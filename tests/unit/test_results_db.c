// SPDX-License-Identifier: GPL-3.0-or-later
//
// Results in SQLite: ranking and Pareto front by hand, one writer, refusals.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/experiment/sweep/results_db.h"

static const sim_objectives two = {
    .n = 2, .list = { { "rate", "rate", false, SIM_PER_RUN }, { "num_gpus", "num_gpus", true, SIM_PER_RUN } }
};

static sim_results *begun(const char *path) {
    static const char *const keys[] = { "cluster.replicas" };
    const sim_experiment experiment = { "[sweep]\n", "grid", "1.0", keys, 1, &two };
    sim_results *results;
    sim_error error;
    cr_assert_eq(sim_results_open(&results, path, &error), SIM_OK, "%s", error.message);
    cr_assert_eq(sim_results_begin(results, &experiment, &error), SIM_OK, "%s", error.message);
    return results;
}

static void add(sim_results *results, size_t position, const char *hash, double rate, int gpus) {
    char keys[64], summary[128];
    sim_error error;
    snprintf(keys, sizeof keys, "{\"cluster.replicas\":%d}", gpus);
    snprintf(summary, sizeof summary, "{\"rate\":%g,\"num_gpus\":%d,\"mean_ttft_ms\":12.5}", rate, gpus);
    cr_assert_eq(sim_results_add_point(results, position, hash, keys, &error), SIM_OK, "%s", error.message);
    const sim_result result = { .point = hash,
                                .seed = 42,
                                .trace_hash = "",
                                .status = rate < 0 ? "infeasible" : "done",
                                .reason = rate < 0 ? "too small" : "",
                                .summary = rate < 0 ? NULL : summary };
    cr_assert_eq(sim_results_put(results, &result, "1.0", &error), SIM_OK, "%s", error.message);
}

static sim_status join(void *self, const sim_results_row *row, sim_error *error) {
    (void)error;
    strcat(strcat(self, row->texts[0] ? row->texts[0] : "-"), " ");
    return SIM_OK;
}

static const char *ask(sim_results *results, const char *sql) {
    static char out[1000];
    sim_error error;
    out[0] = '\0';
    cr_assert_eq(sim_results_query(results, sql, join, out, &error), SIM_OK, "%s", error.message);
    return out;
}

static void add_five(sim_results *results) {
    add(results, 0, "aa", 10, 1);
    add(results, 1, "bb", 30, 4);
    add(results, 2, "cc", 30, 2); // as fast as bb with fewer GPUs
    add(results, 3, "dd", -1, 9);
    add(results, 4, "ee", 5, 3);
}

Test(results_db, ranks_by_objectives_and_puts_what_did_not_run_last) {
    sim_results *results = begun(NULL);
    add_five(results);
    cr_expect_str_eq(ask(results, "SELECT point FROM ranking"), "cc bb aa ee dd ");
    cr_expect_str_eq(ask(results, "SELECT reason FROM ranking WHERE status <> 'done'"), "too small ");
    cr_expect_str_eq(ask(results, "SELECT \"cluster.replicas\" FROM ranking LIMIT 1"), "2 ");
    cr_expect_str_eq(ask(results, "SELECT mean_ttft_ms FROM ranking LIMIT 1"), "12.5 ");
    cr_expect_str_eq(ask(results, "SELECT point FROM pareto"), "cc aa ");
    sim_results_close(results);
}

Test(results_db, knows_what_it_has_by_version) {
    sim_results *results = begun(NULL);
    sim_error error;
    bool is_there;
    add_five(results);
    cr_assert_eq(sim_results_has(results, "aa", 0, "1.0", false, &is_there, &error), SIM_OK);
    cr_expect(is_there);
    cr_assert_eq(sim_results_has(results, "aa", 1, "1.0", false, &is_there, &error), SIM_OK);
    cr_expect_not(is_there);
    cr_assert_eq(sim_results_has(results, "aa", 0, "1.1", false, &is_there, &error), SIM_OK);
    cr_expect_not(is_there);
    sim_results_close(results);
}

static char directory[] = "/tmp/forepass-results-XXXXXX";
static void make_directory(void) { cr_assert(mkdtemp(directory) && chdir(directory) == 0); }
static void remove_directory(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

// In another process, as flock(2) of one process would not tell.
static int open_elsewhere(const char *path) {
    const pid_t child = fork();
    if (child == 0) {
        sim_results *results;
        _exit((int)sim_results_open(&results, path, NULL));
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

Test(results_db, has_one_writer_at_a_time_and_any_readers, .init = make_directory, .fini = remove_directory) {
    sim_results *results = begun("sweep.db"), *reader;
    sim_error error;
    add_five(results);
    cr_expect_eq(open_elsewhere("sweep.db"), SIM_IO);
    cr_assert_eq(sim_results_open_to_read(&reader, "sweep.db", &error), SIM_OK, "%s", error.message);
    cr_expect_str_eq(ask(reader, "SELECT count(*) FROM ranking"), "5 ");
    sim_results_close(reader);
    cr_expect_eq(sim_results_remove("sweep.db", &error), SIM_IO, "not under its writer");
    sim_results_close(results);
    cr_expect_eq(open_elsewhere("sweep.db"), SIM_OK);
    cr_expect_eq(sim_results_remove("sweep.db", &error), SIM_OK);
    cr_expect_neq(access("sweep.db", F_OK), 0);
}

Test(results_db, of_something_else_is_refused, .init = make_directory, .fini = remove_directory) {
    sim_results *results;
    sim_error error;
    FILE *out = fopen("text.db", "w");
    cr_assert(out && fputs("this is a text, and long enough to be no header of a database at all", out) >= 0);
    fclose(out);
    cr_expect_eq(sim_results_open(&results, "text.db", &error), SIM_BAD_DATA);
    cr_expect_eq(sim_results_open(&results, "no/such/directory.db", &error), SIM_IO);
}

Test(results_db, merge_adds_what_is_missing_and_refuses_what_differs, .init = make_directory,
     .fini = remove_directory) {
    sim_error error;
    sim_results *one = begun("one.db"), *other = begun("other.db"), *whole;
    add(one, 0, "aa", 10, 1);
    add(other, 0, "aa", 10, 1);
    sim_results_close(one);
    sim_results_close(other);
    cr_assert_eq(sim_results_open(&whole, "whole.db", &error), SIM_OK);
    cr_assert_eq(sim_results_merge(whole, "one.db", &error), SIM_OK, "%s", error.message);
    cr_assert_eq(sim_results_merge(whole, "other.db", &error), SIM_OK, "%s", error.message);
    cr_expect_str_eq(ask(whole, "SELECT point FROM ranking"), "aa ");
    other = begun("third.db");
    add(other, 0, "aa", 11, 1);
    sim_results_close(other);
    cr_expect_eq(sim_results_merge(whole, "third.db", &error), SIM_BAD_DATA);
    cr_expect(strstr(error.message, "1 of its runs differ"), "%s", error.message);
    cr_expect_eq(sim_results_merge(whole, "none.db", &error), SIM_IO);
    sim_results_close(whole);
}

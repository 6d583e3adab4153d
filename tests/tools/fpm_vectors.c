// SPDX-License-Identifier: GPL-3.0-or-later
//
// fpm-vectors FILE...: replay scenarios of the tuning model and compare (format: notes/fpm-behaviour.md section 0).
// Prints "N passed, M failed"; what failed, and why, goes to stderr. Exit status: 0 all passed, 1 some failed or a file
// cannot be read, 2 usage, 3 a file that is not of the format.
#include "perfmodel/line_reader.h"
#include "perfmodel/metrics_json.h"
#include "tests/support/standin_estimator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-7
#define NAMES(list) list, (unsigned)(sizeof(list) / sizeof *(list))

// Why a scenario failed; empty = it has not.
typedef struct verdict {
    char text[512];
} verdict;

typedef enum mode { MODE_MISSING, MODE_REGRESSION, MODE_NATIVE } mode;

typedef struct scenario {
    char name[256];
    mode mode;
    fpm_model_options options;
    fpm_json steps; // cursor at the array
    bool has_steps;
    fpm_model *model;
} scenario;

typedef enum operation { OP_NEW, OP_TUNE, OP_ESTIMATE, OP_DIAGNOSTICS, OP_FACTORS, N_OPERATIONS } operation;

typedef struct step {
    operation op;
    bool has_op, has_ranks, has_iterations, has_expect, has_ms, is_ms_null, has_error;
    double ms;
    char error[64];
    fpm_json ranks, iterations, expect; // cursors
} step;

// Growable lists of ranks and iterations, used again from step to step.
typedef struct work {
    fpm_metrics *ranks;
    size_t n_ranks, ranks_capacity;
    size_t *ends; // of each iteration, in `ranks`
    fpm_iteration *iterations;
    size_t n_iterations, iterations_capacity;
} work;

static void *grown(void *list, size_t n, size_t *capacity, size_t size) {
    if (n < *capacity) return list;
    *capacity = *capacity ? 2 * *capacity : 64;
    list = realloc(list, *capacity * size);
    if (!list) {
        fputs("fpm-vectors: out of memory\n", stderr);
        exit(1);
    }
    return list;
}

// --- reading ---------------------------------------------------------------------------------------------------------

static void read_options(fpm_json *json, fpm_model_options *o) {
    static const fpm_json_name names[] = {
        FPM_JSON_NAME("max_observations"),
        FPM_JSON_NAME("min_observations"),
        FPM_JSON_NAME("min_faster_correction_factor"),
        FPM_JSON_NAME("max_slower_correction_factor"),
        FPM_JSON_NAME("bucket_count"),
        FPM_JSON_NAME("max_num_tokens"),
        FPM_JSON_NAME("max_batch_size"),
        FPM_JSON_NAME("max_kv_tokens"),
    };
    uint64_t *const counts[] = {
        &o->max_observations, &o->min_observations, NULL, NULL, &o->bucket_count, &o->max_num_tokens,
        &o->max_batch_size,   &o->max_kv_tokens
    };
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, NAMES(names))) return;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        if (counts[i]) {
            fpm_json_u64(json, counts[i]);
            continue;
        }
        const bool is_null = fpm_json_peek(json) == FPM_JSON_NULL;
        *(i == 2 ? &o->is_faster_unbounded : &o->is_slower_unbounded) = is_null;
        if (is_null)
            fpm_json_null(json);
        else
            fpm_json_double(json, i == 2 ? &o->min_faster_correction_factor : &o->max_slower_correction_factor);
    }
}

static void keep_cursor(fpm_json *json, fpm_json *cursor, bool *is_there) {
    *cursor = *json;
    *is_there = true;
    fpm_json_skip(json);
}

static void read_scenario(fpm_json *json, scenario *s) {
    static const fpm_json_name names[] = { FPM_JSON_NAME("name"), FPM_JSON_NAME("mode"), FPM_JSON_NAME("options"),
                                           FPM_JSON_NAME("steps") };
    char text[32] = "";
    fpm_json_object object;
    *s = (scenario){ .options = fpm_model_options_default() };
    if (!fpm_json_object_begin(json, &object, NAMES(names))) return;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        if (i == 0) fpm_json_string(json, s->name, sizeof s->name, NULL);
        if (i == 1) {
            fpm_json_string(json, text, sizeof text, NULL);
            s->mode = strcmp(text, "regression") == 0 ? MODE_REGRESSION
                      : strcmp(text, "native") == 0   ? MODE_NATIVE
                                                      : MODE_MISSING;
        }
        if (i == 2) read_options(json, &s->options);
        if (i == 3) keep_cursor(json, &s->steps, &s->has_steps);
    }
    if (s->mode == MODE_MISSING) fpm_json_fail(json, FPM_SYNTAX, "\"mode\" must be \"regression\" or \"native\"");
    if (!s->has_steps) fpm_json_fail(json, FPM_SYNTAX, "the scenario has no \"steps\"");
}

static void read_operation(fpm_json *json, step *s) {
    static const char *const names[N_OPERATIONS] = { "new", "tune", "estimate", "diagnostics", "factors" };
    char text[32] = "";
    if (!fpm_json_string(json, text, sizeof text, NULL)) return;
    for (int i = 0; i < N_OPERATIONS; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        s->op = (operation)i;
        s->has_op = true;
    }
    if (!s->has_op) fpm_json_fail(json, FPM_SYNTAX, "\"op\" must be new, tune, estimate, diagnostics or factors");
}

static bool read_number_or_null(fpm_json *json, double *value) {
    if (fpm_json_peek(json) != FPM_JSON_NULL) return fpm_json_double(json, value);
    fpm_json_null(json);
    return false;
}

static void read_step(fpm_json *json, step *s) {
    static const fpm_json_name names[] = { FPM_JSON_NAME("op"),         FPM_JSON_NAME("ranks"),
                                           FPM_JSON_NAME("iterations"), FPM_JSON_NAME("expect"),
                                           FPM_JSON_NAME("expect_ms"),  FPM_JSON_NAME("expect_error") };
    fpm_json_object object;
    *s = (step){ 0 };
    if (!fpm_json_object_begin(json, &object, NAMES(names))) return;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        if (i == 0) read_operation(json, s);
        if (i == 1) keep_cursor(json, &s->ranks, &s->has_ranks);
        if (i == 2) keep_cursor(json, &s->iterations, &s->has_iterations);
        if (i == 3) keep_cursor(json, &s->expect, &s->has_expect);
        if (i == 4) {
            s->has_ms = true;
            s->is_ms_null = !read_number_or_null(json, &s->ms);
        }
        if (i == 5) s->has_error = fpm_json_string(json, s->error, sizeof s->error, NULL);
    }
    if (!s->has_op) fpm_json_fail(json, FPM_SYNTAX, "the step has no \"op\"");
    if (s->op == OP_ESTIMATE && !s->has_ranks) fpm_json_fail(json, FPM_SYNTAX, "the estimate has no \"ranks\"");
    if (s->op == OP_TUNE && !s->has_iterations) fpm_json_fail(json, FPM_SYNTAX, "the tune has no \"iterations\"");
}

static void read_ranks(fpm_json *json, work *w) {
    bool is_first = true;
    if (!fpm_json_array_begin(json)) return;
    while (fpm_json_array_next(json, &is_first)) {
        w->ranks = grown(w->ranks, w->n_ranks, &w->ranks_capacity, sizeof *w->ranks);
        if (fpm_metrics_parse(json, &w->ranks[w->n_ranks], NULL)) w->n_ranks++;
    }
}

static void read_iterations(fpm_json *json, work *w) {
    bool is_first = true;
    if (!fpm_json_array_begin(json)) return;
    while (fpm_json_array_next(json, &is_first)) {
        size_t capacity = w->iterations_capacity;
        w->ends = grown(w->ends, w->n_iterations, &capacity, sizeof *w->ends);
        w->iterations = grown(w->iterations, w->n_iterations, &w->iterations_capacity, sizeof *w->iterations);
        read_ranks(json, w);
        w->ends[w->n_iterations++] = w->n_ranks;
    }
    // Only now do the ranks stay where they are.
    for (size_t i = 0, begin = 0; i < w->n_iterations; begin = w->ends[i++])
        w->iterations[i] = (fpm_iteration){ w->ranks + begin, w->ends[i] - begin };
}

// --- running ---------------------------------------------------------------------------------------------------------

static bool is_close(double a, double b) { return a == b || fabs(a - b) <= TOLERANCE * fmax(fabs(a), fabs(b)); }

static void check_number(verdict *v, const char *what, bool has_value, double value, bool is_wanted, double wanted) {
    if (v->text[0]) return;
    if (has_value != is_wanted)
        snprintf(v->text, sizeof v->text, "%s is %s, not %s", what, has_value ? "a number" : "null",
                 is_wanted ? "a number" : "null");
    else if (has_value && !is_close(value, wanted))
        snprintf(v->text, sizeof v->text, "%s is %.17g, not %.17g", what, value, wanted);
}

static fpm_status construct(scenario *s, fpm_error *error) {
    fpm_model_free(s->model);
    s->model = NULL;
    if (s->mode == MODE_REGRESSION) return fpm_model_new_regression(&s->model, &s->options, error);
    fpm_estimator *estimator;
    fpm_status status = standin_new(&estimator, error);
    if (status) return status;
    status = fpm_model_new_native(&s->model, estimator, &s->options, error);
    fpm_estimator_free(estimator);
    return status;
}

static void check_text(fpm_json *json, verdict *v, const char *what, const char *text) {
    char wanted[64];
    if (fpm_json_string(json, wanted, sizeof wanted, NULL) && strcmp(wanted, text) != 0 && !v->text[0])
        snprintf(v->text, sizeof v->text, "%s is %s, not %s", what, text, wanted);
}

static void check_count(fpm_json *json, verdict *v, const char *what, uint64_t count) {
    uint64_t wanted;
    if (fpm_json_u64(json, &wanted) && wanted != count && !v->text[0])
        snprintf(v->text, sizeof v->text, "%s is %llu, not %llu", what, (unsigned long long)count,
                 (unsigned long long)wanted);
}

static void check_diagnostics(fpm_json *json, const scenario *s, verdict *v) {
    static const fpm_json_name names[] = { FPM_JSON_NAME("source"), FPM_JSON_NAME("readiness"),
                                           FPM_JSON_NAME("retained_observations"),
                                           FPM_JSON_NAME("correction_ready_buckets") };
    const fpm_diagnostics is = fpm_model_diagnostics(s->model);
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, NAMES(names))) return;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        if (i == 0) check_text(json, v, "source", fpm_source_name(is.source));
        if (i == 1) check_text(json, v, "readiness", fpm_readiness_name(is.readiness));
        if (i == 2) check_count(json, v, "retained_observations", is.retained_observations);
        if (i == 3) check_count(json, v, "correction_ready_buckets", is.correction_ready_buckets);
    }
}

static void check_factors(fpm_json *json, const scenario *s, verdict *v) {
    static const fpm_json_name names[] = { FPM_JSON_NAME("min"), FPM_JSON_NAME("max"), FPM_JSON_NAME("avg") };
    fpm_factors is;
    const bool has_factors = fpm_model_factors(s->model, FPM_EMPTY, &is);
    const double values[] = { is.min, is.max, is.avg };
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, NAMES(names))) return;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        double wanted = 0.0;
        const bool is_wanted = read_number_or_null(json, &wanted);
        if (!json->failed) check_number(v, names[i].text, has_factors, values[i], is_wanted, wanted);
    }
}

// Do what the step says. Trouble with the file goes to `json`, other trouble to the verdict.
static void run_step(scenario *s, step *todo, work *w, fpm_json *json, verdict *v) {
    fpm_error error = { 0 };
    fpm_status status = FPM_OK;
    double ms = 0.0;
    bool has_estimate = false;
    fpm_json *at = json;
    w->n_ranks = w->n_iterations = 0;
    if (todo->op == OP_NEW || !s->model) status = construct(s, &error);
    if (!status && todo->op == OP_ESTIMATE) {
        read_ranks(at = &todo->ranks, w);
        if (!at->failed) status = fpm_model_estimate_ms(s->model, w->ranks, w->n_ranks, &ms, &has_estimate, &error);
    } else if (!status && todo->op == OP_TUNE) {
        read_iterations(at = &todo->iterations, w);
        if (!at->failed) status = fpm_model_tune(s->model, w->iterations, w->n_iterations, &error);
    }
    if (at->failed) { // nothing to judge
        *json = *at;
        return;
    }
    const char *wanted = todo->has_error ? todo->error : fpm_status_name(FPM_OK);
    if (strcmp(fpm_status_name(status), wanted) != 0)
        snprintf(v->text, sizeof v->text, "outcome is %s (%s), not %s", fpm_status_name(status), error.message, wanted);
    else if (!status && todo->has_ms && todo->op == OP_ESTIMATE)
        check_number(v, "ms", has_estimate, ms, !todo->is_ms_null, todo->ms);
    else if (!status && todo->has_expect && todo->op == OP_DIAGNOSTICS)
        check_diagnostics(at = &todo->expect, s, v);
    else if (!status && todo->has_expect && todo->op == OP_FACTORS)
        check_factors(at = &todo->expect, s, v);
    if (at->failed && at != json) *json = *at; // report where it stands
}

static void run_steps(scenario *s, work *w, fpm_json *json, verdict *v) {
    bool is_first = true;
    int number = 0;
    if (!fpm_json_array_begin(&s->steps)) *json = s->steps;
    while (!json->failed && !v->text[0] && fpm_json_array_next(&s->steps, &is_first)) {
        step todo;
        read_step(&s->steps, &todo);
        number++;
        if (!s->steps.failed) run_step(s, &todo, w, &s->steps, v);
        if (s->steps.failed) *json = s->steps;
    }
    if (v->text[0]) fprintf(stderr, "%s: step %d: %s\n", s->name, number, v->text);
}

typedef struct tally {
    long n_passed, n_failed;
} tally;

static fpm_status run_line(const fpm_line *line, work *w, tally *t, fpm_error *error) {
    fpm_json json;
    scenario s;
    verdict v = { "" };
    if (line->has_nul) return fpm_error_set(error, FPM_SYNTAX, "a NUL byte in the row");
    fpm_json_begin(&json, line->text, line->n_bytes);
    read_scenario(&json, &s);
    fpm_status status = fpm_json_end(&json, error);
    if (status) return status;
    run_steps(&s, w, &json, &v);
    fpm_model_free(s.model);
    status = json.failed ? fpm_json_end(&json, error) : FPM_OK;
    if (!status) ++*(v.text[0] ? &t->n_failed : &t->n_passed);
    return status;
}

static bool is_blank(const fpm_line *line) {
    for (size_t i = 0; i < line->n_bytes; i++)
        if (line->text[i] != ' ' && line->text[i] != '\t' && line->text[i] != '\r') return false;
    return true;
}

// Exit status, 0 when the file could be read to its end.
static int run_file(const char *path, work *w, tally *t) {
    fpm_line_reader *reader = NULL;
    fpm_line line = { 0 };
    fpm_error error = { 0 };
    bool has_line = true;
    fpm_status status = fpm_line_reader_open(&reader, path, &error);
    while (!status) {
        status = fpm_line_reader_next(reader, &line, &has_line, &error);
        if (status || !has_line) break;
        if (is_blank(&line)) continue;
        status = run_line(&line, w, t, &error);
        if (status) error.line = line.number;
    }
    fpm_line_reader_free(reader);
    if (!status) return 0;
    if (error.line > 0)
        fprintf(stderr, "fpm-vectors: %s:%lld: %s (column %lld)\n", path, (long long)error.line, error.message,
                (long long)error.column);
    else
        fprintf(stderr, "fpm-vectors: %s: %s\n", path, error.message);
    return status == FPM_IO || status == FPM_NO_MEMORY ? 1 : 3;
}

int main(int argc, char **argv) {
    work w = { 0 };
    tally t = { 0, 0 };
    int exit_status = 0;
    if (argc < 2) {
        fputs("usage: fpm-vectors FILE...\n", stderr);
        return 2;
    }
    for (int i = 1; i < argc && !exit_status; i++) exit_status = run_file(argv[i], &w, &t);
    free(w.ranks);
    free(w.ends);
    free(w.iterations);
    if (exit_status) return exit_status;
    printf("%ld passed, %ld failed\n", t.n_passed, t.n_failed);
    if (fflush(stdout)) return 1;
    return t.n_failed ? 1 : 0;
}

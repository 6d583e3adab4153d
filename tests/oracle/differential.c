// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/oracle/differential.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/experiment/run.h"
#include "tests/oracle/oracle.h"

enum { LONGEST_RUN_S = 120, MOST_DIFFERENCES = 5, BATCH = 100 };

// What the process that compares hands back.
typedef struct outcome {
    bool is_same;
    bool is_usable;             // the configuration was accepted
    const char *volatile stage; // where it is, in case it does not come back
    char message[8192];
    sim_status status;
    uint64_t n_requests, n_passes, n_preemptions, n_cached_tokens, n_rejected, n_incomplete;
} outcome;

static char directory[64]; // of the files of the case at hand

static void make_directory(void) {
    if (directory[0]) return;
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; // the product syncs its files
    snprintf(directory, sizeof directory, "%s/forepass-oracle-XXXXXX", parent);
    if (!mkdtemp(directory)) abort();
}

static void path_of(char path[128], const char *name) { snprintf(path, 128, "%s/%s", directory, name); }

static void write_rows(const random_case *c) {
    char path[128];
    path_of(path, "trace.jsonl");
    FILE *out = fopen(path, "w");
    if (!out) abort();
    for (uint32_t i = 0; i < c->n_rows; i++) fputs(c->rows[i], out);
    if (fclose(out)) abort();
}

static char *read_file(const char *name) {
    char path[128];
    path_of(path, name);
    FILE *in = fopen(path, "r");
    if (!in) return NULL;
    char *text = NULL;
    size_t n_bytes = 0;
    if (getdelim(&text, &n_bytes, '\0', in) < 0) { // an empty file
        free(text);
        text = strdup("");
    }
    fclose(in);
    return text;
}

// The first line in which two texts differ, as told to people.
static void tell_difference(const char *name, const char *product, const char *naive, char *message, size_t capacity) {
    const char *p = product, *o = naive;
    for (unsigned line = 1;; line++) {
        const int n_p = (int)strcspn(p, "\n"), n_o = (int)strcspn(o, "\n");
        if (n_p != n_o || strncmp(p, o, (size_t)n_p) != 0 || p[n_p] != o[n_o]) {
            const size_t n = strlen(message);
            snprintf(message + n, capacity - n, "%s line %u\n  product: %.*s\n  oracle:  %.*s\n", name, line, n_p, p,
                     n_o, o);
            return;
        }
        if (!p[n_p]) return;
        p += n_p + 1;
        o += n_o + 1;
    }
}

static sim_status configure(const random_case *c, sim_config **config, sim_settings *settings, sim_error *error) {
    sim_status status = sim_config_new(config, sim_settings_tables, sim_settings_n_tables, error);
    if (status) abort();
    for (uint32_t i = 0; i < c->n_sets && !status; i++) status = sim_config_set(*config, c->sets[i], error);
    if (!status && c->n_rows > 0) {
        char set[192], path[128];
        path_of(path, "trace.jsonl");
        snprintf(set, sizeof set, "workload.path=%s", path);
        status = sim_config_set(*config, set, error);
    }
    return status ? status : sim_settings_read(*config, settings, error);
}

static void count(const sim_summary *summary, outcome *out) {
    out->n_requests = summary->num_requests;
    out->n_passes = summary->num_iterations;
    out->n_preemptions = summary->num_preemptions;
    out->n_cached_tokens = summary->cached_input_tokens;
    out->n_rejected = summary->rejected_requests;
    out->n_incomplete = summary->incomplete_requests;
}

// Into the directory `name`. Without an FPM log workers that cannot influence each other run on their own, on several threads.
static sim_status run_product(const sim_config *config, const sim_settings *settings, const char *name, bool wants_fpm,
                              outcome *out, sim_error *error) {
    char path[128];
    path_of(path, name);
    const sim_run_options options = { .output = path,
                                      .overwrite = true,
                                      .wants_requests = true,
                                      .wants_fpm = wants_fpm,
                                      .n_threads = wants_fpm ? 1 : 3 };
    sim_run *run = NULL;
    sim_status status = sim_run_execute(&run, config, settings, &options, error);
    if (run) count(sim_run_summary(run), out);
    sim_run_free(run);
    return status;
}

static void compare_files(const oracle_texts *texts, outcome *out) {
    char *requests = read_file("product/requests.csv"), *fpm = read_file("product/fpm.jsonl");
    char *apart = read_file("threads/requests.csv");
    if (!requests || !fpm || !apart) {
        snprintf(out->message, sizeof out->message, "the product wrote no files\n");
        return;
    }
    tell_difference("requests.csv", requests, texts->requests_csv, out->message, sizeof out->message);
    tell_difference("fpm.jsonl", fpm, texts->fpm_jsonl, out->message, sizeof out->message);
    tell_difference("requests.csv on threads", apart, texts->requests_csv, out->message, sizeof out->message);
    out->is_same = strcmp(requests, texts->requests_csv) == 0 && strcmp(fpm, texts->fpm_jsonl) == 0 &&
                   strcmp(apart, texts->requests_csv) == 0;
    free(apart);
    free(requests);
    free(fpm);
}

static void compare(const random_case *c, outcome *out) {
    sim_config *config;
    sim_settings settings;
    sim_error error = { .line = 0 }, oracle_error = { .line = 0 };
    if (configure(c, &config, &settings, &error)) {
        snprintf(out->message, sizeof out->message, "not a configuration: %s\n", error.message);
        sim_config_free(config);
        return;
    }
    oracle_texts texts;
    out->stage = "oracle";
    const sim_status oracle_status = oracle_run(config, &settings, &texts, &oracle_error);
    out->stage = "product";
    out->status = run_product(config, &settings, "product", true, out, &error);
    sim_status status_apart = run_product(config, &settings, "threads", false, out, &error);
    if (status_apart != out->status) out->status = SIM_INTERNAL; // the two ways to let time pass must end alike
    out->stage = "comparison";
    out->is_usable = oracle_status == SIM_OK || oracle_status == SIM_DEAD_END;
    if (out->status != oracle_status || !out->is_usable)
        snprintf(out->message, sizeof out->message, "status\n  product: %d %s\n  oracle:  %d %s\n",
                 sim_status_exit(out->status), error.message, sim_status_exit(oracle_status), oracle_error.message);
    else if (out->status == SIM_OK)
        compare_files(&texts, out);
    else
        out->is_same = true;
    free(texts.requests_csv);
    free(texts.fpm_jsonl);
    sim_config_free(config);
}

static void count_case(const outcome *result, differential_census *census) {
    census->n_cases++;
    census->n_dead_ends += result->status == SIM_DEAD_END;
    census->n_with_preemptions += result->n_preemptions > 0;
    census->n_with_hits += result->n_cached_tokens > 0;
    census->n_with_rejections += result->n_rejected > 0;
    census->n_with_incomplete += result->n_incomplete > 0;
    census->n_requests += result->n_requests;
    census->n_passes += result->n_passes;
}

// What the process that compares shares with the one that waits for it.
typedef struct shared_memory {
    outcome result;             // of the last case
    differential_census census; // of the cases that agree
} shared_memory;

// Compare the cases of a list or of seeds, one after the other, up to the first that differs.
typedef struct batch {
    const random_case *given; // one case; NULL: draw from seeds
    void (*draw)(random_case *c, uint64_t seed);
    uint64_t first_seed;
    uint32_t n;
} batch;

static void compare_batch(const batch *b, shared_memory *shared) {
    for (uint32_t i = 0; i < b->n; i++) {
        random_case c;
        if (b->given)
            c = *b->given;
        else
            b->draw(&c, b->first_seed + i);
        shared->result = (outcome){ .stage = "configuration" };
        alarm(LONGEST_RUN_S);
        write_rows(&c);
        compare(&c, &shared->result);
        if (!b->given) random_case_clear(&c);
        if (!shared->result.is_same) return;
        count_case(&shared->result, &shared->census);
    }
}

static shared_memory compare_apart(const batch *b) {
    shared_memory *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) abort();
    make_directory();
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) {
        compare_batch(b, shared);
        _exit(0);
    }
    int how;
    while (waitpid(child, &how, 0) < 0) continue;
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) {
        outcome *result = &shared->result;
        result->is_same = false;
        result->is_usable = true;
        snprintf(result->message, sizeof result->message, "ended in the %s by %s %d\n", result->stage,
                 WIFSIGNALED(how) ? "signal" : "status", WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    }
    shared_memory copy = *shared;
    munmap(shared, sizeof *shared);
    return copy;
}

static shared_memory compare_one(const random_case *c) {
    const batch one = { .given = c, .n = 1 };
    return compare_apart(&one);
}

// ---------------------------------------------------------------------------------------------------------------------
// Smaller cases
// ---------------------------------------------------------------------------------------------------------------------

static bool still_differs(const random_case *c) {
    const outcome result = compare_one(c).result;
    return result.is_usable && !result.is_same;
}

// A copy of the case without one of its rows, or one of its sets. It borrows the texts.
static random_case without_row(const random_case *c, uint32_t row) {
    random_case less = *c;
    less.n_rows--;
    for (uint32_t i = row; i < less.n_rows; i++) less.rows[i] = c->rows[i + 1];
    return less;
}

static random_case without_set(const random_case *c, uint32_t set) {
    random_case less = *c;
    less.n_sets--;
    for (uint32_t i = set; i < less.n_sets; i++) memcpy(less.sets[i], c->sets[i + 1], CASE_SET_BYTES);
    return less;
}

// A generator makes the same first requests whatever their number.
static void shrink_requests(random_case *c) {
    static const char key[] = "workload.requests=";
    for (uint32_t i = 0; i < c->n_sets; i++) {
        if (strncmp(c->sets[i], key, sizeof key - 1) != 0) continue;
        const int most = atoi(c->sets[i] + sizeof key - 1);
        for (int n = 1; n < most; n++) {
            random_case less = *c;
            snprintf(less.sets[i], CASE_SET_BYTES, "%s%d", key, n);
            if (!still_differs(&less)) continue;
            *c = less;
            return;
        }
    }
}

static void shrink(random_case *c) {
    shrink_requests(c);
    for (uint32_t i = c->n_rows; i-- > 0 && c->n_rows > 1;) {
        random_case less = without_row(c, i);
        if (still_differs(&less)) *c = less;
    }
    for (uint32_t i = c->n_sets; i-- > 0;) {
        random_case less = without_set(c, i);
        if (still_differs(&less)) *c = less;
    }
    shrink_requests(c);
}

static void tell(const random_case *c, const outcome *result) {
    fprintf(stderr, "\nseed %" PRIu64 ": product and oracle differ\n%s", c->seed, result->message);
    fprintf(stderr, "forepass replay /dev/null");
    for (uint32_t i = 0; i < c->n_sets; i++) fprintf(stderr, " --set '%s'", c->sets[i]);
    if (c->n_rows > 0) fprintf(stderr, " --set workload.path=%s/trace.jsonl", directory);
    fprintf(stderr, " --requests --fpm -o OUT\n");
    for (uint32_t i = 0; i < c->n_rows && i < 12; i++) fputs(c->rows[i], stderr);
    if (c->n_rows > 12) fprintf(stderr, "... %" PRIu32 " rows\n", c->n_rows);
}

void differential_end(void) {
    if (!directory[0]) return;
    static const char *const names[] = { "product/summary.json", "product/config.ini",   "product/requests.csv",
                                         "product/fpm.jsonl",    "threads/summary.json", "threads/config.ini",
                                         "threads/requests.csv", "trace.jsonl" };
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) path_of(path, names[i]), unlink(path);
    path_of(path, "product"), rmdir(path);
    path_of(path, "threads"), rmdir(path);
    rmdir(directory);
    directory[0] = '\0';
}

static void add_up(differential_census *sum, const differential_census *more) {
    sum->n_cases += more->n_cases;
    sum->n_dead_ends += more->n_dead_ends;
    sum->n_with_preemptions += more->n_with_preemptions;
    sum->n_with_hits += more->n_with_hits;
    sum->n_with_rejections += more->n_with_rejections;
    sum->n_with_incomplete += more->n_with_incomplete;
    sum->n_requests += more->n_requests;
    sum->n_passes += more->n_passes;
}

bool differential_agrees(const random_case *c, differential_census *census) {
    shared_memory found = compare_one(c);
    add_up(census, &found.census);
    if (found.result.is_same) return true;
    census->n_cases++;
    census->n_differences++;
    random_case small = *c;
    if (found.result.is_usable) shrink(&small);
    found = compare_one(&small);
    tell(&small, &found.result);
    directory[0] = '\0'; // the files stay, and the next case goes elsewhere
    return false;
}

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text && text[0] ? strtoull(text, NULL, 10) : otherwise;
}

// The case that ended a batch, again and alone.
static void look_closer(void (*draw)(random_case *c, uint64_t seed), uint64_t seed, const outcome *in_batch,
                        differential_census *census) {
    random_case c;
    draw(&c, seed);
    if (differential_agrees(&c, census)) {
        census->n_differences++;
        fprintf(stderr, "\nthe following happens only behind other cases, alone the case is well:\n");
        tell(&c, in_batch);
    }
    random_case_clear(&c);
}

differential_census differential_run(void (*draw)(random_case *c, uint64_t seed), uint64_t first_seed,
                                     uint32_t n_cases) {
    return differential_run_all(draw, from_environment("FOREPASS_SEED", first_seed),
                                (uint32_t)from_environment("FOREPASS_CASES", n_cases));
}

differential_census differential_run_all(void (*draw)(random_case *c, uint64_t seed), uint64_t first_seed,
                                         uint32_t n_cases) {
    differential_census census = { .n_cases = 0 };
    fprintf(stderr, "seeds %" PRIu64 " to %" PRIu64 "\n", first_seed, first_seed + n_cases - 1);
    while (census.n_cases < n_cases && census.n_differences < MOST_DIFFERENCES) {
        const uint32_t n_left = n_cases - census.n_cases;
        const batch next = { .draw = draw,
                             .first_seed = first_seed + census.n_cases,
                             .n = n_left < BATCH ? n_left : BATCH };
        const shared_memory found = compare_apart(&next);
        add_up(&census, &found.census);
        if (found.census.n_cases < next.n) look_closer(draw, first_seed + census.n_cases, &found.result, &census);
    }
    differential_end();
    fprintf(stderr,
            "%" PRIu32 " cases, %" PRIu32 " differences; %" PRIu32 " dead ends, %" PRIu32 " with preemptions, %" PRIu32
            " with cache hits, %" PRIu32 " with rejections, %" PRIu32 " cut off; %" PRIu64 " requests, %" PRIu64
            " passes\n",
            census.n_cases, census.n_differences, census.n_dead_ends, census.n_with_preemptions, census.n_with_hits,
            census.n_with_rejections, census.n_with_incomplete, census.n_requests, census.n_passes);
    return census;
}

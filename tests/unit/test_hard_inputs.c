// SPDX-License-Identifier: GPL-3.0-or-later
//
// The hard inputs of ../shared: every file of a format this version reads gets the outcome that expected.json
// documents. The table is read from there, and a key this test does not know fails it, so that no expectation is passed
// over.
#include <cjson/cJSON.h>
#include <stdio.h>
#include <unistd.h>

#include "sim/workload/trace_info.h"
#include "tests/support/workload_fixture.h"

#define FOLDER SHARED_DIR "/hard-inputs/"

typedef struct hard_case {
    const char *name;
    const cJSON *expected;
    char path[512];
    sim_workload_config settings; // as the expectation asks for
    const char *outcome;
} hard_case;

// --- reading ----------------------------------------------------------------------------------------------------------

static sim_workload *load(const hard_case *c, const sim_workload_config *settings, sim_error *error) {
    sim_workload *workload;
    *error = (sim_error){ 0 };
    sim_workload_new(&workload, NULL, settings, 1, error);
    cr_assert(!workload == (error->code != SIM_OK), "%s: a workload and an error, or neither", c->name);
    return workload;
}

static sim_workload *must_load(const hard_case *c, const sim_workload_config *settings) {
    sim_error error;
    sim_workload *workload = load(c, settings, &error);
    cr_assert(workload, "%s: refused: %s:%lld: %s", c->name, error.file, (long long)error.line, error.message);
    return workload;
}

static sim_workload *load_skipping(const hard_case *c) {
    sim_workload_config settings = c->settings;
    settings.on_bad_record = SIM_BAD_RECORD_SKIP;
    return must_load(c, &settings);
}

// Refused in the ordinary mode, with file, line (0: any) and a message.
static void expect_refused(const hard_case *c, const sim_workload_config *settings, int64_t line) {
    sim_error error;
    sim_workload *workload = load(c, settings, &error);
    cr_expect_null(workload, "%s: accepted", c->name);
    if (!workload) {
        cr_expect_eq(error.code, SIM_BAD_DATA, "%s", c->name);
        cr_expect_str_eq(error.file, c->path);
        cr_expect(error.message[0], "%s: no reason", c->name);
        if (line) cr_expect_eq(error.line, line, "%s: line %lld, %s", c->name, (long long)error.line, error.message);
    }
    sim_workload_free(workload);
}

static bool has_number(const cJSON *list, int64_t number) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) if ((int64_t)item->valuedouble == number) return true;
    return false;
}

// --- one function per kind of expectation -----------------------------------------------------------------------------

static void check_count(const hard_case *c, const cJSON *value, uint64_t got) {
    cr_expect_eq(got, (uint64_t)value->valuedouble, "%s: %s is %llu", c->name, value->string, (unsigned long long)got);
}

// The lists of the table are ascending, like the requests.
static void check_arrivals(const hard_case *c, const cJSON *value, const sim_workload *workload) {
    cr_assert_eq((size_t)cJSON_GetArraySize(value), workload->n_requests, "%s", c->name);
    for (size_t i = 0; i < workload->n_requests; i++)
        cr_expect_eq(workload->requests[i].stamp_ns, (int64_t)cJSON_GetArrayItem(value, (int)i)->valuedouble,
                     "%s: arrival %zu is %lld", c->name, i, (long long)workload->requests[i].stamp_ns);
}

static int64_t count_lines(const hard_case *c) {
    fpm_line_reader *lines;
    fpm_line line;
    bool has_line = true;
    int64_t n = -1;
    cr_assert_eq(fpm_line_reader_open(&lines, c->path, NULL), FPM_OK);
    for (; has_line; n++) cr_assert_eq(fpm_line_reader_next(lines, &line, &has_line, NULL), FPM_OK);
    fpm_line_reader_free(lines);
    return n;
}

static void check_bad_lines(const hard_case *c, const cJSON *value) {
    const cJSON *item;
    cJSON_ArrayForEach(item, value)
        cr_expect_leq(item->valueint, count_lines(c), "%s: no line %d", c->name, item->valueint);
    expect_refused(c, &c->settings, (int64_t)cJSON_GetArrayItem(value, 0)->valuedouble);
    sim_workload *kept = load_skipping(c);
    for (size_t i = 0; i < kept->n_requests; i++)
        cr_expect_not(has_number(value, kept->requests[i].line), "%s: bad line %u kept", c->name,
                      kept->requests[i].line);
    cr_expect_eq(kept->rows_read, kept->rows_kept + (uint64_t)cJSON_GetArraySize(value), "%s: %llu rows read", c->name,
                 (unsigned long long)kept->rows_read);
    cr_expect(kept->n_warnings > 0, "%s: dropped in silence", c->name);
    sim_workload_free(kept);
}

static void check_good_lines(const hard_case *c, const cJSON *value) {
    sim_workload *kept = load_skipping(c);
    cr_expect_eq(kept->n_requests, (size_t)cJSON_GetArraySize(value), "%s", c->name);
    for (size_t i = 0; i < kept->n_requests; i++)
        cr_expect(has_number(value, kept->requests[i].line), "%s: line %u kept", c->name, kept->requests[i].line);
    sim_workload_free(kept);
}

static void check_warn_lines(const hard_case *c, const cJSON *value, const sim_workload *workload) {
    size_t n_placed = 0;
    char place[600];
    const cJSON *item;
    cJSON_ArrayForEach(item, value) {
        snprintf(place, sizeof place, "%s:%d: ", c->path, item->valueint);
        cr_expect(has_text(workload->warnings, workload->n_warnings, place), "%s: no warning at line %d", c->name,
                  item->valueint);
    }
    snprintf(place, sizeof place, "%s:", c->path);
    for (size_t i = 0; i < workload->n_warnings; i++) {
        const char *line = strstr(workload->warnings[i], place);
        n_placed += line && line[strlen(place)] >= '0' && line[strlen(place)] <= '9';
    }
    cr_expect_eq(n_placed, (size_t)cJSON_GetArraySize(value), "%s: warnings at other lines", c->name);
}

static void check_sorted_lengths(const hard_case *c, const cJSON *value, const sim_workload *workload) {
    cr_assert_eq((size_t)cJSON_GetArraySize(value), workload->n_requests);
    for (size_t i = 0; i < workload->n_requests; i++)
        cr_expect_eq(workload->requests[i].input_tokens, (uint32_t)cJSON_GetArrayItem(value, (int)i)->valueint, "%s",
                     c->name);
}

static void check_with_unit_s(const hard_case *c, const cJSON *value) {
    sim_workload_config settings = c->settings;
    settings.time_unit = SIM_UNIT_S;
    sim_workload *workload = must_load(c, &settings);
    check_arrivals(c, value, workload);
    cr_expect_not(has_text(workload->warnings, workload->n_warnings, "look like seconds"), "the unit was named");
    sim_workload_free(workload);
    workload = must_load(c, &c->settings);
    cr_expect(has_text(workload->warnings, workload->n_warnings, "workload.time_unit"), "%s: no warning", c->name);
    sim_workload_free(workload);
}

static void check_without_rebase(const hard_case *c, const cJSON *value) {
    cr_assert_str_eq(value->valuestring, "reject");
    sim_workload_config settings = c->settings;
    settings.rebase = false;
    expect_refused(c, &settings, 1);
}

static void check_with_ceil(const hard_case *c, const cJSON *value) {
    cr_assert_str_eq(value->valuestring, "reject lines 1 and 3");
    sim_workload_config settings = c->settings;
    settings.block_rounding = SIM_ROUNDING_CEIL;
    expect_refused(c, &settings, 1);
    settings.on_bad_record = SIM_BAD_RECORD_SKIP;
    sim_workload *workload = must_load(c, &settings);
    cr_expect(workload->n_requests == 1 && workload->requests[0].line == 2);
    cr_expect_eq(workload->dropped[SIM_DROP_HASH_COUNT], 2);
    sim_workload_free(workload);
}

static void check_skip_rows(const hard_case *c, const cJSON *value) {
    sim_workload *kept = load_skipping(c);
    check_count(c, value, kept->n_requests);
    sim_workload_free(kept);
}

// 0 tokens of output are kept, 0 tokens of input are a bad record.
static void check_zero_output(const hard_case *c, const cJSON *value) {
    sim_workload *kept = load_skipping(c);
    for (size_t i = 0; i < kept->n_requests; i++)
        cr_expect_eq(kept->requests[i].output_tokens == 0, has_number(value, kept->requests[i].line), "%s", c->name);
    sim_workload_free(kept);
}

static void check_zero_input(const hard_case *c, const cJSON *value) {
    sim_workload *kept = load_skipping(c);
    cr_expect_eq(kept->dropped[SIM_DROP_ZERO_INPUT], (uint64_t)cJSON_GetArraySize(value), "%s", c->name);
    for (size_t i = 0; i < kept->n_requests; i++)
        cr_expect_not(has_number(value, kept->requests[i].line), "%s: line %u kept", c->name, kept->requests[i].line);
    sim_workload_free(kept);
    expect_refused(c, &c->settings, (int64_t)cJSON_GetArrayItem(value, 0)->valuedouble);
}

static void check_step_back(const hard_case *c, const cJSON *value, const sim_workload *workload) {
    cr_expect_eq(workload->disorder.largest_step_ns, (int64_t)value->valuedouble);
    char place[600];
    snprintf(place, sizeof place, "%s:%lld: ", c->path, (long long)workload->disorder.largest_step_line);
    cr_expect(has_text(workload->warnings, workload->n_warnings, place), "%s: no warning at the line", c->name);
    cr_expect(has_text(workload->warnings, workload->n_warnings, "3599 s"), "%s: no size in the warning", c->name);
}

static void check_sums(const hard_case *c, const cJSON *value, const sim_workload *workload) {
    uint64_t input = 0, output = 0;
    for (size_t i = 0; i < workload->n_requests; i++) {
        input += workload->requests[i].input_tokens;
        output += workload->requests[i].output_tokens;
    }
    check_count(c, value, strcmp(value->string, "input_sum") == 0 ? input : output);
}

// --- the table of keys ------------------------------------------------------------------------------------------------

static bool is_key(const cJSON *value, const char *name) { return strcmp(value->string, name) == 0; }

// Expectations about a file that is accepted as it is.
static bool check_accepted(const hard_case *c, const cJSON *value, const sim_workload *workload) {
    sim_trace_info info;
    cr_assert_eq(sim_trace_info_compute(workload, &info, NULL), SIM_OK);
    if (is_key(value, "rows"))
        check_count(c, value, workload->rows_kept);
    else if (is_key(value, "arrivals_ns"))
        check_arrivals(c, value, workload);
    else if (is_key(value, "input_sum") || is_key(value, "output_sum"))
        check_sums(c, value, workload);
    else if (is_key(value, "sorted_input_lengths"))
        check_sorted_lengths(c, value, workload);
    else if (is_key(value, "adjacent_decreases"))
        check_count(c, value, workload->disorder.adjacent_decreases);
    else if (is_key(value, "largest_step_back_ns"))
        check_step_back(c, value, workload);
    else if (is_key(value, "warn_lines"))
        check_warn_lines(c, value, workload);
    else if (is_key(value, "infinite_cache_hit_blocks"))
        check_count(c, value, info.infinite_cache_hit_blocks);
    else if (is_key(value, "infinite_cache_hit_tokens"))
        check_count(c, value, info.infinite_cache_hit_tokens);
    else if (is_key(value, "distinct_arrivals"))
        check_count(c, value, info.distinct_arrivals);
    else if (is_key(value, "sessions"))
        check_count(c, value, info.sessions);
    else
        return false;
    return true;
}

// Expectations that read the file in another mode.
static bool check_modes(const hard_case *c, const cJSON *value) {
    if (is_key(value, "bad_lines"))
        check_bad_lines(c, value);
    else if (is_key(value, "good_lines"))
        check_good_lines(c, value);
    else if (is_key(value, "skip_mode_rows"))
        check_skip_rows(c, value);
    else if (is_key(value, "with_unit_s"))
        check_with_unit_s(c, value);
    else if (is_key(value, "with_ceil"))
        check_with_ceil(c, value);
    else if (is_key(value, "without_rebase"))
        check_without_rebase(c, value);
    else if (is_key(value, "zero_output_lines"))
        check_zero_output(c, value);
    else if (is_key(value, "zero_input_lines"))
        check_zero_input(c, value);
    else
        return false;
    return true;
}

// Keys that say how to read, or that are text for people.
static bool is_setting(const cJSON *value) {
    static const char *const known[] = { "format", "outcome", "note", "unit", "block", "rounding" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_key(value, known[i])) return true;
    return false;
}

static int name_index(const char *const *names, const char *name) {
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0) return i;
    cr_assert(false, "%s is not known", name);
    return -1;
}

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return value ? value->valuestring : NULL;
}

static hard_case prepare(const cJSON *expected) {
    hard_case c = { .name = expected->string, .expected = expected, .settings = trace_settings() };
    snprintf(c.path, sizeof c.path, "%s%s", FOLDER, c.name);
    c.settings.format = name_index(sim_trace_format_names, text_of(expected, "format"));
    const char *unit = text_of(expected, "unit"), *rounding = text_of(expected, "rounding");
    if (unit) c.settings.time_unit = name_index(sim_time_unit_names, unit);
    if (rounding) c.settings.block_rounding = name_index(sim_block_rounding_names, rounding);
    const cJSON *block = cJSON_GetObjectItemCaseSensitive(expected, "block");
    if (block) c.settings.block_size = block->valueint;
    c.outcome = text_of(expected, "outcome");
    return c;
}

// Where the documents leave the choice (outcome "policy"), this is ours: the part of the message of a refused file,
// NULL when it is accepted as a whole.
static const char *refusal_of_policy(const char *name) {
    static const struct {
        const char *name, *message;
    } refused[] = {
        { "20_zero_and_one_lengths.jsonl", "0 tokens" },
        { "39_cr_only_lines.csv", "CR alone" },
        { "44_comment_lines.jsonl", "object" },
        { "46_array_instead_of_lines.json", "JSON Lines" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].name, name) == 0) return refused[i].message;
    return NULL;
}

static void check_message(const hard_case *c, const char *part) {
    sim_error error;
    sim_workload *workload = load(c, &c->settings, &error);
    cr_expect(!workload && strstr(error.message, part), "%s: \"%s\" does not say %s", c->name, error.message, part);
    sim_workload_free(workload);
}

// The rows of a file that is refused as it stands: those that skipping reads, none, or what our policy does not read.
static void check_refused_rows(const hard_case *c, const cJSON *value) {
    sim_workload_config settings = c->settings;
    settings.on_bad_record = SIM_BAD_RECORD_SKIP;
    sim_error error;
    sim_workload *workload = load(c, &settings, &error);
    if (workload)
        check_count(c, value, workload->rows_read);
    else if (!refusal_of_policy(c->name))
        cr_expect(value->valueint == 0 && strstr(error.message, "no requests"), "%s: %s", c->name, error.message);
    sim_workload_free(workload);
}

static void check_refused_file(const hard_case *c) {
    const cJSON *value;
    expect_refused(c, &c->settings, 0);
    cJSON_ArrayForEach(value, c->expected) {
        if (is_setting(value) || check_modes(c, value)) continue;
        if (is_key(value, "rows"))
            check_refused_rows(c, value);
        else
            cr_expect(false, "%s: expectation \"%s\" is not known to this test", c->name, value->string);
    }
}

static void check_accepted_file(const hard_case *c) {
    sim_workload *workload = must_load(c, &c->settings);
    cr_expect_eq(workload->rows_read, workload->rows_kept);
    const cJSON *value;
    cJSON_ArrayForEach(value, c->expected) {
        if (is_setting(value) || check_modes(c, value) || check_accepted(c, value, workload)) continue;
        cr_expect(false, "%s: expectation \"%s\" is not known to this test", c->name, value->string);
    }
    sim_workload_free(workload);
}

static void check_file(const cJSON *expected) {
    hard_case c = prepare(expected);
    c.settings.path = c.path;
    const char *refusal = refusal_of_policy(c.name);
    if (strcmp(c.name, "42_utf16le_bom.csv") == 0) check_message(&c, "UTF-16");
    if (strcmp(c.name, "56_zstd_magic.jsonl.zst") == 0) check_message(&c, "zstd");
    if (refusal) check_message(&c, refusal);
    if (strcmp(c.outcome, "reject") == 0 || refusal)
        check_refused_file(&c);
    else
        check_accepted_file(&c);
}

// --- the tests --------------------------------------------------------------------------------------------------------

static cJSON *read_expectations(void) {
    FILE *file = fopen(FOLDER "expected.json", "rb");
    if (!file) return NULL;
    static char text[1 << 20];
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    cJSON *all = cJSON_ParseWithLength(text, n);
    cr_assert(all, "expected.json is not JSON");
    return all;
}

static bool is_ours(const cJSON *expected) {
    const char *format = text_of(expected, "format");
    return strcmp(format, "mooncake") == 0 || strcmp(format, "azure") == 0;
}

Test(hard_inputs, every_mooncake_and_azure_file_gets_its_documented_outcome) {
    cJSON *all = read_expectations();
    if (!all) cr_skip_test("SKIPPED: " FOLDER " is not here");
    size_t n = 0;
    const cJSON *expected;
    cJSON_ArrayForEach(expected, all) {
        if (!is_ours(expected)) continue;
        check_file(expected);
        n++;
    }
    cr_expect_geq(n, 30, "only %zu files were tried", n);
    cJSON_Delete(all);
}

Test(hard_inputs, auto_decides_as_the_table_says) {
    cJSON *all = read_expectations();
    if (!all) cr_skip_test("SKIPPED: " FOLDER " is not here");
    const cJSON *expected;
    cJSON_ArrayForEach(expected, all) {
        hard_case c = { .name = expected->string, .settings = trace_settings() };
        snprintf(c.path, sizeof c.path, "%s%s", FOLDER, c.name);
        c.settings.path = c.path;
        c.settings.limit = 1;
        c.settings.on_bad_record = SIM_BAD_RECORD_SKIP;
        sim_error error;
        sim_workload *workload = load(&c, &c.settings, &error);
        if (!workload) continue;
        // mooncake-delta cannot be told from mooncake by its first row.
        const char *wanted =
            strcmp(text_of(expected, "format"), "mooncake-delta") ? text_of(expected, "format") : "mooncake";
        cr_expect_str_eq(workload->format_name, wanted, "%s taken for %s", c.name, workload->format_name);
        cr_expect(has_text(workload->notes, workload->n_notes, wanted), "%s: decided in silence", c.name);
        sim_workload_free(workload);
    }
    cJSON_Delete(all);
}

Test(hard_inputs, block_16_ids_read_with_512_are_refused) {
    if (access(FOLDER "15_block16_read_as_512.jsonl", R_OK)) cr_skip_test("SKIPPED: " FOLDER " is not here");
    hard_case c = { .name = "15", .path = FOLDER "15_block16_read_as_512.jsonl", .settings = trace_settings() };
    c.settings.path = c.path;
    c.settings.format = name_index(sim_trace_format_names, "mooncake");
    expect_refused(&c, &c.settings, 1);
    check_message(&c, "3 hash ids for 40 tokens");
}

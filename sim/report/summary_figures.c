// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/summary_figures.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/growable.h"

enum { SUMMARY_VERSION = 1, MAX_FILE_BYTES = 64 << 20 };

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

bool sim_summary_figures_add(sim_summary_figures *figures, const char *key, double value) {
    sim_summary_figure *items = sim_grown(figures->items, &figures->capacity, figures->n + 1, sizeof *items);
    if (!items) return false;
    figures->items = items;
    sim_summary_figure *made = &items[figures->n++];
    made->value = value;
    snprintf(made->key, sizeof made->key, "%s", key);
    return true;
}

bool sim_summary_figures_find(const sim_summary_figures *figures, const char *key, double *value) {
    for (size_t i = 0; i < figures->n; i++) {
        if (strcmp(figures->items[i].key, key) != 0) continue;
        *value = figures->items[i].value;
        return true;
    }
    return false;
}

void sim_summary_figures_clear(sim_summary_figures *figures) {
    free(figures->items);
    *figures = (sim_summary_figures){ .items = NULL };
}

static sim_status check_head(const cJSON *root, const char *name, sim_error *error) {
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(root, "schema"),
                *version = cJSON_GetObjectItemCaseSensitive(root, "version");
    if (!cJSON_IsString(schema) || strcmp(schema->valuestring, "forepass.summary") != 0)
        return sim_error_set(error, SIM_BAD_DATA, name, 0,
                             "this is no summary of forepass replay (its schema would be \"forepass.summary\")");
    if (!cJSON_IsNumber(version) || version->valuedouble != SUMMARY_VERSION)
        return sim_error_set(error, SIM_BAD_DATA, name, 0,
                             "the summary is of version %.6g (this forepass reads version %d: replay the run again)",
                             cJSON_IsNumber(version) ? version->valuedouble : 0.0, SUMMARY_VERSION);
    return SIM_OK;
}

// Cost of the simulator and the head are no figures of the run.
static bool is_figure(const cJSON *item) {
    return cJSON_IsNumber(item) && item->string && strcmp(item->string, "version") != 0 &&
           strcmp(item->string, "wall_time_ms") != 0;
}

static sim_status take_figures(sim_summary_figures *figures, const cJSON *root, sim_error *error) {
    figures->is_interrupted = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "interrupted"));
    for (const cJSON *item = root->child; item; item = item->next)
        if (is_figure(item) && !sim_summary_figures_add(figures, item->string, item->valuedouble))
            return no_memory(error);
    return SIM_OK;
}

static int64_t line_of(const char *text, const char *at) {
    int64_t line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

sim_status sim_summary_figures_parse(sim_summary_figures *figures, const char *text, size_t n_bytes, const char *name,
                                     sim_error *error) {
    *figures = (sim_summary_figures){ .items = NULL };
    const char *end = text;
    cJSON *root = cJSON_ParseWithLengthOpts(text, n_bytes, &end, false);
    if (!cJSON_IsObject(root)) {
        const int64_t line = root || !end ? 1 : line_of(text, end < text + n_bytes ? end : text + n_bytes);
        cJSON_Delete(root);
        return sim_error_set(error, SIM_BAD_DATA, name, line, "this is no JSON object (is the file cut short?)");
    }
    sim_status status = check_head(root, name, error);
    if (!status) status = take_figures(figures, root, error);
    cJSON_Delete(root);
    if (status) sim_summary_figures_clear(figures);
    return status;
}

static sim_status read_file(const char *path, char **text, size_t *n_bytes, sim_error *error) {
    FILE *in = fopen(path, "r");
    if (!in) return sim_error_set(error, SIM_IO, path, 0, "the file cannot be read: %s", strerror(errno));
    size_t capacity = 0, n = 0;
    *text = NULL;
    for (;;) {
        char *larger = sim_grown(*text, &capacity, n + 4096, 1);
        if (!larger) break;
        *text = larger;
        const size_t got = fread(larger + n, 1, capacity - n, in);
        if (got == 0) break;
        n += got;
        if (n > MAX_FILE_BYTES) break;
    }
    const bool is_broken = ferror(in) != 0, is_whole = feof(in) != 0;
    fclose(in);
    *n_bytes = n;
    if (is_whole && !is_broken) return SIM_OK;
    free(*text);
    if (is_broken) return sim_error_set(error, SIM_IO, path, 0, "the file cannot be read");
    return n > MAX_FILE_BYTES ? sim_error_set(error, SIM_BAD_DATA, path, 0, "the file is too long for a summary")
                              : no_memory(error);
}

sim_status sim_summary_figures_read(sim_summary_figures *figures, const char *path, sim_error *error) {
    char *text = NULL;
    size_t n_bytes = 0;
    sim_status status = read_file(path, &text, &n_bytes, error);
    if (status) return status;
    status = sim_summary_figures_parse(figures, text, n_bytes, path, error);
    free(text);
    return status;
}

sim_status sim_summary_figures_of(sim_summary_figures *figures, const sim_summary *summary, sim_error *error) {
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    if (!out) return no_memory(error);
    sim_status status = sim_summary_write_json(summary, out, error);
    if (fclose(out) != 0 && !status) status = no_memory(error);
    if (!status) status = sim_summary_figures_parse(figures, text, n_bytes, "summary", error);
    free(text);
    return status;
}

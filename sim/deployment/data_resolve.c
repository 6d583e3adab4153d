// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/data_resolve.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/deployment/model_file.h"

// What the configuration can only have made absolute because it showed itself as a path.
static bool is_path(const char *name) { return name[0] == '/'; }

static sim_status take_path(const sim_config *config, const char *section, const char *name,
                            char path[SIM_DATA_PATH_BYTES], sim_error *error) {
    if (snprintf(path, SIM_DATA_PATH_BYTES, "%s", name) >= SIM_DATA_PATH_BYTES)
        return sim_config_contradiction(config, error, section, "name", "%s.name: the path is too long", section);
    if (access(path, R_OK) == 0) return SIM_OK;
    return sim_config_contradiction(config, error, section, "name", "%s.name: %.300s cannot be read: %s", section, path,
                                    strerror(errno));
}

// Checkpoints are called ORGANISATION/Name, our files after the name, in small letters.
static void simplify(const char *name, char simple[FPM_NAME_BYTES]) {
    const char *slash = strrchr(name, '/');
    snprintf(simple, FPM_NAME_BYTES, "%s", slash ? slash + 1 : name);
    for (char *c = simple; *c; c++) *c = (char)tolower((unsigned char)*c);
}

// Names that begin with what was written, "h100_pcie, h100_sxm"; "" when there are none.
static void list_completions(const sim_data_list *list, const char *simple, char *text, size_t n_bytes) {
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->n_files && at < n_bytes; i++) {
        if (strncmp(list->files[i].name, simple, strlen(simple)) != 0) continue;
        const int n = snprintf(text + at, n_bytes - at, "%s%s", at ? ", " : "", list->files[i].name);
        at += n > 0 ? (size_t)n : 0;
    }
}

static sim_status unknown_name(const sim_config *config, const char *section, const char *what, const char *name,
                               const sim_data_list *list, sim_error *error) {
    const char **names = calloc(list->n_files + 1, sizeof *names);
    if (!names) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (size_t i = 0; i < list->n_files; i++) names[i] = list->files[i].name;
    char simple[FPM_NAME_BYTES];
    simplify(name, simple);
    const char *nearest = sim_nearest_name(simple, names, list->n_files);
    char completions[200];
    list_completions(list, simple, completions, sizeof completions);
    if (*completions) nearest = completions;
    sim_status status =
        nearest
            ? sim_config_contradiction(config, error, section, "name", "unknown %s %.100s (did you mean %s?)", what,
                                       name, nearest)
            : sim_config_contradiction(config, error, section, "name",
                                       "unknown %s %.100s (see forepass list %ss; a path begins with / or . or ends "
                                       "in .ini or .json)",
                                       what, name, what);
    free(names);
    return status;
}

// A file that cannot be read is passed over: it is not the one that was asked for, as far as anybody can tell.
static const char *find_published(const sim_data_list *list, const char *name) {
    for (size_t i = 0; i < list->n_files; i++) {
        sim_model_file file;
        if (sim_model_file_load(&file, list->files[i].path, NULL) == SIM_OK && sim_model_file_publishes(&file, name))
            return list->files[i].path;
    }
    return NULL;
}

sim_status sim_model_resolve(const sim_config *config, const char *dir, const char *name,
                             char path[SIM_DATA_PATH_BYTES], sim_error *error) {
    if (is_path(name)) return take_path(config, "model", name, path, error);
    if (sim_data_find(dir, "models", name, path)) return SIM_OK;
    sim_data_list list;
    sim_status status = sim_data_list_read(&list, dir, "models", error);
    if (!status) {
        const char *found = find_published(&list, name);
        if (found)
            snprintf(path, SIM_DATA_PATH_BYTES, "%s", found);
        else
            status = unknown_name(config, "model", "model", name, &list, error);
    }
    sim_data_list_clear(&list);
    return status;
}

sim_status sim_system_resolve(const sim_config *config, const char *dir, const char *name,
                              char path[SIM_DATA_PATH_BYTES], sim_error *error) {
    if (is_path(name)) return take_path(config, "system", name, path, error);
    if (sim_data_find(dir, "systems", name, path)) return SIM_OK;
    sim_data_list list;
    sim_status status = sim_data_list_read(&list, dir, "systems", error);
    if (!status) status = unknown_name(config, "system", "system", name, &list, error);
    sim_data_list_clear(&list);
    return status;
}

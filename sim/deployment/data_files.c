// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/data_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { N_PLACES = 4, MAX_DATA_BYTES = 4 << 20 };

static const sim_key data_keys[] = {
    { .name = "dir",
      .type = SIM_KEY_PATH,
      .offset = offsetof(sim_data_config, dir),
      .default_text = "",
      .help = "where models/NAME.ini, systems/NAME.ini and operators/NAME.ini are looked for first (--data-dir)" },
};
const sim_key_table sim_data_keys = { "data", "where named models and systems are", data_keys, 1 };

static void list_places(const char *dir, const char *places[N_PLACES]) {
    const char *environment = getenv("FOREPASS_DATA");
    places[0] = dir;
    places[1] = environment ? environment : "";
    places[2] = FOREPASS_INSTALLED_DATA;
    places[3] = FOREPASS_SOURCE_DATA;
}

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

bool sim_data_find(const char *dir, const char *kind, const char *name, char path[SIM_DATA_PATH_BYTES]) {
    if (!*name || strchr(name, '/') || strlen(name) >= FPM_NAME_BYTES) return false;
    const char *places[N_PLACES];
    list_places(dir, places);
    for (int i = 0; i < N_PLACES; i++) {
        if (!*places[i]) continue;
        const int n = snprintf(path, SIM_DATA_PATH_BYTES, "%s/%s/%s.ini", places[i], kind, name);
        if (n > 0 && n < SIM_DATA_PATH_BYTES && is_file(path)) return true;
    }
    return false;
}

// ---------------------------------------------------------------------------------------------------------------------
// All names
// ---------------------------------------------------------------------------------------------------------------------

static bool has_name(const sim_data_list *list, const char *name) {
    for (size_t i = 0; i < list->n_files; i++)
        if (strcmp(list->files[i].name, name) == 0) return true;
    return false;
}

static bool add_file(sim_data_list *list, const char *directory, const char *file_name) {
    sim_data_file file;
    const size_t n = strlen(file_name), n_end = strlen(".ini");
    if (n <= n_end || n - n_end >= sizeof file.name || strcmp(file_name + n - n_end, ".ini") != 0) return true;
    memcpy(file.name, file_name, n - n_end);
    file.name[n - n_end] = '\0';
    const int length = snprintf(file.path, sizeof file.path, "%s/%s", directory, file_name);
    if (length < 0 || length >= (int)sizeof file.path || has_name(list, file.name) || !is_file(file.path)) return true;
    sim_data_file *files = realloc(list->files, (list->n_files + 1) * sizeof *files);
    if (!files) return false;
    list->files = files;
    files[list->n_files++] = file;
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const sim_data_file *)a)->name, ((const sim_data_file *)b)->name);
}

sim_status sim_data_list_read(sim_data_list *list, const char *dir, const char *kind, sim_error *error) {
    *list = (sim_data_list){ 0 };
    const char *places[N_PLACES];
    list_places(dir, places);
    bool is_well = true;
    for (int i = 0; i < N_PLACES && is_well; i++) {
        char directory[SIM_DATA_PATH_BYTES];
        const int n = snprintf(directory, sizeof directory, "%s/%s", places[i], kind);
        DIR *open_directory = *places[i] && n > 0 && n < (int)sizeof directory ? opendir(directory) : NULL;
        if (!open_directory) continue;
        for (const struct dirent *entry = readdir(open_directory); entry && is_well; entry = readdir(open_directory))
            is_well = add_file(list, directory, entry->d_name);
        closedir(open_directory);
    }
    if (!is_well) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (list->n_files > 0) qsort(list->files, list->n_files, sizeof *list->files, by_name);
    return SIM_OK;
}

void sim_data_list_clear(sim_data_list *list) {
    free(list->files);
    *list = (sim_data_list){ 0 };
}

// ---------------------------------------------------------------------------------------------------------------------
// One file
// ---------------------------------------------------------------------------------------------------------------------

static char *read_all(FILE *in, size_t *n_bytes) {
    size_t capacity = 1 << 12, n = 0;
    char *text = malloc(capacity + 1);
    while (text) {
        n += fread(text + n, 1, capacity - n, in);
        if (n < capacity) break;
        if (capacity >= MAX_DATA_BYTES) {
            free(text);
            errno = EFBIG;
            return NULL;
        }
        char *larger = realloc(text, 2 * capacity + 1);
        if (!larger) free(text);
        text = larger;
        capacity *= 2;
    }
    if (text && ferror(in)) {
        const int why = errno;
        free(text);
        errno = why;
        return NULL;
    }
    if (text) text[n] = '\0';
    *n_bytes = n;
    return text;
}

sim_status sim_data_read(const char *path, char **text, size_t *n_bytes, sim_error *error) {
    FILE *in = fopen(path, "rbe");
    *text = NULL;
    errno = in ? 0 : errno;
    if (in) *text = read_all(in, n_bytes);
    const int why = errno;
    if (in) fclose(in);
    if (*text) return SIM_OK;
    if (why == ENOMEM) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    return sim_error_set(error, SIM_USAGE, path, 0, "the file cannot be read: %s", strerror(why));
}

void sim_data_name(const char *path, char name[FPM_NAME_BYTES]) {
    const char *end = path + strlen(path), *slash = strrchr(path, '/');
    const char *begin = slash ? slash + 1 : path;
    if (strcmp(begin, "config.json") == 0 && slash && slash > path) {
        end = slash;
        for (begin = slash; begin > path && begin[-1] != '/';) begin--;
    } else if (strlen(begin) > 4 && strcmp(end - 4, ".ini") == 0) {
        end -= 4;
    } else if (strlen(begin) > 5 && strcmp(end - 5, ".json") == 0) {
        end -= 5;
    }
    snprintf(name, FPM_NAME_BYTES, "%.*s", (int)(end - begin), begin);
    if (!*name) snprintf(name, FPM_NAME_BYTES, "model");
}

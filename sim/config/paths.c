// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/config/paths.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *join(const char *directory, size_t n_directory, const char *path) {
    const size_t n_path = strlen(path) + 1; // with its end
    char *joined = malloc(n_directory + 1 + n_path);
    if (!joined) return NULL;
    memcpy(joined, directory, n_directory);
    size_t at = n_directory;
    if (at && joined[at - 1] != '/') joined[at++] = '/';
    memcpy(joined + at, path, n_path);
    return joined;
}

char *sim_path_beside(const char *from_file, const char *path) {
    const char *slash = strrchr(from_file, '/');
    if (!slash || path[0] == '/') return strdup(path);
    return join(from_file, (size_t)(slash - from_file) + 1, path);
}

static bool ends_in(const char *text, const char *end) {
    const size_t n = strlen(text), n_end = strlen(end);
    return n > n_end && strcmp(text + n - n_end, end) == 0;
}

bool sim_path_shows(const char *text) {
    return text[0] == '/' || text[0] == '.' || ends_in(text, ".ini") || ends_in(text, ".json");
}

// The absolute directory of `file`, without links.
static char *directory_of(const char *file) {
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (!slash) return realpath(".", NULL);
    char *directory = strndup(file, (size_t)(slash - file) + 1);
    if (!directory) return NULL;
    char *resolved = realpath(directory, NULL);
    free(directory);
    return resolved;
}

static size_t without_last_part(const char *directory, size_t n) {
    while (n > 1 && directory[n - 1] != '/') n--;
    return n > 1 ? n - 1 : n; // the slash too, but "/" stays
}

char *sim_path_absolute(const char *from_file, const char *path) {
    if (path[0] == '/' || path[0] == '\0' || strcmp(path, "-") == 0) return strdup(path);
    char *directory = directory_of(from_file);
    if (!directory) return NULL;
    size_t n = strlen(directory);
    for (;;) {
        const size_t n_part = strcspn(path, "/");
        if (n_part == 2 && memcmp(path, "..", 2) == 0) {
            n = without_last_part(directory, n);
        } else if (!(n_part == 1 && path[0] == '.')) {
            break;
        }
        path += n_part;
        path += strspn(path, "/");
    }
    char *absolute = join(directory, n, path);
    free(directory);
    return absolute;
}

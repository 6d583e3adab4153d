// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/output_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 16 };

struct sim_output_file {
    char *final_path, *temporary_path;
    FILE *stream;
    bool is_renamed;
};

struct sim_output_dir {
    char *path;
    bool was_made;
    sim_output_file files[MAX_FILES];
    size_t n_files;
    bool is_committed;
    const char *const *known_names;
};

static sim_status io_error(sim_error *error, const char *path, const char *what) {
    return sim_error_set(error, SIM_IO, path, 0, "%s: %s", what, strerror(errno));
}

// mkdir -p. *was_made: the last component is new.
static sim_status make_directories(const char *path, bool *was_made, sim_error *error) {
    char *partial = strdup(path);
    if (!partial) return sim_error_set(error, SIM_NO_MEMORY, path, 0, "out of memory");
    sim_status status = SIM_OK;
    for (char *at = partial + 1; !status; at++) {
        if (*at != '/' && *at != '\0') continue;
        char saved = *at;
        *at = '\0';
        *was_made = mkdir(partial, 0777) == 0;
        if (!*was_made && errno != EEXIST) status = io_error(error, path, "the output directory cannot be made");
        *at = saved;
        if (saved == '\0') break;
    }
    free(partial);
    return status;
}

static sim_status check_content(const char *path, bool overwrite, sim_error *error) {
    DIR *directory = opendir(path);
    if (!directory) return io_error(error, path, "the output directory cannot be read");
    const struct dirent *entry;
    sim_status status = SIM_OK;
    while (!status && !overwrite && (entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = sim_error_set(error, SIM_USAGE, path, 0,
                                   "the output directory is not empty (name another one, or give --overwrite)");
    closedir(directory);
    return status;
}

sim_status sim_output_dir_open(sim_output_dir **dir, const char *path, bool overwrite, const char *const *known_names,
                               sim_error *error) {
    if (!*path) return sim_error_set(error, SIM_USAGE, NULL, 0, "-o needs the name of a directory");
    sim_output_dir *made = calloc(1, sizeof *made);
    if (!made || !(made->path = strdup(path))) {
        free(made);
        return sim_error_set(error, SIM_NO_MEMORY, path, 0, "out of memory");
    }
    made->known_names = known_names;
    made->is_committed = true; // nothing to take back yet
    sim_status status = make_directories(path, &made->was_made, error);
    if (!status && !made->was_made) status = check_content(path, overwrite, error);
    if (!status && access(path, W_OK | X_OK) != 0)
        status = io_error(error, path, "the output directory cannot be written");
    made->is_committed = false;
    if (status) {
        sim_output_dir_free(made);
        return status;
    }
    *dir = made;
    return SIM_OK;
}

sim_status sim_output_dir_create(sim_output_dir *dir, const char *name, sim_output_file **file, sim_error *error) {
    if (dir->n_files == MAX_FILES) return sim_error_set(error, SIM_INTERNAL, dir->path, 0, "too many output files");
    sim_output_file *made = &dir->files[dir->n_files];
    *made = (sim_output_file){ .stream = NULL };
    if (asprintf(&made->final_path, "%s/%s", dir->path, name) < 0) made->final_path = NULL;
    if (asprintf(&made->temporary_path, "%s/.%s.%ld.tmp", dir->path, name, (long)getpid()) < 0)
        made->temporary_path = NULL;
    dir->n_files++;
    if (!made->final_path || !made->temporary_path)
        return sim_error_set(error, SIM_NO_MEMORY, dir->path, 0, "out of memory");
    made->stream = fopen(made->temporary_path, "w");
    if (!made->stream) return io_error(error, made->final_path, "the file cannot be written");
    *file = made;
    return SIM_OK;
}

FILE *sim_output_file_stream(sim_output_file *file) { return file->stream; }
const char *sim_output_file_path(const sim_output_file *file) { return file->final_path; }

static sim_status finish_writing(sim_output_file *file, sim_error *error) {
    bool is_whole = fflush(file->stream) == 0 && !ferror(file->stream) && fsync(fileno(file->stream)) == 0;
    int reason = errno;
    is_whole &= fclose(file->stream) == 0;
    file->stream = NULL;
    if (is_whole) return SIM_OK;
    errno = reason ? reason : EIO;
    return io_error(error, file->final_path, "the file could not be written to its end");
}

// What an earlier run left under a name of ours that this run does not write would be taken for this run's.
static void remove_stale(const sim_output_dir *dir) {
    for (size_t n = 0; dir->known_names && dir->known_names[n]; n++) {
        bool is_written = false;
        for (size_t i = 0; i < dir->n_files; i++) {
            const char *name = strrchr(dir->files[i].final_path, '/') + 1;
            is_written |= strcmp(name, dir->known_names[n]) == 0;
        }
        char *path;
        if (is_written || asprintf(&path, "%s/%s", dir->path, dir->known_names[n]) < 0) continue;
        unlink(path);
        free(path);
    }
}

sim_status sim_output_dir_commit(sim_output_dir *dir, sim_error *error) {
    for (size_t i = 0; i < dir->n_files; i++) {
        sim_status status = finish_writing(&dir->files[i], error);
        if (status) return status;
    }
    for (size_t i = 0; i < dir->n_files; i++) {
        if (rename(dir->files[i].temporary_path, dir->files[i].final_path) != 0)
            return io_error(error, dir->files[i].final_path, "the file cannot get its final name");
        dir->files[i].is_renamed = true;
    }
    dir->is_committed = true;
    remove_stale(dir);
    return SIM_OK;
}

static void take_back(sim_output_dir *dir) {
    for (size_t i = 0; i < dir->n_files; i++) {
        const sim_output_file *file = &dir->files[i];
        if (file->is_renamed)
            unlink(file->final_path);
        else if (file->temporary_path)
            unlink(file->temporary_path);
    }
    if (dir->was_made) rmdir(dir->path);
}

void sim_output_dir_free(sim_output_dir *dir) {
    if (!dir) return;
    for (size_t i = 0; i < dir->n_files; i++)
        if (dir->files[i].stream) fclose(dir->files[i].stream);
    if (!dir->is_committed) take_back(dir);
    for (size_t i = 0; i < dir->n_files; i++) {
        free(dir->files[i].final_path);
        free(dir->files[i].temporary_path);
    }
    free(dir->path);
    free(dir);
}

bool sim_output_is_input(const char *output_path, const char *input_path) {
    struct stat output, input;
    return stat(output_path, &output) == 0 && stat(input_path, &input) == 0 && output.st_dev == input.st_dev &&
           output.st_ino == input.st_ino;
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// The directory given by -o. Files are written under temporary names and get their final ones together, when all are complete and on disk;
// when anything fails none is left behind, nor is a directory that was made for them.
#ifndef SIM_REPORT_OUTPUT_DIR_H
#define SIM_REPORT_OUTPUT_DIR_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/config/error.h"

typedef struct sim_output_dir sim_output_dir;
typedef struct sim_output_file sim_output_file;

// Make the directory (and its parents). SIM_USAGE: it has something in it and `overwrite` is false; SIM_IO: it cannot be made or written.
// `known_names` (NULL-terminated, may be NULL) are files that a commit removes unless this run wrote them.
sim_status sim_output_dir_open(sim_output_dir **dir, const char *path, bool overwrite, const char *const *known_names,
                               sim_error *error);

// Begin a file. It belongs to the directory and lives as long.
sim_status sim_output_dir_create(sim_output_dir *dir, const char *name, sim_output_file **file, sim_error *error);
FILE *sim_output_file_stream(sim_output_file *file);
const char *sim_output_file_path(const sim_output_file *file); // the final one

// Flush, sync and rename all files. On failure none keeps its final name. Short writes and full disks are SIM_IO.
sim_status sim_output_dir_commit(sim_output_dir *dir, sim_error *error);
// Without a commit before: remove what was begun.
void sim_output_dir_free(sim_output_dir *dir);

// Do two paths lead to one file that is there? What a command reads must not be what it writes.
bool sim_output_is_input(const char *output_path, const char *input_path);

#endif

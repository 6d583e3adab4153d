// SPDX-License-Identifier: GPL-3.0-or-later
//
// Named data: NAME stands for DIR/KIND/NAME.ini in the first of these directories that has it: the one the user names (data.dir, --data-dir),
// $FOREPASS_DATA, the installed share directory, the source tree of the build (interface.md).
#ifndef SIM_DEPLOYMENT_DATA_FILES_H
#define SIM_DEPLOYMENT_DATA_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "perfmodel/native/native.h"
#include "sim/config/config.h"

#define SIM_DATA_PATH_BYTES 1024

typedef struct sim_data_config { // section [data]
    const char *dir;             // "" = none
} sim_data_config;
extern const sim_key_table sim_data_keys;

typedef struct sim_data_file {
    char name[FPM_NAME_BYTES];
    char path[SIM_DATA_PATH_BYTES];
} sim_data_file;

typedef struct sim_data_list {
    sim_data_file *files; // by name
    size_t n_files;
} sim_data_list;

// Does DIR/KIND/NAME.ini exist? The first one into `path`. `dir` may be "". Names with a slash or of FPM_NAME_BYTES or more never do.
bool sim_data_find(const char *dir, const char *kind, const char *name, char path[SIM_DATA_PATH_BYTES]);

// Every name of a kind, once, with the file it stands for. SIM_NO_MEMORY. The list goes with sim_data_list_clear, also after an error.
sim_status sim_data_list_read(sim_data_list *list, const char *dir, const char *kind, sim_error *error);
void sim_data_list_clear(sim_data_list *list);

// A whole file of at most 4 MiB; *text is the caller's and ends in NUL beyond its n bytes. SIM_USAGE with the reason: a configuration names it.
sim_status sim_data_read(const char *path, char **text, size_t *n_bytes, sim_error *error);

// The name a path gives to what is in it: its last part without .ini or .json, or, for DIR/config.json, that of DIR. Cut to fit.
void sim_data_name(const char *path, char name[FPM_NAME_BYTES]);

#endif

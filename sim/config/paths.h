// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: what a path in a configuration is relative to.
#ifndef SIM_CONFIG_PATHS_H
#define SIM_CONFIG_PATHS_H

#include <stdbool.h>

// `path` as seen from the directory of `from_file`, as short as it was written: for opening and for messages. NULL: no memory.
char *sim_path_beside(const char *from_file, const char *path);

// `path` made absolute, relative to the directory of `from_file` (NULL: the working directory). "" and "-" stay. The directory
// is resolved first, so leading `..` of `path` can be taken away without asking the file system; the file need not exist.
// NULL: no memory, or the directory is gone (errno).
char *sim_path_absolute(const char *from_file, const char *path);

// Does `text`, where a name may stand as well, show that it is a path: does it begin with / or . or end in .ini or .json?
bool sim_path_shows(const char *text);

#endif

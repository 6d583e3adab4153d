// SPDX-License-Identifier: GPL-3.0-or-later
//
// One configuration: what a file (with its includes) and the command line say, checked against the joined key tables.
//
// inih does the parsing, behind a reader that counts lines and refuses what inih would mangle (lines of 200 bytes or more,
// indented continuation lines, text outside any key; style.md "Traps"). Every value remembers where it came from, so that a room
// that finds a contradiction can name file and line.
#ifndef SIM_CONFIG_CONFIG_H
#define SIM_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/config/error.h"
#include "sim/config/keys.h"

typedef struct sim_config sim_config;

// The tables must outlive the configuration. Defaults are in force until something is loaded or set. SIM_INTERNAL: a table that
// contradicts itself (a default that is no value of its key, a key declared twice).
sim_status sim_config_new(sim_config **config, const sim_key_table *const *tables, size_t n_tables, sim_error *error);
void sim_config_free(sim_config *config);

// Read a file ("-": standard input) and what it includes. A missing file, an unknown section or key (the nearest known one
// is suggested), a duplicate inside one file, a malformed or out-of-range value: SIM_USAGE with file and line. An included file's
// keys are overridden by those of the file that includes it; of several includes the later one wins. Relative paths are relative
// to the file that has them, those from standard input to the working directory.
sim_status sim_config_load(sim_config *config, const char *path, sim_error *error);

// The same from memory (tests, fuzzing); `name` stands in messages. Paths are relative to the working directory, `include` is refused.
sim_status sim_config_load_text(sim_config *config, const char *text, size_t n_bytes, const char *name,
                                sim_error *error);

// One `section.key=value` of the command line; the last one wins and beats every file. The section is the longest known
// section name in front. Paths are relative to the working directory. Errors are placed at file "--set SECTION.KEY", line 0.
sim_status sim_config_set(sim_config *config, const char *assignment, sim_error *error);

// A configuration of its own with the values of `from`, which must outlive it (places in messages point there). A table of runs copies the part
// its rows share. SIM_NO_MEMORY.
sim_status sim_config_copy(sim_config **config, const sim_config *from, sim_error *error);

// One value of a table of runs: `name` is section.key as in --set, a relative path is relative to `file`, which with `line` is the place in messages and
// must outlive the configuration. Beats files, but not --set; a value that --set hides must be sound all the same.
sim_status sim_config_set_at(sim_config *config, const char *name, const char *value, const char *file, int64_t line,
                             sim_error *error);

// Is there a key of this name (section.key)? Otherwise SIM_BAD_DATA at file and line, with the nearest known name.
sim_status sim_config_check_name(const sim_config *config, const char *name, const char *file, int64_t line,
                                 sim_error *error);

// Fill a room's struct from the values of its table. Cannot fail: values were checked when they came, defaults when the tables
// were joined. Texts and paths belong to the configuration.
void sim_config_fill(const sim_config *config, const sim_key_table *table, void *out);

// True when a file or --set gave the key, i.e. it does not merely stand at its default.
bool sim_config_is_given(const sim_config *config, const char *section, const char *key);

// True when --set gave the key (section.key): what rows of a table or points of a sweep say is hidden by it.
bool sim_config_is_fixed(const sim_config *config, const char *name);

// What an open section says beyond its keys (keys.h), in the order of first appearance.
typedef struct sim_open_value {
    const char *section, *name, *text;
    const char *file; // with line, its place in messages; a relative path in it is relative to `file`
    int64_t line;     // 0: --set
} sim_open_value;
size_t sim_config_n_open(const sim_config *config, const char *section);
sim_open_value sim_config_open(const sim_config *config, const char *section, size_t index);

// A contradiction found after parsing: fill `error` with SIM_USAGE at the place where the key was given (or without a place when
// it stands at its default) and return it.
sim_status sim_config_contradiction(const sim_config *config, sim_error *error, const char *section, const char *key,
                                    const char *format, ...) __attribute__((format(printf, 5, 6)));

// Print the whole configuration, defaults included, as an INI file that gives the same configuration when loaded. Values that were
// given stand as they were written (paths absolute). False on a write
// error.
bool sim_config_write(const sim_config *config, FILE *out);

// Every key of a table, given or at its default, spelled by what it means rather than as it was written: 1Ki is 1024, 0.5s is 500000000ns; equal
// configurations visit equal texts. Paths stand as they are, absolute. Calls back in the order of the table; `spelled` is the callback's for the call.
typedef void sim_config_visitor(void *self, const char *section, const sim_key *key, const char *spelled);
void sim_config_visit(const sim_config *config, const sim_key_table *table, sim_config_visitor *visit, void *self);
#define SIM_CANONICAL_BYTES 4352 // of a spelled value; longer texts are cut
// The same for one key by its name, section.key. NULL: there is none of that name.
const sim_key *sim_config_spell(const sim_config *config, const char *name, char spelled[SIM_CANONICAL_BYTES]);

// Print every key of the tables: section.key, type, default, unit, range or choices, one line of help.
bool sim_config_write_keys(const sim_key_table *const *tables, size_t n_tables, FILE *out);

// Nearest of `n` names by edit distance, or NULL when none is near enough to be a slip. For suggestions elsewhere (commands,
// options, formats).
const char *sim_nearest_name(const char *name, const char *const *names, size_t n);

// Durations, sizes and numbers as the configuration reads them, for command-line options. NULL when well, else a hint.
const char *sim_parse_duration(const char *text, bool bare_is_ms, int64_t *ns);
const char *sim_parse_size(const char *text, int64_t *value);
const char *sim_parse_real(const char *text, double *value);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the commands of the program share: the options, the error line, the table of commands. One small file per command (cmd_*.c); only
// cli/ prints and exits.
#ifndef SIM_CLI_COMMAND_H
#define SIM_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/config/config.h"

typedef enum sim_progress_mode { SIM_PROGRESS_AUTO, SIM_PROGRESS_ALWAYS, SIM_PROGRESS_NEVER } sim_progress_mode;

// Which options a command takes; every other one is an error that names the command.
enum {
    SIM_OPT_SET = 1 << 0,         // --set section.key=value
    SIM_OPT_OUTPUT = 1 << 1,      // -o/--output DIR, --overwrite
    SIM_OPT_FORMAT = 1 << 2,      // --format table|json
    SIM_OPT_QUIET = 1 << 3,       // -q/--quiet
    SIM_OPT_PROGRESS = 1 << 4,    // --progress auto|always|never
    SIM_OPT_SEED = 1 << 5,        // --seed N
    SIM_OPT_RECORDS = 1 << 6,     // --requests, --fpm
    SIM_OPT_JOBS = 1 << 8,        // -j/--jobs N
    SIM_OPT_ACCURACY = 1 << 9,    // --config, --group-by, --filter, --worst, --calibrate
    SIM_OPT_DATA = 1 << 10,       // --data-dir DIR
    SIM_OPT_DEPLOYMENT = 1 << 11, // --model, --system, --tensor, ...: short for keys
    SIM_OPT_PAIRED = 1 << 12,     // --paired
    SIM_OPT_TUNE = 1 << 13,       // --save, --load, --holdout, --compare
    SIM_OPT_ESTIMATOR = 1 << 14,  // --estimator, --pricing, --capacity-tokens
    SIM_OPT_COMPARE = 1 << 20,    // --against, --filter
    SIM_OPT_SWEEP = 1 << 15,      // --resume, --dry-run, --shard, --export
    SIM_OPT_ESTIMATE = 1 << 7     // --state, --prefill-tokens, ...
};

// An option that is short for --set KEY=VALUE.
typedef struct sim_short {
    const char *option; // without the dashes
    const char *key, *value;
} sim_short;

typedef struct sim_cli {
    const char *command;
    char **arguments; // positional
    size_t n_arguments;
    char **sets;
    size_t n_sets;
    sim_short *shorts; // they come after the sets
    size_t n_shorts;
    const char *output; // NULL = none
    bool overwrite;
    bool json;
    bool quiet;
    sim_progress_mode progress;
    bool has_seed;
    uint64_t seed;
    bool wants_requests;
    bool is_paired;
    bool wants_fpm;
    const char *jobs;     // NULL = 1
    const char *data_dir; // NULL = none
    // estimate
    const char *estimator, *pricing, *capacity_tokens, *state;
    const char *prefill_tokens, *prefill_kv_tokens, *decode_requests, *decode_kv_tokens;
    bool wants_explanation;
    // tune
    const char *save, *load, *holdout;
    bool is_comparison;
    // compare
    const char *against;
    // sweep
    bool resume, is_dry_run;
    const char *shard, *export;
    // accuracy
    const char *config, *group_by, *worst, *calibrate, *curves;
    char **filters;
    size_t n_filters;
} sim_cli;

typedef struct sim_command {
    const char *name;
    const char *synopsis; // arguments, for usage lines
    const char *help;     // one line
    const char *details;  // shown by COMMAND --help, may be NULL
    unsigned options;     // SIM_OPT_*
    size_t min_arguments, max_arguments;
    sim_status (*run)(const sim_cli *cli, sim_error *error);
} sim_command;

extern const sim_command sim_cmd_replay, sim_cmd_accuracy, sim_cmd_estimate, sim_cmd_tune, sim_cmd_trace, sim_cmd_list,
    sim_cmd_check, sim_cmd_compare, sim_cmd_sweep, sim_cmd_plan, sim_cmd_merge;

// The configuration a command works on: CONFIG (may be NULL: defaults only), then every --set, then --seed.
sim_status sim_cli_config(const sim_cli *cli, const char *path, sim_config **config, sim_error *error);
// --data-dir, which is short for data.dir.
sim_status sim_cli_set_data_dir(const sim_cli *cli, sim_config *config, sim_error *error);

#endif

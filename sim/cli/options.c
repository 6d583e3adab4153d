// SPDX-License-Identifier: GPL-3.0-or-later
//
// Not getopt_long: it accepts unique beginnings of names, which later options would make ambiguous, prints messages of its own,
// and would need a second table for help and for which command takes what.
#include "sim/cli/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum option_kind { IS_FLAG, IS_TEXT, IS_SHORT, IS_SET, IS_FILTER, IS_FORMAT, IS_PROGRESS, IS_SEED } option_kind;

typedef struct option {
    const char *name; // without the dashes
    char letter;      // '\0': none
    unsigned taken_by;
    option_kind kind;
    size_t offset;     // of sim_cli: FLAG a bool, TEXT a const char *
    const char *value; // how the value is called in --help; NULL: there is none
    const char *help;  // SHORT: the key
} option;

#define AT(field) offsetof(sim_cli, field)
static const option options[] = {
    { "set", '\0', SIM_OPT_SET, IS_SET, 0, "SECTION.KEY=VALUE",
      "override a key of the configuration; repeatable, the last one wins" },
    { "output", 'o', SIM_OPT_OUTPUT, IS_TEXT, AT(output), "DIR",
      "write the results there (created; refused when not empty)" },
    { "overwrite", '\0', SIM_OPT_OUTPUT, IS_FLAG, AT(overwrite), NULL, "let -o use a directory that is not empty" },
    { "requests", '\0', SIM_OPT_RECORDS, IS_FLAG, AT(wants_requests), NULL,
      "requests.csv: one row per request (needs -o)" },
    { "fpm", '\0', SIM_OPT_RECORDS, IS_FLAG, AT(wants_fpm), NULL, "fpm.jsonl: one row per rank and pass (needs -o)" },
    { "paired", '\0', SIM_OPT_PAIRED, IS_FLAG, AT(is_paired), NULL,
      "also run without tuning, and on the clock of the truth, and show the differences (needs a [truth])" },
    { "format", '\0', SIM_OPT_FORMAT, IS_FORMAT, 0, "table|json", "form of the result on standard output" },
    { "seed", '\0', SIM_OPT_SEED, IS_SEED, 0, "N", "root seed, instead of load.seed" },
    { "jobs", 'j', SIM_OPT_JOBS, IS_TEXT, AT(jobs), "N", "threads (1); the results are the same with any number" },
    { "data-dir", '\0', SIM_OPT_DATA, IS_TEXT, AT(data_dir), "DIR",
      "where models, systems and operators are looked for first" },
    { "model", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "NAME", "model.name" },
    { "system", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "NAME", "system.name" },
    { "tensor", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "N", "parallel.tensor" },
    { "pipeline", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "N", "parallel.pipeline" },
    { "data", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "N", "parallel.data" },
    { "expert", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "N", "parallel.expert" },
    { "moe-tensor", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "N", "parallel.moe_tensor" },
    { "backend", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "NAME", "engine.backend" },
    { "weights", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "FORMAT", "model.weights" },
    { "moe-weights", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "FORMAT", "model.moe_weights" },
    { "kv-cache", '\0', SIM_OPT_DEPLOYMENT, IS_SHORT, 0, "FORMAT", "model.kv_cache" },
    { "estimator", '\0', SIM_OPT_ESTIMATOR, IS_TEXT, AT(estimator), "NAME",
      "short for --set perfmodel.estimator=NAME" },
    { "pricing", '\0', SIM_OPT_ESTIMATOR, IS_TEXT, AT(pricing), "NAME", "short for --set perfmodel.pricing=NAME" },
    { "capacity-tokens", '\0', SIM_OPT_ESTIMATOR, IS_TEXT, AT(capacity_tokens), "N",
      "KV tokens of one rank: blocks x block size" },
    { "state", '\0', SIM_OPT_ESTIMATE, IS_TEXT, AT(state), "FILE", "what a model has learned, saved by the library" },
    { "prefill-tokens", '\0', SIM_OPT_ESTIMATE, IS_TEXT, AT(prefill_tokens), "N", "fresh prompt tokens of one batch" },
    { "prefill-kv-tokens", '\0', SIM_OPT_ESTIMATE, IS_TEXT, AT(prefill_kv_tokens), "N",
      "their tokens in the KV cache already" },
    { "decode-requests", '\0', SIM_OPT_ESTIMATE, IS_TEXT, AT(decode_requests), "N", "decoding requests of one batch" },
    { "decode-kv-tokens", '\0', SIM_OPT_ESTIMATE, IS_TEXT, AT(decode_kv_tokens), "N", "the sum of their contexts" },
    { "explain", '\0', SIM_OPT_ESTIMATE, IS_FLAG, AT(wants_explanation), NULL,
      "the batch operator by operator, instead of the number alone" },
    { "save", '\0', SIM_OPT_TUNE, IS_TEXT, AT(save), "FILE", "write what the model has learned" },
    { "load", '\0', SIM_OPT_TUNE, IS_TEXT, AT(load), "FILE", "go on from what a saved model has learned" },
    { "holdout", '\0', SIM_OPT_TUNE, IS_TEXT, AT(holdout), "SHARE",
      "estimate the last share of the passes (0.2: a fifth) without learning them" },
    { "compare", '\0', SIM_OPT_TUNE, IS_FLAG, AT(is_comparison), NULL,
      "all variants of perfmodel.correction and perfmodel.regression side by side" },
    { "resume", '\0', SIM_OPT_SWEEP, IS_FLAG, AT(resume), NULL,
      "go on in a directory that has results already: what is there is not run again" },
    { "dry-run", '\0', SIM_OPT_SWEEP, IS_FLAG, AT(is_dry_run), NULL,
      "print the points and an estimate of the time, after a few probes" },
    { "shard", '\0', SIM_OPT_SWEEP, IS_TEXT, AT(shard), "I/N",
      "run only every N-th point, the I-th of them first (forepass merge puts shards together)" },
    { "export", '\0', SIM_OPT_SWEEP, IS_TEXT, AT(export), "csv",
      "print the whole ranking as CSV; of a directory or sweep.db in place of CONFIG without running anything" },
    { "config", '\0', SIM_OPT_ACCURACY, IS_TEXT, AT(config), "BASE.ini", "what holds for every row, beneath the row" },
    { "group-by", '\0', SIM_OPT_ACCURACY, IS_TEXT, AT(group_by), "COLUMN,...",
      "errors per group of rows (model.name,system.name)" },
    { "filter", '\0', SIM_OPT_ACCURACY, IS_FILTER, 0, "COLUMN=VALUE", "only rows whose cell is VALUE; repeatable" },
    { "worst", '\0', SIM_OPT_ACCURACY, IS_TEXT, AT(worst), "N", "how many of the worst rows are listed (10)" },
    { "calibrate", '\0', SIM_OPT_ACCURACY, IS_TEXT, AT(calibrate), "OUT.ini",
      "fit the native model to the rows and write its constants" },
    { "curves", '\0', SIM_OPT_ACCURACY, IS_TEXT, AT(curves), "DIR|FILE",
      "operators: price with the curves of DIR/SYSTEM.ini, or all systems with those of FILE (those that are "
      "shipped)" },
    { "progress", '\0', SIM_OPT_PROGRESS, IS_PROGRESS, 0, "auto|always|never",
      "a bar on standard error; auto: when it is a terminal" },
    { "quiet", 'q', SIM_OPT_QUIET, IS_FLAG, AT(quiet), NULL, "no progress, no warnings" },
};
enum { N_OPTIONS = sizeof options / sizeof *options };

// ---------------------------------------------------------------------------------------------------------------------
// One option
// ---------------------------------------------------------------------------------------------------------------------

static sim_status refuse_value(const option *of, const char *value, sim_error *error) {
    return sim_error_set(error, SIM_USAGE, NULL, 0, "--%s: \"%s\" is not one of the choices (%s)", of->name, value,
                         of->value);
}

static sim_status take_seed(sim_cli *cli, const char *value, sim_error *error) {
    errno = 0;
    char *end = NULL;
    const unsigned long long seed = strtoull(value, &end, 10);
    // strtoull alone would take blanks and signs; the key behind it is a signed integer
    if (value[0] < '0' || value[0] > '9' || *end || errno || seed > INT64_MAX) {
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--seed: \"%s\" is not a seed (a whole number from 0 to %lld)",
                             value, (long long)INT64_MAX);
    }
    cli->has_seed = true;
    cli->seed = seed;
    return SIM_OK;
}

static sim_status take_progress(sim_cli *cli, const option *of, const char *value, sim_error *error) {
    static const char *const modes[] = { "auto", "always", "never" };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(value, modes[i]) != 0) continue;
        cli->progress = (sim_progress_mode)i;
        return SIM_OK;
    }
    return refuse_value(of, value, error);
}

static sim_status take_option(sim_cli *cli, const option *of, char *value, sim_error *error) {
    switch (of->kind) {
    case IS_FLAG:
        *(bool *)((char *)cli + of->offset) = true;
        return SIM_OK;
    case IS_TEXT:
        if (*value == '\0')
            return sim_error_set(error, SIM_USAGE, NULL, 0, "--%s needs a value (%s)", of->name, of->value);
        *(const char **)((char *)cli + of->offset) = value;
        return SIM_OK;
    case IS_SHORT:
        if (*value == '\0')
            return sim_error_set(error, SIM_USAGE, NULL, 0, "--%s needs a value (%s)", of->name, of->value);
        cli->shorts[cli->n_shorts++] = (sim_short){ of->name, of->help, value };
        return SIM_OK;
    case IS_SET:
        cli->sets[cli->n_sets++] = value;
        return SIM_OK;
    case IS_FILTER:
        cli->filters[cli->n_filters++] = value;
        return SIM_OK;
    case IS_FORMAT:
        cli->json = strcmp(value, "json") == 0;
        return cli->json || strcmp(value, "table") == 0 ? SIM_OK : refuse_value(of, value, error);
    case IS_PROGRESS:
        return take_progress(cli, of, value, error);
    case IS_SEED:
        return take_seed(cli, value, error);
    }
    return SIM_INTERNAL;
}

static sim_status unknown_option(const char *word, size_t n_name, sim_error *error) {
    const char *names[N_OPTIONS + 1];
    for (size_t i = 0; i < N_OPTIONS; i++) names[i] = options[i].name;
    names[N_OPTIONS] = "help";
    char name[80];
    snprintf(name, sizeof name, "%.*s", (int)n_name, word[1] == '-' ? word + 2 : word + 1);
    const char *nearest = word[1] == '-' ? sim_nearest_name(name, names, N_OPTIONS + 1) : NULL;
    if (nearest)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "unknown option --%s (did you mean --%s?)", name, nearest);
    return sim_error_set(error, SIM_USAGE, NULL, 0, "unknown option %s%s (see --help)", word[1] == '-' ? "--" : "-",
                         name);
}

static sim_status not_taken(const sim_command *command, const option *of, sim_error *error) {
    return sim_error_set(error, SIM_USAGE, NULL, 0, "%s does not take --%s (see forepass %s --help)", command->name,
                         of->name, command->name);
}

// ---------------------------------------------------------------------------------------------------------------------
// All words
// ---------------------------------------------------------------------------------------------------------------------

typedef struct parser {
    sim_cli *cli;
    const sim_command *command;
    char **words;
    size_t n_words, next;
    sim_error *error;
} parser;

static const option *find_long(const char *name, size_t n) {
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (strncmp(options[i].name, name, n) == 0 && options[i].name[n] == '\0') return &options[i];
    }
    return NULL;
}

static const option *find_letter(char letter) {
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (options[i].letter == letter) return &options[i];
    }
    return NULL;
}

// `value` is what stood in the same word, or NULL; the next word is taken when one is needed.
static sim_status take(parser *in, const option *of, char *value) {
    if (!(in->command->options & of->taken_by)) return not_taken(in->command, of, in->error);
    if (!of->value && value) {
        return sim_error_set(in->error, SIM_USAGE, NULL, 0, "--%s takes no value", of->name);
    }
    if (of->value && !value) {
        if (in->next == in->n_words) {
            return sim_error_set(in->error, SIM_USAGE, NULL, 0, "--%s needs a value (%s)", of->name, of->value);
        }
        value = in->words[in->next++];
    }
    return take_option(in->cli, of, value, in->error);
}

static sim_status take_long(parser *in, char *word) {
    const size_t n_name = strcspn(word + 2, "=");
    const option *of = find_long(word + 2, n_name);
    if (!of) return unknown_option(word, n_name, in->error);
    return take(in, of, word[2 + n_name] == '=' ? word + 3 + n_name : NULL);
}

// -q, -o DIR, -oDIR, -qo DIR
static sim_status take_letters(parser *in, char *word) {
    for (char *letter = word + 1; *letter; letter++) {
        const option *of = find_letter(*letter);
        if (!of) return unknown_option(letter - 1, 1, in->error);
        if (of->value) return take(in, of, letter[1] ? letter + 1 : NULL);
        const sim_status status = take(in, of, NULL);
        if (status != SIM_OK) return status;
    }
    return SIM_OK;
}

static sim_status check_arguments(const sim_cli *cli, const sim_command *command, sim_error *error) {
    if (cli->n_arguments < command->min_arguments || cli->n_arguments > command->max_arguments) {
        return sim_error_set(error, SIM_USAGE, NULL, 0, "%s %s (usage: forepass %s %s)", command->name,
                             cli->n_arguments < command->min_arguments ? "needs an argument" : "has too many arguments",
                             command->name, command->synopsis);
    }
    const char *needs_output = cli->overwrite && !cli->calibrate ? "overwrite" // --calibrate names a file
                               : cli->wants_requests             ? "requests"
                               : cli->wants_fpm                  ? "fpm"
                               : cli->resume                     ? "resume"
                                                                 : NULL;
    if (needs_output && !cli->output) {
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--%s has no effect without a directory (add -o DIR)",
                             needs_output);
    }
    return SIM_OK;
}

sim_status sim_cli_parse(sim_cli *cli, const sim_command *command, char **words, size_t n_words, bool *wants_help,
                         sim_error *error) {
    *cli = (sim_cli){ .command = command->name };
    *wants_help = false;
    cli->arguments = calloc(n_words + 1, sizeof *cli->arguments);
    cli->sets = calloc(n_words + 1, sizeof *cli->sets);
    cli->shorts = calloc(n_words + 1, sizeof *cli->shorts);
    cli->filters = calloc(n_words + 1, sizeof *cli->filters);
    if (!cli->arguments || !cli->sets || !cli->shorts || !cli->filters)
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    parser in = { cli, command, words, n_words, 0, error };
    bool has_options = true; // until "--"
    while (in.next < n_words) {
        char *word = words[in.next++];
        sim_status status = SIM_OK;
        if (!has_options || word[0] != '-' || word[1] == '\0') {
            cli->arguments[cli->n_arguments++] = word;
        } else if (strcmp(word, "--") == 0) {
            has_options = false;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            *wants_help = true;
            return SIM_OK;
        } else {
            status = word[1] == '-' ? take_long(&in, word) : take_letters(&in, word);
        }
        if (status != SIM_OK) return status;
    }
    return check_arguments(cli, command, error);
}

void sim_cli_free(sim_cli *cli) {
    free(cli->arguments);
    free(cli->sets);
    free(cli->shorts);
    free(cli->filters);
}

void sim_cli_print_options(const sim_command *command, FILE *out) {
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (!(command->options & options[i].taken_by)) continue;
        char shape[64];
        snprintf(shape, sizeof shape, "%c%c%s--%s%s%s", options[i].letter ? '-' : ' ',
                 options[i].letter ? options[i].letter : ' ', options[i].letter ? ", " : "  ", options[i].name,
                 options[i].value ? " " : "", options[i].value ? options[i].value : "");
        const bool is_short = options[i].kind == IS_SHORT;
        fprintf(out, "  %-32s %s%s%s%s\n", shape, is_short ? "short for --set " : "", options[i].help,
                is_short ? "=" : "", is_short ? options[i].value : "");
    }
    fprintf(out, "  %-32s %s\n", "-h, --help", "this text");
}

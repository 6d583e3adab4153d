// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass COMMAND ...: find the command, parse its words, run it, turn its outcome into one line and an exit status.
#include <errno.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/options.h"

static const sim_command *const commands[] = {
    &sim_cmd_replay,   &sim_cmd_sweep, &sim_cmd_plan,  &sim_cmd_compare, &sim_cmd_merge, &sim_cmd_accuracy,
    &sim_cmd_estimate, &sim_cmd_tune,  &sim_cmd_trace, &sim_cmd_list,    &sim_cmd_check,
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(void) {
    printf("forepass %s: how an LLM inference cluster behaves under a load, and how big it must be\n\n"
           "usage: forepass COMMAND [ARGUMENTS] [OPTIONS]\n\ncommands:\n",
           FOREPASS_VERSION);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        char shape[64];
        snprintf(shape, sizeof shape, "%s %s", commands[i]->name, commands[i]->synopsis);
        printf("  %-32s %s\n", shape, commands[i]->help);
    }
    printf("\nforepass COMMAND --help tells the options of a command; forepass --version the version.\n");
}

static void print_command_help(const sim_command *command) {
    printf("usage: forepass %s %s [OPTIONS]\n\n%s\n", command->name, command->synopsis, command->help);
    if (command->details) printf("\n%s", command->details);
    printf("\noptions:\n");
    sim_cli_print_options(command, stdout);
}

static sim_status find_command(const char *name, const sim_command **command, sim_error *error) {
    const char *names[N_COMMANDS + 2];
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i]->name;
        *command = commands[i];
        if (strcmp(name, commands[i]->name) == 0) return SIM_OK;
    }
    *command = NULL;
    names[N_COMMANDS] = "--version";
    names[N_COMMANDS + 1] = "--help";
    const char *nearest = sim_nearest_name(name, names, N_COMMANDS + 2);
    const char *kind = name[0] == '-' ? "option" : "command";
    if (!nearest) return sim_error_set(error, SIM_USAGE, NULL, 0, "unknown %s %s (see forepass --help)", kind, name);
    return sim_error_set(error, SIM_USAGE, NULL, 0, "unknown %s %s (did you mean %s?)", kind, name, nearest);
}

static sim_status run_command(const sim_command *command, char **words, size_t n_words, sim_error *error) {
    sim_cli cli;
    bool wants_help;
    sim_status status = sim_cli_parse(&cli, command, words, n_words, &wants_help, error);
    if (status == SIM_OK) {
        if (wants_help)
            print_command_help(command);
        else
            status = command->run(&cli, error);
    }
    sim_cli_free(&cli);
    return status;
}

static sim_status dispatch(int argc, char **argv, sim_error *error) {
    if (argc < 2) return sim_error_set(error, SIM_USAGE, NULL, 0, "a command is missing (see forepass --help)");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_usage();
        return SIM_OK;
    }
    if (strcmp(name, "--version") == 0) {
        printf("forepass %s\n", FOREPASS_VERSION);
        return SIM_OK;
    }
    const sim_command *command;
    const sim_status status = find_command(name, &command, error);
    return status != SIM_OK ? status : run_command(command, argv + 2, (size_t)argc - 2, error);
}

// An error is one line whatever the user typed or the file is called.
static void print_flat(const char *text) {
    for (; *text; text++) fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, stderr);
}

static void print_error(const sim_error *error) {
    fputs("forepass: ", stderr);
    print_flat(error->file);
    if (error->file[0] && error->line > 0) fprintf(stderr, ":%lld", (long long)error->line);
    if (error->file[0]) fputs(": ", stderr);
    print_flat(error->message);
    if (error->column > 0) fprintf(stderr, " (column %lld)", (long long)error->column);
    fputc('\n', stderr);
}

static const char *meaning_of(sim_status status) {
    switch (status) {
#define X(code, exit_status, meaning) \
    case code:                        \
        return meaning;
        SIM_STATUS_LIST(X)
#undef X
    }
    return "unknown failure";
}

int main(int argc, char **argv) {
    // A parent may have left SIGPIPE ignored; by default a reader that goes away ends us without a word.
    signal(SIGPIPE, SIG_DFL);
    gsl_set_error_handler_off(); // return codes are checked; the default handler aborts
    sim_error error = { .code = SIM_OK };
    sim_status status = dispatch(argc, argv, &error);
    errno = 0;
    const bool had_error = ferror(stdout) != 0;
    if ((fclose(stdout) != 0 || had_error) && (status == SIM_OK || status == SIM_IO)) {
        status = sim_error_set(&error, SIM_IO, NULL, 0, "standard output cannot be written%s%s", errno ? ": " : "",
                               errno ? strerror(errno) : "");
    }
    if (status != SIM_OK) {
        if (!error.message[0]) sim_error_set(&error, status, NULL, 0, "%s", meaning_of(status));
        print_error(&error);
    }
    return sim_status_exit(status);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/cli/run_options.h"

#include <unistd.h>

static volatile sig_atomic_t stopped;

static void on_signal(int signal_number) { stopped = signal_number; }

// The terminal has gone: end as if asked to.
static void on_hangup(int signal_number) {
    (void)signal_number;
    stopped = SIGTERM;
}

const volatile sig_atomic_t *sim_cli_catch_signals(void) {
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_hangup;
    sigaction(SIGHUP, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); // a file-size limit is a failed write, not the end of the program
    return &stopped;
}

FILE *sim_cli_progress(const sim_cli *cli) {
    if (cli->quiet || cli->progress == SIM_PROGRESS_NEVER) return NULL;
    return cli->progress == SIM_PROGRESS_ALWAYS || isatty(STDERR_FILENO) ? stderr : NULL;
}

sim_status sim_cli_parse_jobs(const sim_cli *cli, uint32_t *n_threads, sim_error *error) {
    int64_t n = 1;
    *n_threads = 1;
    if (!cli->jobs) return SIM_OK;
    const char *hint = sim_parse_size(cli->jobs, &n);
    if (hint || n < 1 || n > 1024)
        return sim_error_set(error, SIM_USAGE, "--jobs", 0, "\"%s\" is not a number of threads (1 to 1024)", cli->jobs);
    *n_threads = (uint32_t)n;
    return SIM_OK;
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Outcomes of everything in sim/ that can fail, and the one line a user reads. The exit status of the program follows from
// the status alone (interface.md "Exit status"), so whoever reports an error decides by its status what kind it is.
#ifndef SIM_CONFIG_ERROR_H
#define SIM_CONFIG_ERROR_H

#include <signal.h>
#include <stdint.h>

// enumerator, exit status, meaning
#define SIM_STATUS_LIST(X)                                      \
    X(SIM_OK, 0, "done")                                        \
    X(SIM_NO_MEMORY, 1, "out of memory")                        \
    X(SIM_IO, 1, "a file could not be opened, read or written") \
    X(SIM_INTERNAL, 1, "an internal limit was reached")         \
    X(SIM_USAGE, 2, "usage or configuration error")             \
    X(SIM_BAD_DATA, 3, "bad input data")                        \
    X(SIM_DEAD_END, 4, "the run could not finish")              \
    X(SIM_GIVEN_UP, 4, "the run was given up")                  \
    X(SIM_INTERRUPTED, 130, "interrupted by SIGINT")            \
    X(SIM_TERMINATED, 143, "interrupted by SIGTERM")

typedef enum sim_status {
#define X(code, exit_status, meaning) code,
    SIM_STATUS_LIST(X)
#undef X
} sim_status;

int sim_status_exit(sim_status status);
// SIM_INTERRUPTED or SIM_TERMINATED when a handler has noted that signal's number in *caught; SIM_OK before, and of NULL.
sim_status sim_signal_status(const volatile sig_atomic_t *caught);

typedef struct sim_error {
    sim_status code;
    int64_t line;   // physical line from 1; 0 = none
    int64_t column; // 0 = none
    char file[512]; // "" = no place; "--set" for the command line
    char message[512];
} sim_error;

// Fill `error` (may be NULL) and return `code`. `file` may be NULL, `line` 0. The message says what is wrong and, in
// parentheses, what would be right.
sim_status sim_error_set(sim_error *error, sim_status code, const char *file, int64_t line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif

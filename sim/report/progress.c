// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/progress.h"

#include <time.h>

enum { BAR_COLUMNS = 30 };

static double wall_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void sim_progress_begin_of(sim_progress *progress, FILE *out, uint64_t n_total, const char *what) {
    *progress = (sim_progress){ .out = out, .n_total = n_total ? n_total : 1, .what = what, .started_s = wall_s() };
}

void sim_progress_begin(sim_progress *progress, FILE *out, uint64_t n_total) {
    sim_progress_begin_of(progress, out, n_total, "requests");
}

void sim_progress_update(sim_progress *progress, uint64_t n_done, int64_t virtual_ns) {
    double now_s = wall_s();
    if (now_s - progress->drawn_s < 0.1) return;
    progress->drawn_s = now_s;
    char bar[BAR_COLUMNS + 1];
    uint64_t n_filled = n_done * BAR_COLUMNS / progress->n_total;
    for (uint64_t i = 0; i < BAR_COLUMNS; i++) bar[i] = i < n_filled ? '#' : '.';
    bar[BAR_COLUMNS] = '\0';
    double elapsed_s = now_s - progress->started_s;
    double left_s = n_done ? elapsed_s * (double)(progress->n_total - n_done) / (double)n_done : 0;
    char speed[48] = "";
    if (virtual_ns != SIM_PROGRESS_NO_TIME)
        snprintf(speed, sizeof speed, "%.0f s simulated, ", (double)virtual_ns / 1e9);
    else if (elapsed_s > 0)
        snprintf(speed, sizeof speed, "%.3g/s, ", (double)n_done / elapsed_s);
    fprintf(progress->out, "\r[%s] %llu/%llu %s, %s%.0f s left%s%s \033[K", bar, (unsigned long long)n_done,
            (unsigned long long)progress->n_total, progress->what, speed, left_s, progress->note[0] ? ", " : "",
            progress->note);
    fflush(progress->out);
}

void sim_progress_end(sim_progress *progress) {
    if (progress->drawn_s > 0) fputs("\r\033[K", progress->out);
    fflush(progress->out);
}

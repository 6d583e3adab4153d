// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the figures of a run can still become while it goes on: the best that is possible if all that is open or to come completed at once, with no latency at all.
// A figure whose best is not good enough will not be good enough at the end either. That holds for latencies, times and costs that shall be small and for rates, counts
// of what completed and attainment that shall be large; of others (a hit ratio, a deviation) nothing certain is known before the end.
#ifndef SIM_REPORT_OUTLOOK_H
#define SIM_REPORT_OUTLOOK_H

#include "sim/report/summary.h"

// Can sim_outlook_best say something about `figure`, a key of the summary ("block.key" inside a block)?
bool sim_outlook_covers(const char *figure, bool is_smaller_better);

// No smaller than the figure of the finished run where more is better, no larger where less is. `facts`: of a run that goes on, on one thread, its lane being
// `counts`; cluster and tuner are not looked at. `values`: room for one number per record. O(requests).
double sim_outlook_best(const sim_run_facts *facts, const char *figure, double *values);

#endif

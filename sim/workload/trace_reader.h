// SPDX-License-Identifier: GPL-3.0-or-later
//
// From lines to a table of requests: choose the format, read rows, judge them by the rules all formats share, sort and
// re-base.
#ifndef SIM_WORKLOAD_TRACE_READER_H
#define SIM_WORKLOAD_TRACE_READER_H

#include "perfmodel/line_reader.h"
#include "sim/workload/workload.h"

// A workload from the lines of an open trace (sim_workload_new opens the file; tests and fuzzing read memory). The
// reader stays the caller's. settings->path is not looked at. Errors as sim_workload_new.
sim_status sim_workload_from_lines(sim_workload **workload, fpm_line_reader *lines, const sim_config *config,
                                   const sim_workload_config *settings, sim_error *error);

// An error of perfmodel in the terms of sim: SIM_IO, SIM_NO_MEMORY or SIM_BAD_DATA, at the same place.
sim_status sim_error_from_fpm(sim_error *error, const fpm_error *from);

#endif

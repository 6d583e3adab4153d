// SPDX-License-Identifier: GPL-3.0-or-later
//
// The order of arrivals: by stamp, equal stamps in file order, and with the first one at 0 when re-based.
#ifndef SIM_WORKLOAD_TRACE_ORDER_H
#define SIM_WORKLOAD_TRACE_ORDER_H

#include "sim/workload/workload.h"

// Sort `workload->requests`, which stand in file order, and subtract the smallest stamp. SIM_NO_MEMORY; SIM_BAD_DATA
// when the span does not fit. O(n log n), O(n) when in order already.
sim_status sim_trace_order(sim_workload *workload, bool rebase, const char *name, sim_error *error);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef SIM_WORKLOAD_CSV_KEYS_H
#define SIM_WORKLOAD_CSV_KEYS_H

#include "sim/workload/workload.h"

sim_time_unit sim_csv_time_unit(const sim_csv_config *csv);

// Does any key of [csv] stand elsewhere than at its default?
bool sim_csv_is_given(const sim_csv_config *csv);

// Contradictions of [csv] with itself and with [workload], a part of sim_workload_check. SIM_USAGE.
sim_status sim_csv_check(const sim_config *config, const sim_workload_config *settings, sim_error *error);

#endif

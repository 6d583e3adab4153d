// SPDX-License-Identifier: GPL-3.0-or-later
//
// The hash ids of a trace under a cache that never forgets: how many are distinct, and how many blocks (and tokens) of
// each prompt earlier prompts have left behind. Rows count in file order, one after the other.
//
// A block is what stands in front of it, its id, and its size: the same id behind another prefix is another block, as
// it would be in an engine that hashes chains. In every published trace an id fixes its prefix, so almost all look-ups
// are one read of an array indexed by id; blocks that break the rule go to a small hash table beside it.
//
// An id that stands for blocks of two sizes cannot come from such a hash (hard-inputs 18), so that is told.
#ifndef SIM_WORKLOAD_BLOCK_CENSUS_H
#define SIM_WORKLOAD_BLOCK_CENSUS_H

#include "sim/workload/growable.h"
#include "sim/workload/workload.h"

// `workload->requests` must still stand in file order. `name` is the file's, for warnings. SIM_NO_MEMORY; SIM_BAD_DATA
// above 2^30 ids. O(ids).
sim_status sim_block_census_take(sim_workload *workload, const char *name, sim_text_list *warnings, sim_error *error);

#endif

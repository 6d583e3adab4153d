// SPDX-License-Identifier: GPL-3.0-or-later
//
// Intervals for figures of one long, correlated series of requests.
//
// Requests that meet in a queue wait together, so their latencies are no independent draws and an ordinary bootstrap gives intervals that are far too
// narrow. Here whole stretches of the run are drawn instead (circular block bootstrap: Politis and Romano 1992). How long a stretch has to be is read
// off the data: twenty times the longest integrated autocorrelation time, and never more than 30 of them, since beyond that more blocks gain nothing
// (Schmeiser 1982, "Batch size effects in the analysis of simulation output"). So few blocks tell their own spread only roughly, and a resample of k
// blocks spreads less than the run by sqrt((k - 1) / k): standard errors are counted by Student's t and widened by that (Hesterberg 2015, "What teachers
// should know about the bootstrap").
//
// The series is cut into cells of neighbouring requests, one each as long as there are no more than SIM_BOOTSTRAP_CELLS; blocks are runs of cells.
// All draws are keyed by seed, stream, replicate and block: a replicate is the same on any thread and in any order.
#ifndef SIM_EXPERIMENT_BLOCK_BOOTSTRAP_H
#define SIM_EXPERIMENT_BLOCK_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_BOOTSTRAP_CELLS = 4096,
    SIM_BOOTSTRAP_REPLICATES = 2000,
    SIM_BOOTSTRAP_MAX_BLOCKS = 30,
    SIM_BOOTSTRAP_MIN_BLOCKS = 4, // fewer tell nothing of a spread
    SIM_BOOTSTRAP_MIN_REQUESTS = 50
};

typedef struct sim_blocks {
    size_t n_requests;
    uint32_t n_cells;     // of n_requests / n_cells requests each, to rounding
    uint32_t block_cells; // length of a block
    uint32_t n_blocks;    // of a resample; the last one is cut so that it has n_cells cells
    bool is_short;        // fewer than half of the least blocks would be long enough: intervals may be too narrow
} sim_blocks;

// Cells for a series of n_requests >= 1; blocks are not chosen yet.
sim_blocks sim_blocks_new(size_t n_requests);
uint32_t sim_blocks_cell(const sim_blocks *blocks, size_t request);

// Integrated autocorrelation time 1 + 2 sum of rho(k) of a series, >= 1, in steps of the series; the sum ends at the first lag that is five times
// what it has come to (Sokal 1997, "Monte Carlo methods in statistical mechanics", section 3). 1 for a constant series. O(n x that time).
double sim_autocorrelation_time(const double *series, size_t n);

// Choose the blocks for the longest of the autocorrelation times, in cells.
void sim_blocks_choose(sim_blocks *blocks, double autocorrelation_cells);

// First cells of the blocks of one replicate; `starts` has room for n_blocks.
void sim_blocks_draw(const sim_blocks *blocks, uint64_t seed, const char *stream, uint64_t replicate, uint32_t *starts);
// How often each cell is in the resample.
void sim_blocks_weigh(const sim_blocks *blocks, const uint32_t *starts, uint32_t *weights);
// Sum over the resample of what `sums` (n_cells + 1 running totals of the cells, from 0) adds up. O(n_blocks).
double sim_blocks_sum(const sim_blocks *blocks, const uint32_t *starts, const double *sums);

// How many standard errors of a bootstrap of `n_blocks` blocks have the probability that a normal one has beyond `deviation`.
double sim_bootstrap_expand(double deviation, uint32_t n_blocks, double degrees_of_freedom);

#endif

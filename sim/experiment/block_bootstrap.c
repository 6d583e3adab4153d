// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/block_bootstrap.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "sim/kernel/random.h"

static const double times_per_block = 20, window_times = 5;

sim_blocks sim_blocks_new(size_t n_requests) {
    return (sim_blocks){
        .n_requests = n_requests,
        .n_cells = (uint32_t)(n_requests < SIM_BOOTSTRAP_CELLS ? n_requests : SIM_BOOTSTRAP_CELLS),
    };
}

uint32_t sim_blocks_cell(const sim_blocks *blocks, size_t request) {
    return (uint32_t)((uint64_t)request * blocks->n_cells / blocks->n_requests);
}

static double mean_of(const double *series, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += series[i];
    return sum / (double)n;
}

static double lagged_product(const double *series, size_t n, double mean, size_t lag) {
    double sum = 0;
    for (size_t i = lag; i < n; i++) sum += (series[i] - mean) * (series[i - lag] - mean);
    return sum;
}

double sim_autocorrelation_time(const double *series, size_t n) {
    if (n < 2) return 1;
    const double mean = mean_of(series, n), variance = lagged_product(series, n, mean, 0);
    double time = 1;
    if (!(variance > 0)) return time;
    for (size_t lag = 1; lag < n / 2 && (double)lag < window_times * time; lag++)
        time += 2 * lagged_product(series, n, mean, lag) / variance;
    return time > 1 ? time : 1; // anticorrelated series pass for independent ones
}

void sim_blocks_choose(sim_blocks *blocks, double autocorrelation_cells) {
    double n = floor((double)blocks->n_cells / (times_per_block * autocorrelation_cells));
    blocks->is_short = n < SIM_BOOTSTRAP_MIN_BLOCKS / 2;
    if (n < SIM_BOOTSTRAP_MIN_BLOCKS) n = SIM_BOOTSTRAP_MIN_BLOCKS;
    if (n > SIM_BOOTSTRAP_MAX_BLOCKS) n = SIM_BOOTSTRAP_MAX_BLOCKS;
    if (n > blocks->n_cells) n = blocks->n_cells;
    const uint32_t n_wanted = (uint32_t)n;
    blocks->block_cells = (blocks->n_cells + n_wanted - 1) / n_wanted;
    blocks->n_blocks = (blocks->n_cells + blocks->block_cells - 1) / blocks->block_cells;
}

void sim_blocks_draw(const sim_blocks *blocks, uint64_t seed, const char *stream, uint64_t replicate,
                     uint32_t *starts) {
    const sim_dice dice = sim_dice_of(seed, stream);
    for (uint32_t i = 0; i < blocks->n_blocks; i++)
        starts[i] = (uint32_t)(sim_dice_uniform(&dice, replicate, i) * blocks->n_cells);
}

// The last block fills up what the others leave.
static uint32_t length_of(const sim_blocks *blocks, uint32_t block) {
    const uint32_t before = block * blocks->block_cells, left = blocks->n_cells - before;
    return left < blocks->block_cells ? left : blocks->block_cells;
}

void sim_blocks_weigh(const sim_blocks *blocks, const uint32_t *starts, uint32_t *weights) {
    memset(weights, 0, blocks->n_cells * sizeof *weights);
    for (uint32_t i = 0; i < blocks->n_blocks; i++) {
        uint32_t cell = starts[i];
        for (uint32_t n = length_of(blocks, i); n > 0; n--) {
            weights[cell]++;
            if (++cell == blocks->n_cells) cell = 0;
        }
    }
}

double sim_blocks_sum(const sim_blocks *blocks, const uint32_t *starts, const double *sums) {
    const uint32_t n = blocks->n_cells;
    double total = 0;
    for (uint32_t i = 0; i < blocks->n_blocks; i++) {
        const uint32_t end = starts[i] + length_of(blocks, i);
        total += end <= n ? sums[end] - sums[starts[i]] : sums[n] - sums[starts[i]] + sums[end - n];
    }
    return total;
}

double sim_bootstrap_expand(double deviation, uint32_t n_blocks, double degrees_of_freedom) {
    const double k = n_blocks, p = gsl_cdf_ugaussian_Q(deviation);
    return gsl_cdf_tdist_Qinv(p, degrees_of_freedom) * sqrt(k / (k - 1));
}

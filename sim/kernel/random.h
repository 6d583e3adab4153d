// SPDX-License-Identifier: GPL-3.0-or-later
//
// Randomness in two forms, both derived from one root seed (architecture.md, principle 1):
// - named sequential streams over GSL generators, for what is drawn in an order of its own (arrivals, lengths);
// - keyed draws, f(seed, stream, key...), for everything else, so that no entity's dice depend on another's.
#ifndef SIM_KERNEL_RANDOM_H
#define SIM_KERNEL_RANDOM_H

#include <stdint.h>

// GSL's generator type, not shown here: third-party headers stay in .c files.
typedef struct sim_stream sim_stream;

// Stream `name` of the root seed: a gsl_rng_mt19937 seeded with a hash of both. NULL: no memory.
sim_stream *sim_stream_new(uint64_t root_seed, const char *name);
void sim_stream_free(sim_stream *stream);

double sim_stream_uniform(sim_stream *stream);                        // [0, 1)
double sim_stream_range(sim_stream *stream, double low, double high); // [low, high)
double sim_stream_exponential(sim_stream *stream, double mean);       // -mean ln u, u in (0, 1]
double sim_stream_gaussian(sim_stream *stream, double mean, double standard_deviation);
double sim_stream_lognormal(sim_stream *stream, double median, double sigma); // sigma of the logarithm
double sim_stream_gamma(sim_stream *stream, double shape, double mean);
uint64_t sim_stream_integer(sim_stream *stream, uint64_t n); // uniform in [0, n), n >= 1

// Keyed draws of one stream: the same dice and key give the same number, in any order and on any thread. A plain value.
typedef struct sim_dice {
    uint64_t root_seed, stream;
} sim_dice;

sim_dice sim_dice_of(uint64_t root_seed, const char *stream);
uint64_t sim_dice_u64(const sim_dice *dice, uint64_t key_a, uint64_t key_b);
double sim_dice_uniform(const sim_dice *dice, uint64_t key_a, uint64_t key_b);  // (0, 1)
double sim_dice_gaussian(const sim_dice *dice, uint64_t key_a, uint64_t key_b); // standard normal

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// sim_stream is never defined: it is gsl_rng behind a name of ours, so that headers stay free of GSL.
#include "sim/kernel/random.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#define XXH_INLINE_ALL // keys have a fixed length, which the compiler makes use of
#include <xxhash.h>

static gsl_rng *rng(sim_stream *stream) { return (gsl_rng *)stream; }

sim_stream *sim_stream_new(uint64_t root_seed, const char *name) {
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    if (!generator) return NULL;
    // The generator takes 32 bits of its seed (and reads 0 as 4357), so the hash, not the caller, spreads the seeds.
    gsl_rng_set(generator, (unsigned long)(XXH64(name, strlen(name), root_seed) & UINT32_MAX));
    return (sim_stream *)generator;
}

void sim_stream_free(sim_stream *stream) {
    if (stream) gsl_rng_free(rng(stream));
}

double sim_stream_uniform(sim_stream *stream) { return gsl_rng_uniform(rng(stream)); }

double sim_stream_range(sim_stream *stream, double low, double high) {
    double value = low + (high - low) * gsl_rng_uniform(rng(stream));
    // The sum may round up to the bound that does not belong to the range.
    return value < high ? value : nextafter(high, low);
}

double sim_stream_exponential(sim_stream *stream, double mean) { return gsl_ran_exponential(rng(stream), mean); }

double sim_stream_gaussian(sim_stream *stream, double mean, double standard_deviation) {
    return mean + gsl_ran_gaussian_ziggurat(rng(stream), standard_deviation);
}

double sim_stream_lognormal(sim_stream *stream, double median, double sigma) {
    return median * exp(gsl_ran_gaussian_ziggurat(rng(stream), sigma));
}

double sim_stream_gamma(sim_stream *stream, double shape, double mean) {
    return gsl_ran_gamma(rng(stream), shape, mean / shape);
}

uint64_t sim_stream_integer(sim_stream *stream, uint64_t n) {
    assert(n >= 1);
    if (n <= gsl_rng_max(rng(stream))) return gsl_rng_uniform_int(rng(stream), n);
    // More than one draw of 32 bits holds: two of them, and again when they fall behind the last whole multiple of n.
    const uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t value;
    do {
        uint64_t high = gsl_rng_get(rng(stream));
        value = high << 32 | gsl_rng_get(rng(stream));
    } while (value >= limit);
    return value % n;
}

// --- keyed draws ------------------------------------------------------------------------------------------------------

sim_dice sim_dice_of(uint64_t root_seed, const char *stream) {
    return (sim_dice){ root_seed, XXH3_64bits(stream, strlen(stream)) };
}

uint64_t sim_dice_u64(const sim_dice *dice, uint64_t key_a, uint64_t key_b) {
    const uint64_t key[3] = { dice->stream, key_a, key_b };
    return XXH3_64bits_withSeed(key, sizeof key, dice->root_seed);
}

double sim_dice_uniform(const sim_dice *dice, uint64_t key_a, uint64_t key_b) {
    // The middle of one of 2^52 equal cells: never 0 and never 1, so an inverse distribution is always finite.
    return ((double)(sim_dice_u64(dice, key_a, key_b) >> 12) + 0.5) * 0x1p-52;
}

// A generator that begins anew with every key: its numbers are the hash of the key, then hashes of the one before. GSL's ziggurat is nearly always content with
// the first one; the inverse of the distribution would cost three times as much.
typedef struct keyed_state {
    uint64_t bits;
    bool is_used;
} keyed_state;

static unsigned long next_of_key(void *state) {
    keyed_state *s = state;
    if (s->is_used) s->bits = XXH3_64bits(&s->bits, sizeof s->bits);
    s->is_used = true;
    return (unsigned long)(s->bits >> 32);
}

static double next_uniform_of_key(void *state) { return (double)next_of_key(state) * 0x1p-32; }

double sim_dice_gaussian(const sim_dice *dice, uint64_t key_a, uint64_t key_b) {
    static const gsl_rng_type keyed = {
        "keyed", UINT32_MAX, 0, sizeof(keyed_state), NULL, next_of_key, next_uniform_of_key,
    };
    keyed_state state = { .bits = sim_dice_u64(dice, key_a, key_b) };
    const gsl_rng generator = { &keyed, &state };
    return gsl_ran_gaussian_ziggurat(&generator, 1);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/load_order.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 66

void fpm_load_order_free(fpm_load_order *order) {
    free(order->samples);
    *order = (fpm_load_order){ 0 };
}

bool fpm_load_order_copy(fpm_load_order *copy, const fpm_load_order *order) {
    *copy = (fpm_load_order){ 0 };
    if (!order->samples) return true;
    fpm_weighted_sample *samples = malloc(order->capacity * sizeof *samples);
    if (!samples) return false;
    memcpy(samples, order->samples, order->n * sizeof *samples);
    *copy = *order;
    copy->samples = samples;
    return true;
}

bool fpm_load_order_reserve(fpm_load_order *order) {
    if (order->n < order->capacity) return true;
    if (order->capacity > UINT32_MAX / 2) return false;
    const uint32_t capacity = order->capacity ? 2 * order->capacity : FIRST_CAPACITY;
    fpm_weighted_sample *samples = realloc(order->samples, capacity * sizeof *samples);
    if (!samples) return false;
    order->samples = samples;
    order->capacity = capacity;
    return true;
}

// How many samples have a load below x (or up to x). Halving without branches on what is a coin toss.
static uint32_t count_below(const fpm_load_order *order, double x, bool or_equal) {
    const fpm_weighted_sample *base = order->samples;
    uint32_t left = order->n;
    if (left == 0) return 0;
    while (left > 1) {
        const uint32_t half = left / 2;
        const double at = base[half - 1].x;
        base += ((at < x) | (or_equal & (at == x))) ? half : 0;
        left -= half;
    }
    return (uint32_t)(base - order->samples) + ((base->x < x) | (or_equal & (base->x == x)));
}

static bool has_equal_neighbour(const fpm_load_order *order, uint32_t at) {
    const fpm_weighted_sample *s = order->samples;
    return (at > 0 && s[at - 1].x == s[at].x) || (at + 1 < order->n && s[at + 1].x == s[at].x);
}

void fpm_load_order_insert(fpm_load_order *order, double x, double ms) {
    const uint32_t at = count_below(order, x, true);
    const double weight = 1.0 / (ms > FPM_WEIGHT_FLOOR_MS ? ms : FPM_WEIGHT_FLOOR_MS);
    fpm_weighted_sample *sample = order->samples + at;
    memmove(sample + 1, sample, (order->n - at) * sizeof *sample);
    *sample = (fpm_weighted_sample){ x, ms, weight, weight * weight };
    order->n++;
    order->n_distinct += !has_equal_neighbour(order, at);
}

void fpm_load_order_remove(fpm_load_order *order, double x, double ms) {
    uint32_t at = count_below(order, x, false);
    while (order->samples[at].ms != ms) at++;
    fpm_weighted_sample *sample = order->samples + at;
    order->n_distinct -= !has_equal_neighbour(order, at);
    order->n--;
    memmove(sample, sample + 1, (order->n - at) * sizeof *sample);
}

double fpm_load_order_distinct(const fpm_load_order *order, uint32_t i) {
    const fpm_weighted_sample *sample = order->samples;
    if (order->n_distinct == order->n) return sample[i].x;
    for (; i > 0; sample++) i -= sample[1].x != sample->x;
    return sample->x;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/features.h"

#include <stdlib.h>
#include <string.h>

typedef struct block { // of one dimension
    size_t n_values;   // 0: continuous, one feature
    size_t n_features;
    double *table; // n_values x n_features
} block;

struct sim_features {
    block *blocks;
    size_t n_blocks;
    size_t n;
};

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

// --- one key of a dimension ------------------------------------------------------------------------------------------

static const char *value_of(const sim_domain *domain, size_t key, size_t i) {
    return domain->values[i * domain->n_keys + key];
}

static bool number_of(const char *text, double *value) {
    int64_t whole;
    if (!sim_parse_real(text, value)) return true;
    const bool is_size = !sim_parse_size(text, &whole) || !sim_parse_duration(text, false, &whole);
    *value = (double)whole;
    return is_size;
}

static bool is_numeric(const sim_domain *domain, size_t key) {
    double ignored;
    for (size_t i = 0; i < domain->n_values; i++)
        if (!number_of(value_of(domain, key, i), &ignored)) return false;
    return true;
}

// Index of the first value that reads the same.
static size_t first_same(const sim_domain *domain, size_t key, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (strcmp(value_of(domain, key, k), value_of(domain, key, i)) == 0) return k;
    return i;
}

static size_t n_different(const sim_domain *domain, size_t key) {
    size_t n = 0;
    for (size_t i = 0; i < domain->n_values; i++) n += first_same(domain, key, i) == i;
    return n;
}

static size_t n_features_of(const sim_domain *domain, size_t key) {
    const size_t n = n_different(domain, key);
    if (n < 2) return 0;
    return is_numeric(domain, key) || n == 2 ? 1 : n;
}

// Share of the other different values that are smaller (for two texts: the later one is the larger).
static double rank_of(const sim_domain *domain, size_t key, size_t i) {
    double mine, other;
    size_t n_smaller = 0;
    if (!is_numeric(domain, key)) return first_same(domain, key, i) > 0;
    number_of(value_of(domain, key, i), &mine);
    for (size_t k = 0; k < domain->n_values; k++) {
        number_of(value_of(domain, key, k), &other);
        n_smaller += first_same(domain, key, k) == k && other < mine;
    }
    return (double)n_smaller / (double)(n_different(domain, key) - 1);
}

static void fill_key(const sim_domain *domain, size_t key, block *of, size_t first) {
    const size_t n = n_features_of(domain, key);
    for (size_t i = 0; i < domain->n_values && n; i++) {
        double *row = &of->table[i * of->n_features + first];
        if (n == 1) {
            row[0] = rank_of(domain, key, i);
            continue;
        }
        size_t at = 0; // the how-manieth of the different values it is
        for (size_t k = 0; k < first_same(domain, key, i); k++) at += first_same(domain, key, k) == k;
        row[at] = 1;
    }
}

// --- all -------------------------------------------------------------------------------------------------------------

static bool fill_block(const sim_domain *domain, block *of) {
    *of = (block){ .n_values = domain->n_values, .n_features = domain->is_continuous };
    for (size_t k = 0; k < domain->n_keys && !domain->is_continuous; k++) of->n_features += n_features_of(domain, k);
    of->table = calloc(domain->n_values * of->n_features + 1, sizeof *of->table);
    if (!of->table) return false;
    for (size_t k = 0, first = 0; k < domain->n_keys && !domain->is_continuous; k++) {
        fill_key(domain, k, of, first);
        first += n_features_of(domain, k);
    }
    return true;
}

sim_status sim_features_new(sim_features **features, const sim_space *space, sim_error *error) {
    const size_t n = sim_space_n_dimensions(space);
    sim_features *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    made->blocks = calloc(n + 1, sizeof *made->blocks);
    bool is_well = made->blocks;
    for (size_t d = 0; d < n && is_well; d++) {
        is_well = fill_block(sim_space_domain(space, d), &made->blocks[d]);
        made->n_blocks++;
        made->n += made->blocks[d].n_features;
    }
    if (!is_well) {
        sim_features_free(made);
        return no_memory(error);
    }
    *features = made;
    return SIM_OK;
}

void sim_features_free(sim_features *features) {
    if (!features) return;
    for (size_t d = 0; d < features->n_blocks; d++) free(features->blocks[d].table);
    free(features->blocks);
    free(features);
}

size_t sim_features_n(const sim_features *features) { return features->n; }

void sim_features_at(const sim_features *features, const double *position, double *out) {
    for (size_t d = 0; d < features->n_blocks; d++) {
        const block *of = &features->blocks[d];
        if (of->n_values == 0) {
            *out++ = position[d];
            continue;
        }
        const size_t i = (size_t)(position[d] * (double)of->n_values);
        memcpy(out, &of->table[i * of->n_features], of->n_features * sizeof *out);
        out += of->n_features;
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Edit distance with transpositions of neighbours (optimal string alignment): insertions, deletions, replacements and swaps
// cost one each, upper and lower case are the same letter.
#include "sim/config/nearest_name.h"

#include <string.h>

#include "sim/config/config.h"

enum { MAX_NAME_BYTES = 64 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// ASCII only: names are, and the result must not depend on a locale.
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static size_t edit_distance(const char *a, size_t n_a, const char *b, size_t n_b) {
    // three rows of the matrix: rows[i % 3][j] is the distance of the first i bytes of a and the first j of b
    size_t rows[3][MAX_NAME_BYTES + 1];
    for (size_t j = 0; j <= n_b; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            const char last_a = lower(a[i - 1]), last_b = lower(b[j - 1]);
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (last_a != last_b));
            if (i > 1 && j > 1 && last_a == lower(b[j - 2]) && lower(a[i - 2]) == last_b) {
                row[j] = smaller(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[n_a % 3][n_b];
}

void sim_nearest_consider(sim_nearest *nearest, const char *wanted, const char *candidate) {
    const size_t n_wanted = strlen(wanted), n_candidate = strlen(candidate);
    if (n_wanted > MAX_NAME_BYTES || n_candidate > MAX_NAME_BYTES) return;
    const size_t distance = edit_distance(wanted, n_wanted, candidate, n_candidate);
    // A third of the longer name may be wrong, but something must be right.
    const size_t n_longer = n_wanted > n_candidate ? n_wanted : n_candidate;
    const size_t limit = n_longer / 3 > 1 ? n_longer / 3 : 1;
    if (distance > limit || distance >= smaller(n_wanted, n_candidate)) return;
    if (nearest->name && nearest->distance <= distance) return;
    *nearest = (sim_nearest){ candidate, distance };
}

const char *sim_nearest_name(const char *name, const char *const *names, size_t n) {
    sim_nearest nearest = { 0 };
    for (size_t i = 0; i < n; i++) sim_nearest_consider(&nearest, name, names[i]);
    return nearest.name;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/bayes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/sweep/design.h"
#include "sim/experiment/sweep/features.h"
#include "sim/experiment/sweep/gaussian_process.h"
#include "sim/kernel/random.h"

enum { MAX_CANDIDATES = 4000 };

typedef struct trial {
    double *position;
    double score;
} trial;

struct sim_bayes {
    const sim_space *space;
    uint64_t seed;
    sim_stream *stream;
    size_t n_dimensions;
    sim_features *features;
    double *scratch; // features of one position
    double *aside;   // a position
    trial *trials;   // told
    size_t n_trials;
    double *proposed; // positions
    size_t n_proposed;
};

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

sim_status sim_bayes_new(sim_bayes **bayes, const sim_space *space, uint64_t seed, sim_error *error) {
    sim_bayes *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    *made = (sim_bayes){ .space = space,
                         .seed = seed,
                         .stream = sim_stream_new(seed, "bayes"),
                         .n_dimensions = sim_space_n_dimensions(space) };
    sim_status status = made->stream ? sim_features_new(&made->features, space, error) : no_memory(error);
    if (!status) {
        made->scratch = malloc((sim_features_n(made->features) + 1) * sizeof *made->scratch);
        made->aside = malloc((made->n_dimensions + 1) * sizeof *made->aside);
        if (!made->scratch || !made->aside) status = no_memory(error);
    }
    if (status) {
        sim_bayes_free(made);
        return status;
    }
    *bayes = made;
    return SIM_OK;
}

void sim_bayes_free(sim_bayes *bayes) {
    if (!bayes) return;
    for (size_t i = 0; i < bayes->n_trials; i++) free(bayes->trials[i].position);
    free(bayes->trials);
    free(bayes->proposed);
    free(bayes->scratch);
    free(bayes->aside);
    sim_features_free(bayes->features);
    sim_stream_free(bayes->stream);
    free(bayes);
}

static const double *features_at(const sim_bayes *bayes, const double *position) {
    sim_features_at(bayes->features, position, bayes->scratch);
    return bayes->scratch;
}

sim_status sim_bayes_tell(sim_bayes *bayes, const double *position, double score, sim_error *error) {
    trial *more = realloc(bayes->trials, (bayes->n_trials + 1) * sizeof *more);
    if (!more) return no_memory(error);
    bayes->trials = more;
    double *kept = malloc((bayes->n_dimensions + 1) * sizeof *kept);
    if (!kept) return no_memory(error);
    memcpy(kept, position, bayes->n_dimensions * sizeof *kept);
    more[bayes->n_trials++] = (trial){ kept, score };
    return SIM_OK;
}

// --- positions -------------------------------------------------------------------------------------------------------

static size_t n_different(const sim_bayes *bayes, size_t dimension) {
    return sim_domain_n_different(sim_space_domain(bayes->space, dimension));
}

static double position_at(const sim_bayes *bayes, size_t dimension, size_t index) {
    return sim_domain_position(sim_space_domain(bayes->space, dimension), index);
}

static size_t index_at(const sim_bayes *bayes, size_t dimension, double position) {
    return sim_domain_index(sim_space_domain(bayes->space, dimension), position);
}

// To the place of the value it stands for, so that equal points have equal positions.
static void snap(const sim_bayes *bayes, double *position) {
    for (size_t d = 0; d < bayes->n_dimensions; d++)
        if (n_different(bayes, d)) position[d] = position_at(bayes, d, index_at(bayes, d, position[d]));
}

static bool was_proposed(const sim_bayes *bayes, const double *position) {
    for (size_t i = 0; i < bayes->n_proposed; i++)
        if (memcmp(&bayes->proposed[i * bayes->n_dimensions], position, bayes->n_dimensions * sizeof *position) == 0)
            return true;
    return false;
}

static sim_status keep_proposed(sim_bayes *bayes, const double *position, sim_error *error) {
    const size_t n_bytes = bayes->n_dimensions * sizeof *position;
    double *more = realloc(bayes->proposed, (bayes->n_proposed + 1) * n_bytes);
    if (!more) return no_memory(error);
    bayes->proposed = more;
    memcpy(&more[bayes->n_proposed++ * bayes->n_dimensions], position, n_bytes);
    return SIM_OK;
}

// Number of combinations; 0: a dimension is continuous, or there are too many to look at all.
static size_t count_all(const sim_bayes *bayes) {
    size_t n = 1;
    for (size_t d = 0; d < bayes->n_dimensions; d++) {
        n *= n_different(bayes, d);
        if (n == 0 || n > MAX_CANDIDATES) return 0;
    }
    return n;
}

static void position_of(const sim_bayes *bayes, size_t index, double *position) {
    for (size_t d = bayes->n_dimensions; d-- > 0;) {
        const size_t n = n_different(bayes, d);
        position[d] = position_at(bayes, d, index % n);
        index /= n;
    }
}

static const trial *best_trial(const sim_bayes *bayes) {
    const trial *best = NULL;
    for (size_t i = 0; i < bayes->n_trials; i++)
        if (!isnan(bayes->trials[i].score) && (!best || bayes->trials[i].score > best->score)) best = &bayes->trials[i];
    return best;
}

// Anywhere, or every other time near the best so far.
static void draw(sim_bayes *bayes, bool is_near, double *position) {
    const trial *best = best_trial(bayes);
    for (size_t d = 0; d < bayes->n_dimensions; d++) {
        const double anywhere = sim_stream_uniform(bayes->stream);
        const double near = best ? best->position[d] + 0.1 * sim_stream_gaussian(bayes->stream, 0, 1) : anywhere;
        position[d] = is_near ? fmin(fmax(near, 0), nextafter(1, 0)) : anywhere;
    }
    snap(bayes, position);
}

// All positions that are left, or a large number of drawn ones. The caller frees; NULL: no memory.
static double *candidates(sim_bayes *bayes, size_t *n) {
    const size_t n_all = count_all(bayes), n_tries = n_all ? n_all : MAX_CANDIDATES;
    double *out = malloc(n_tries * bayes->n_dimensions * sizeof *out);
    *n = 0;
    for (size_t i = 0; out && i < n_tries; i++) {
        double *position = &out[*n * bayes->n_dimensions];
        if (n_all)
            position_of(bayes, i, position);
        else
            draw(bayes, i % 2, position);
        if (!was_proposed(bayes, position)) ++*n;
    }
    return out;
}

// --- the model -------------------------------------------------------------------------------------------------------

static double worst_score(const sim_bayes *bayes) {
    double worst = HUGE_VAL;
    for (size_t i = 0; i < bayes->n_trials; i++)
        if (!isnan(bayes->trials[i].score)) worst = fmin(worst, bayes->trials[i].score);
    return isinf(worst) ? 0 : worst;
}

static sim_gp *learn(const sim_bayes *bayes) {
    sim_gp *gp = sim_gp_new(sim_features_n(bayes->features));
    const double worst = worst_score(bayes);
    bool is_well = gp;
    for (size_t i = 0; i < bayes->n_trials && is_well; i++) {
        const double *features = features_at(bayes, bayes->trials[i].position);
        is_well = sim_gp_add(gp, features, isnan(bayes->trials[i].score) ? worst : bayes->trials[i].score);
    }
    if (is_well && sim_gp_fit(gp, true)) return gp;
    sim_gp_free(gp);
    return NULL;
}

// The candidate of largest expected improvement; n: there is none.
static size_t most_promising(const sim_bayes *bayes, const sim_gp *gp, const double *positions, size_t n, double best) {
    size_t found = n;
    double most = -1;
    for (size_t i = 0; i < n; i++) {
        double mean, deviation;
        const double *position = &positions[i * bayes->n_dimensions];
        if (was_proposed(bayes, position)) continue;
        sim_gp_predict(gp, features_at(bayes, position), &mean, &deviation);
        const double improvement = sim_expected_improvement(mean, deviation, best);
        if (improvement <= most) continue;
        most = improvement;
        found = i;
    }
    return found;
}

static int by_score(const void *a, const void *b) {
    const trial *const *x = a, *const *y = b;
    if ((*x)->score != (*y)->score) return (*x)->score > (*y)->score ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

// One step of one dimension aside: the next value of a list; a tenth of an interval, but the next value at least. False: that leads out.
static bool step_aside(const sim_bayes *bayes, const double *from, size_t dimension, int direction, double *to) {
    const bool is_list = !sim_space_domain(bayes->space, dimension)->is_continuous;
    const size_t n = n_different(bayes, dimension), here = n ? index_at(bayes, dimension, from[dimension]) : 0;
    memcpy(to, from, bayes->n_dimensions * sizeof *to);
    to[dimension] += 0.1 * direction;
    const bool is_out = to[dimension] < 0 || to[dimension] >= 1;
    const bool is_next = n && (is_list || is_out || index_at(bayes, dimension, to[dimension]) == here);
    if (is_out && !is_next) return false;
    if (is_next && here == (direction < 0 ? 0 : n - 1)) return false;
    if (is_next) to[dimension] = position_at(bayes, dimension, direction < 0 ? here - 1 : here + 1);
    snap(bayes, to);
    return true;
}

// The untried neighbour of `from` of the largest predicted mean, into `out`. False: there is none.
static bool best_neighbour(const sim_bayes *bayes, const sim_gp *gp, const double *from, double *out) {
    double best = -HUGE_VAL;
    for (size_t d = 0; d < bayes->n_dimensions; d++) {
        for (int direction = -1; direction <= 1; direction += 2) {
            double mean, deviation, *aside = bayes->aside;
            if (!step_aside(bayes, from, d, direction, aside) || was_proposed(bayes, aside)) continue;
            sim_gp_predict(gp, features_at(bayes, aside), &mean, &deviation);
            if (mean <= best) continue;
            best = mean;
            memcpy(out, aside, bayes->n_dimensions * sizeof *out);
        }
    }
    return isfinite(best);
}

// Next to the best point so far, or the best of those that have a neighbour left. The model is too smooth to see a peak in front of a cliff, such as a load just
// below what a cluster can take. False: no memory, or nothing left.
static bool look_around(const sim_bayes *bayes, const sim_gp *gp, double *out) {
    const trial **order = malloc((bayes->n_trials + 1) * sizeof *order);
    size_t n = 0;
    bool is_found = false;
    for (size_t i = 0; order && i < bayes->n_trials; i++)
        if (!isnan(bayes->trials[i].score)) order[n++] = &bayes->trials[i];
    if (order) qsort(order, n, sizeof *order, by_score);
    for (size_t i = 0; order && i < n && !is_found; i++) is_found = best_neighbour(bayes, gp, order[i]->position, out);
    free(order);
    return is_found;
}

// One after another, each as if the ones before had come out as predicted: the first of a round next to the best, the others where most improvement is expected.
static sim_status choose(sim_bayes *bayes, sim_gp *gp, const double *positions, size_t n_candidates, size_t n,
                         double *out, size_t *n_chosen, sim_error *error) {
    double best = best_trial(bayes) ? best_trial(bayes)->score : 0;
    for (*n_chosen = 0; *n_chosen < n; ++*n_chosen) {
        double mean, deviation, *position = &out[*n_chosen * bayes->n_dimensions];
        if (*n_chosen > 1 || !look_around(bayes, gp, position)) {
            const size_t chosen = most_promising(bayes, gp, positions, n_candidates, best);
            if (chosen == n_candidates) break;
            memcpy(position, &positions[chosen * bayes->n_dimensions], bayes->n_dimensions * sizeof *position);
        }
        const sim_status status = keep_proposed(bayes, position, error);
        if (status) return status;
        const double *features = features_at(bayes, position);
        sim_gp_predict(gp, features, &mean, &deviation);
        best = fmax(best, mean);
        if (!sim_gp_add(gp, features, mean) || !sim_gp_fit(gp, false)) return no_memory(error);
    }
    return SIM_OK;
}

// --- proposals -------------------------------------------------------------------------------------------------------

static sim_status propose_first(sim_bayes *bayes, size_t n, double *positions, size_t *n_proposed, sim_error *error) {
    double *drawn = sim_design_draw(SIM_SWEEP_LHS, n, bayes->n_dimensions, bayes->seed);
    sim_status status = drawn ? SIM_OK : no_memory(error);
    *n_proposed = 0;
    for (size_t i = 0; i < n && !status; i++) {
        double *position = &drawn[i * bayes->n_dimensions];
        snap(bayes, position);
        if (was_proposed(bayes, position)) continue;
        memcpy(&positions[*n_proposed * bayes->n_dimensions], position, bayes->n_dimensions * sizeof *positions);
        ++*n_proposed;
        status = keep_proposed(bayes, position, error);
    }
    free(drawn);
    return status;
}

sim_status sim_bayes_propose(sim_bayes *bayes, size_t n, double *positions, size_t *n_proposed, sim_error *error) {
    if (bayes->n_trials == 0) return propose_first(bayes, n, positions, n_proposed, error);
    size_t n_candidates = 0;
    *n_proposed = 0;
    sim_gp *gp = learn(bayes);
    double *all = candidates(bayes, &n_candidates);
    const sim_status status =
        gp && all ? choose(bayes, gp, all, n_candidates, n, positions, n_proposed, error) : no_memory(error);
    free(all);
    sim_gp_free(gp);
    return status;
}

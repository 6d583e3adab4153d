// SPDX-License-Identifier: GPL-3.0-or-later
//
// The tuning model against a naive restatement of its rules (notes/fpm-behaviour.md): samples in one list in the order
// of insertion, buckets worked out anew from that list whenever they are asked for, every fit from scratch, no caches.
// Shares no code with the library. Also: clones and loaded copies stay equal under further tuning.
#include "tests/support/standin_estimator.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

// --- naive model -----------------------------------------------------------------------------------------------------

#define MOST 4000

typedef struct naive_sample {
    double x[2], value;
} naive_sample;

typedef struct naive_kind {
    int n_axes;
    naive_sample kept[MOST];
    int n;
    double low[2], high[2];
} naive_kind;

typedef struct naive_model {
    bool is_native;
    fpm_model_options options;
    naive_kind kinds[3];
} naive_model;

static naive_model *naive_new(bool is_native, const fpm_model_options *o) {
    naive_model *m = calloc(1, sizeof *m); // large: three lists of MOST
    m->is_native = is_native;
    m->options = *o;
    for (int k = 0; k < 3; k++) {
        naive_kind *kind = &m->kinds[k];
        kind->n_axes = k == 0 ? 1 : 2;
        for (int i = 0; i < 2; i++) kind->low[i] = is_native ? 0 : 1e300, kind->high[i] = -1e300;
        if (is_native) {
            kind->high[0] = (double)(k == 1 ? o->max_batch_size : o->max_num_tokens);
            kind->high[1] = (double)o->max_kv_tokens;
        }
    }
    return m;
}

static long naive_cell(const naive_kind *kind, double n, int axis, double x) {
    const double low = kind->low[axis], high = kind->high[axis];
    if (high <= low) return 0;
    const double cell = trunc((x - low) / (high - low) * n);
    return (long)fmin(fmax(cell, 0), n - 1);
}

static long naive_bucket(const naive_model *m, const naive_kind *kind, const double x[2]) {
    const double n = kind->n_axes == 1 ? (double)m->options.bucket_count : floor(sqrt((double)m->options.bucket_count));
    const long first = naive_cell(kind, n, 0, x[0]);
    return kind->n_axes == 1 ? first : first * (long)n + naive_cell(kind, n, 1, x[1]);
}

static void naive_insert(naive_model *m, naive_kind *kind, const double x[2], double value) {
    for (int i = 0; i < kind->n_axes; i++) {
        if (m->is_native && (x[i] < kind->low[i] || x[i] > kind->high[i])) return;
        kind->low[i] = fmin(kind->low[i], x[i]);
        kind->high[i] = fmax(kind->high[i], x[i]);
    }
    kind->kept[kind->n++] = (naive_sample){ { x[0], x[1] }, value };
    if (kind->n <= (int)m->options.max_observations) return;
    int victim = 0, most = 0; // the first sample, by age, of a bucket with the most samples
    for (int i = 0; i < kind->n; i++) {
        int count = 0;
        for (int j = 0; j < kind->n; j++)
            count += naive_bucket(m, kind, kind->kept[j].x) == naive_bucket(m, kind, kind->kept[i].x);
        if (count > most) most = count, victim = i;
    }
    kind->n--;
    for (int i = victim; i < kind->n; i++) kind->kept[i] = kind->kept[i + 1];
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double naive_factor(const naive_model *m, const naive_kind *kind, const double x[2]) {
    double values[MOST];
    int n = 0;
    if (kind->n < (int)m->options.min_observations) return 1.0;
    for (int i = 0; i < kind->n_axes; i++)
        if (x[i] < kind->low[i] || x[i] > kind->high[i]) return 1.0;
    for (int i = 0; i < kind->n; i++)
        if (naive_bucket(m, kind, kind->kept[i].x) == naive_bucket(m, kind, x) && isfinite(kind->kept[i].value) &&
            kind->kept[i].value > 0)
            values[n++] = kind->kept[i].value;
    if (n == 0) return 1.0;
    qsort(values, (size_t)n, sizeof *values, compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// Solve a x = b for up to three unknowns; false when singular even with a ridge.
static bool naive_solve(int n, double a[3][3], double b[3], double out[3]) {
    for (int attempt = 0; attempt < 2; attempt++) {
        double m[3][4], trace = 0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) m[i][j] = a[i][j];
            m[i][3] = b[i];
            trace += fabs(a[i][i]);
        }
        for (int i = 1; attempt && i < n; i++) m[i][i] += 1e-9 * fmax(1, trace);
        bool is_singular = false;
        for (int c = 0; c < n && !is_singular; c++) {
            int p = c;
            for (int r = c; r < n; r++)
                if (fabs(m[r][c]) >= fabs(m[p][c])) p = r;
            for (int j = 0; j < 4; j++) {
                const double t = m[p][j];
                m[p][j] = m[c][j];
                m[c][j] = t;
            }
            if (fabs(m[c][c]) < 1e-12) is_singular = true;
            const double d = m[c][c];
            for (int j = 0; j < 4; j++) m[c][j] /= d;
            for (int r = 0; r < n; r++) {
                const double f = m[r][c];
                for (int j = 0; r != c && j < 4; j++) m[r][j] -= f * m[c][j];
            }
        }
        for (int i = 0; i < n; i++) out[i] = m[i][3];
        if (!is_singular) return true;
    }
    return false;
}

typedef struct naive_fit {
    bool is_ready;
    double c[3], knot; // intercept, slopes; or intercept, left, right and knot
    bool is_hinge;
} naive_fit;

static naive_fit naive_line(const naive_model *m, const naive_kind *kind) {
    naive_fit best = { 0 };
    double least = HUGE_VAL;
    if (kind->n < (int)m->options.min_observations) return best;
    for (int mask = 0; mask < 1 << kind->n_axes; mask++) {
        double a[3][3] = { 0 }, b[3] = { 0 }, s[3], sse = 0;
        int n = 1, axis_of[3] = { 0 };
        for (int axis = 0; axis < kind->n_axes; axis++)
            if (mask >> axis & 1) axis_of[n++] = axis;
        for (int i = 0; i < kind->n; i++) {
            double f[3] = { 1 };
            for (int j = 1; j < n; j++) f[j] = kind->kept[i].x[axis_of[j]];
            for (int j = 0; j < n; j++) {
                for (int l = 0; l < n; l++) a[j][l] += f[j] * f[l];
                b[j] += f[j] * kind->kept[i].value;
            }
        }
        if (!naive_solve(n, a, b, s)) continue;
        naive_fit fit = { .is_ready = true, .c = { s[0] } };
        bool is_bad = !isfinite(s[0]);
        for (int j = 1; j < n; j++) {
            fit.c[1 + axis_of[j]] = s[j];
            is_bad |= !isfinite(s[j]) || s[j] < 0;
        }
        for (int i = 0; i < kind->n; i++) {
            const naive_sample *k = &kind->kept[i];
            const double e = fit.c[0] + fit.c[1] * k->x[0] + fit.c[2] * k->x[1] - k->value;
            sse += e * e;
        }
        if (!is_bad && sse < least) least = sse, best = fit;
    }
    if (kind->n > kind->n_axes && !(best.c[1] > 0 || best.c[2] > 0)) best.is_ready = false;
    return best;
}

// Among knots of nearly one score: 0 the strictly best, 1 the last, -1 the first.
static int tie_choice;

static naive_fit naive_hinge(const naive_kind *kind) {
    naive_fit best = { 0 };
    double xs[MOST], knots[12], kept[12], least = HUGE_VAL;
    int m = 0, n = 0, n_kept = 0;
    for (int i = 0; i < kind->n; i++) xs[i] = kind->kept[i].x[0];
    qsort(xs, (size_t)kind->n, sizeof *xs, compare);
    for (int i = 0; i < kind->n; i++)
        if (m == 0 || xs[m - 1] != xs[i]) xs[m++] = xs[i];
    if (m < 3) return best;
    for (int j = 1; j <= 4; j++) knots[n++] = xs[(int)floor(j * (m - 1) / 5.0)];
    for (int t = 1; t <= 8; t++) knots[n++] = exp(log(xs[0]) + t / 9.0 * (log(xs[m - 1]) - log(xs[0])));
    qsort(knots, 12, sizeof *knots, compare);
    for (int i = 0; i < 12; i++) {
        if (knots[i] <= xs[0] || knots[i] >= xs[m - 1]) continue;
        if (n_kept && fabs(knots[i] - kept[n_kept - 1]) <= 1e-9 * fmax(1, fmax(knots[i], kept[n_kept - 1]))) continue;
        kept[n_kept++] = knots[i];
    }
    for (int q = 0; q < n_kept; q++) {
        double a[3][3] = { 0 }, b[3] = { 0 }, s[3], score = 0;
        for (int i = 0; i < kind->n; i++) {
            const double x = kind->kept[i].x[0], y = kind->kept[i].value, w = 1 / fmax(y, 25);
            const double f[3] = { 1, x, fmax(0, x - kept[q]) };
            for (int j = 0; j < 3; j++) {
                for (int l = 0; l < 3; l++) a[j][l] += w * w * f[j] * f[l];
                b[j] += w * w * f[j] * y;
            }
        }
        if (!naive_solve(3, a, b, s)) continue;
        if (!isfinite(s[0]) || !isfinite(s[1]) || !isfinite(s[1] + s[2])) continue;
        if (s[1] < -1e-6 || s[1] + s[2] < -1e-6) continue;
        const double left = fmax(s[1], 0), right = fmax(s[1] + s[2], 0);
        for (int i = 0; i < kind->n; i++) {
            const double x = kind->kept[i].x[0], y = kind->kept[i].value, w = 1 / fmax(y, 25);
            const double e = w * (s[0] + left * fmin(x, kept[q]) + right * fmax(0, x - kept[q]) - y);
            score += e * e;
        }
        score = sqrt(score / kind->n);
        if (score < least * (1 + 1e-9 * tie_choice))
            least = score, best = (naive_fit){ true, { s[0], left, right }, kept[q], true };
    }
    return best;
}

static naive_fit naive_refit(const naive_model *m, int k) {
    const naive_kind *kind = &m->kinds[k];
    naive_fit fit = { 0 };
    const int hinge_from = (int)fmax((double)m->options.min_observations, 6);
    if (kind->n_axes == 1 && kind->n >= hinge_from) fit = naive_hinge(kind);
    return fit.is_ready ? fit : naive_line(m, kind);
}

// Kind of the iteration (0 none, 1.. as fpm_kind) and the features of the rank that speaks for it.
static int naive_features(const fpm_metrics *ranks, size_t n, double x[2]) {
    int chosen = 0;
    double most = -1;
    for (size_t i = 0; i < n; i++) {
        const fpm_scheduled_requests *s = &ranks[i].scheduled;
        const bool p = s->sum_prefill_tokens > 0, d = s->num_decode_requests > 0;
        const int kind = p && d ? 3 : d ? 2 : p ? 1 : 0;
        const double a = kind == 2 ? (double)s->num_decode_requests : (double)s->sum_prefill_tokens;
        const double b = kind == 1 ? 0 : (double)s->sum_decode_kv_tokens;
        if (kind == 0 || a + b < most) continue;
        most = a + b;
        chosen = kind;
        x[0] = a;
        x[1] = b;
    }
    return chosen;
}

static double standin_all(const fpm_metrics *ranks, size_t n) {
    double ms = 0;
    for (size_t i = 0; i < n; i++) ms = fmax(ms, standin_rank_ms(&ranks[i]));
    return ms;
}

static void naive_tune(naive_model *m, const fpm_metrics *ranks, size_t n) {
    double x[2], wall = 0;
    const int kind = naive_features(ranks, n, x);
    for (size_t i = 0; i < n; i++)
        if (isfinite(ranks[i].wall_time_s)) wall = fmax(wall, ranks[i].wall_time_s);
    if (kind == 0 || wall <= 0) return;
    double value = wall * 1000;
    if (m->is_native) {
        if (!isfinite(value)) return;
        value /= standin_all(ranks, n);
        if (!m->options.is_faster_unbounded) value = fmax(value, m->options.min_faster_correction_factor);
        if (!m->options.is_slower_unbounded) value = fmin(value, m->options.max_slower_correction_factor);
    }
    naive_insert(m, &m->kinds[kind - 1], x, value);
}

// NaN: no estimate.
static double naive_estimate(const naive_model *m, const fpm_metrics *ranks, size_t n) {
    double x[2];
    const int kind = naive_features(ranks, n, x);
    if (kind == 0) return 0;
    if (m->is_native) return standin_all(ranks, n) * naive_factor(m, &m->kinds[kind - 1], x);
    const naive_fit fit = naive_refit(m, kind - 1);
    if (!fit.is_ready) return (double)NAN;
    if (fit.is_hinge)
        return fmax(1e-6, fit.c[0] + fit.c[1] * fmin(x[0], fit.knot) + fit.c[2] * fmax(0, x[0] - fit.knot));
    return fmax(1e-6, fit.c[0] + fit.c[1] * x[0] + fit.c[2] * x[1]);
}

// The same with the samples of every kind in reverse, for the sums, and the other choice between knots of one score.
// Where that changes the answer, rounding decides (a system at the edge of being singular) and no answer is the right
// one.
static void reverse(naive_model *m) {
    for (int k = 0; k < 3; k++) {
        naive_kind *kind = &m->kinds[k];
        for (int i = 0, j = kind->n - 1; i < j; i++, j--) {
            const naive_sample swap = kind->kept[i];
            kind->kept[i] = kind->kept[j];
            kind->kept[j] = swap;
        }
    }
}

static bool are_close(double a, double b, double tolerance) {
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static bool is_decided(naive_model *m, const fpm_metrics *ranks, size_t n, double ms) {
    bool is_same = true;
    reverse(m);
    for (tie_choice = -1; tie_choice <= 1; tie_choice++) is_same &= are_close(ms, naive_estimate(m, ranks, n), 1e-9);
    tie_choice = 0;
    reverse(m);
    return is_same;
}

// --- random data -----------------------------------------------------------------------------------------------------

static uint64_t state;
static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

static fpm_metrics random_rank(uint32_t most_tokens) {
    fpm_metrics rank = fpm_metrics_idle();
    fpm_scheduled_requests *s = &rank.scheduled;
    const uint32_t kind = draw(8); // 0: idle
    if (kind == 1 || kind == 2 || kind >= 6) s->num_prefill_requests = 1, s->sum_prefill_tokens = 1 + draw(most_tokens);
    if (kind >= 3) s->num_decode_requests = 1 + draw(600), s->sum_decode_kv_tokens = draw(2500000);
    if (s->num_prefill_requests) s->sum_prefill_kv_tokens = draw(5000);
    const double noise = 0.3 + (double)draw(3000) / 1000.0;
    if (draw(20)) rank.wall_time_s = standin_rank_ms(&rank) * noise / 1000.0;
    if (draw(40) == 0) rank.wall_time_s = (double)NAN;
    return rank;
}

static size_t random_iteration(fpm_metrics ranks[4], uint32_t most_tokens) {
    const size_t n = draw(3) ? 1 : 1 + draw(4);
    for (size_t i = 0; i < n; i++) ranks[i] = random_rank(most_tokens);
    return n;
}

static fpm_model_options random_options(void) {
    static const uint64_t squares[] = { 1, 4, 16, 49, 10000, 1000000000000 };
    fpm_model_options o = fpm_model_options_default();
    o.max_observations = 1 + draw(draw(2) ? 80 : 12);
    o.min_observations = 1 + draw((uint32_t)(o.max_observations < 9 ? o.max_observations : 9));
    o.bucket_count = squares[draw(6)];
    o.is_faster_unbounded = draw(4) == 0;
    o.is_slower_unbounded = draw(4) == 0;
    return o;
}

static fpm_model *new_model(bool is_native, const fpm_model_options *o) {
    fpm_model *model = NULL;
    fpm_estimator *estimator = NULL;
    if (!is_native) {
        cr_assert_eq(fpm_model_new_regression(&model, o, NULL), FPM_OK);
        return model;
    }
    standin_new(&estimator, NULL);
    cr_assert_eq(fpm_model_new_native(&model, estimator, o, NULL), FPM_OK);
    fpm_estimator_free(estimator);
    return model;
}

static double ask(const fpm_model *model, const fpm_metrics *ranks, size_t n) {
    double ms = (double)NAN;
    bool has_estimate;
    cr_assert_eq(fpm_model_estimate_ms(model, ranks, n, &ms, &has_estimate, NULL), FPM_OK);
    return has_estimate ? ms : (double)NAN;
}

static fpm_model *reload(const fpm_model *model) {
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    cr_assert_eq(fpm_model_write(model, out, NULL), FPM_OK);
    fclose(out);
    fpm_estimator *estimator = NULL;
    standin_new(&estimator, NULL);
    fpm_model *loaded = NULL;
    fpm_error error = { 0 };
    cr_assert_eq(fpm_model_read(&loaded, text, n_bytes, estimator, &error), FPM_OK, "%s (column %ld)\n%s",
                 error.message, (long)error.column, text);
    fpm_estimator_free(estimator);
    free(text);
    return loaded;
}

static bool are_same(double a, double b) { return (isnan(a) && isnan(b)) || a == b; }

static int n_compared, n_undecided;

static void check_equal(const fpm_model *a, const fpm_model *b, const char *what) {
    const fpm_diagnostics x = fpm_model_diagnostics(a), y = fpm_model_diagnostics(b);
    cr_assert(x.retained_observations == y.retained_observations && x.readiness == y.readiness &&
                  x.correction_ready_buckets == y.correction_ready_buckets && x.source == y.source,
              "%s", what);
    fpm_factors f, g;
    cr_assert_eq(fpm_model_factors(a, FPM_EMPTY, &f), fpm_model_factors(b, FPM_EMPTY, &g));
    cr_assert(f.min == g.min && f.max == g.max && f.avg == g.avg && f.n_buckets == g.n_buckets, "%s", what);
}

// One random life of a model beside its naive twin. A model is replaced by its clone or loaded copy on the way.
static void run(uint64_t seed, bool is_native) {
    state = seed;
    const fpm_model_options o = random_options();
    const uint32_t most_tokens = draw(2) ? 9000 : 12; // the small range has many equal loads
    fpm_model *model = new_model(is_native, &o), *twin = NULL;
    naive_model *naive = naive_new(is_native, &o);
    fpm_metrics ranks[4];
    const int n_steps = 40 + (int)draw(200);
    for (int step = 0; step < n_steps; step++) {
        const size_t n = random_iteration(ranks, most_tokens);
        const fpm_iteration iteration = { ranks, n };
        cr_assert_eq(fpm_model_tune(model, &iteration, 1, NULL), FPM_OK);
        if (twin) fpm_model_tune(twin, &iteration, 1, NULL);
        naive_tune(naive, ranks, n);
        for (int k = 0; k < 3; k++)
            cr_assert_eq(fpm_model_retained(model, (fpm_kind)(k + 1)), (uint64_t)naive->kinds[k].n, "seed %lu step %d",
                         (unsigned long)seed, step);
        const size_t n_query = random_iteration(ranks, most_tokens);
        const double ms = ask(model, ranks, n_query), wanted = naive_estimate(naive, ranks, n_query);
        const bool is_clear = is_decided(naive, ranks, n_query, wanted);
        n_compared++;
        n_undecided += !is_clear;
        cr_assert(!is_clear || are_close(ms, wanted, 1e-7), "seed %lu step %d: %.17g, naive %.17g", (unsigned long)seed,
                  step, ms, wanted);
        if (twin) {
            cr_assert(are_same(ms, ask(twin, ranks, n_query)), "seed %lu step %d: twin", (unsigned long)seed, step);
            check_equal(model, twin, "twin");
        }
        if (draw(30) == 0) {
            fpm_model_free(twin);
            twin = NULL;
            if (draw(2))
                twin = reload(model);
            else
                cr_assert_eq(fpm_model_clone(&twin, model, NULL), FPM_OK);
        }
    }
    fpm_model_free(model);
    fpm_model_free(twin);
    free(naive);
}

Test(model_naive, a_correcting_model_does_what_the_rules_say) {
    for (uint64_t seed = 1; seed <= 400; seed++) run(seed, true);
}

Test(model_naive, a_regression_does_what_the_rules_say) {
    for (uint64_t seed = 1; seed <= 400; seed++) run(seed, false);
    cr_assert_lt(n_undecided, n_compared / 10, "%d of %d", n_undecided, n_compared);
}

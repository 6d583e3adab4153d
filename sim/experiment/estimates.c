// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/estimates.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPLICATES_PER_ROW = 25, N_ROWS = SIM_BOOTSTRAP_REPLICATES / REPLICATES_PER_ROW };

static const double confidence = 0.95;
static const double largest_skew = 0.5;  // beyond, the expansion it comes from holds no more
static const double usable_share = 0.95; // of the replicates have to have a value of the figure

// ---------------------------------------------------------------------------------------------------------------------
// Figures of one resample
// ---------------------------------------------------------------------------------------------------------------------

static double weight_of(const sim_ranking *ranking, const uint32_t *weights, size_t i) {
    return weights ? weights[ranking->cells[i]] : 1;
}

// Comes from the side that is nearer.
double sim_ranking_percentile(const sim_ranking *ranking, const uint32_t *weights, double n, double percent) {
    if (!(n > 0)) return (double)NAN;
    const double index = floor((n - 1) * percent / 100 + 0.5);
    double left = percent < 50 ? index + 1 : n - index;
    for (size_t i = 0; i < ranking->n; i++) {
        const size_t at = percent < 50 ? i : ranking->n - 1 - i;
        left -= weight_of(ranking, weights, at);
        if (left <= 0) return ranking->values[at];
    }
    return (double)NAN; // more were told than there are
}

static double ratio(double amount, double of) { return of > 0 ? amount / of : (double)NAN; }

static double value_of(const sim_estimate *estimate, int side, const sim_blocks *blocks) {
    if (estimate->rankings[side]) {
        const sim_ranking *ranking = estimate->rankings[side];
        return sim_ranking_percentile(ranking, NULL, (double)ranking->n, estimate->percent);
    }
    const sim_ratio *of = &estimate->ratios[side];
    return ratio(of->amount[blocks->n_cells], of->of[blocks->n_cells]);
}

// The workspace of one thread: a resample of each side.
typedef struct resample {
    uint32_t *starts[2], *weights[2];
} resample;

static double resampled_value(const sim_estimate *estimate, int side, const sim_blocks *blocks, const resample *of) {
    if (estimate->rankings[side]) {
        const sim_ranking *ranking = estimate->rankings[side];
        const double n = sim_blocks_sum(blocks, of->starts[side], ranking->counts);
        return sim_ranking_percentile(ranking, of->weights[side], n, estimate->percent);
    }
    const sim_ratio *sums = &estimate->ratios[side];
    return ratio(sim_blocks_sum(blocks, of->starts[side], sums->amount),
                 sim_blocks_sum(blocks, of->starts[side], sums->of));
}

static void free_resample(resample *of, bool is_paired) {
    for (int side = 0; side < (is_paired ? 1 : 2); side++) {
        free(of->starts[side]);
        free(of->weights[side]);
    }
}

static sim_status new_resample(const sim_estimate_set *set, resample *made, sim_error *error) {
    bool has_all = true;
    *made = (resample){ .starts = { NULL } };
    for (int side = 0; side < 2; side++) {
        if (side == 1 && set->is_paired) {
            made->starts[1] = made->starts[0];
            made->weights[1] = made->weights[0];
            continue;
        }
        made->starts[side] = calloc(set->blocks[side].n_blocks, sizeof *made->starts[side]);
        made->weights[side] = calloc(set->blocks[side].n_cells, sizeof *made->weights[side]);
        has_all &= made->starts[side] && made->weights[side];
    }
    if (has_all) return SIM_OK;
    free_resample(made, set->is_paired);
    return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

static void draw(const sim_estimate_set *set, resample *into, size_t replicate) {
    static const char *const streams[2] = { "compare.a", "compare.b" };
    for (int side = 0; side < (set->is_paired ? 1 : 2); side++) {
        sim_blocks_draw(&set->blocks[side], set->seed, streams[side], replicate, into->starts[side]);
        sim_blocks_weigh(&set->blocks[side], into->starts[side], into->weights[side]);
    }
}

static sim_status run_replicates(void *self, size_t row, sim_error *error) {
    const sim_estimate_set *set = self;
    resample drawn;
    sim_status status = sim_signal_status(set->stopped);
    if (!status) status = new_resample(set, &drawn, error);
    if (status) return status;
    for (size_t r = row * REPLICATES_PER_ROW; r < (row + 1) * REPLICATES_PER_ROW; r++) {
        draw(set, &drawn, r);
        for (size_t i = 0; i < set->n; i++)
            for (int side = 0; side < 2; side++)
                set->estimates[i].replicates[side][r] =
                    resampled_value(&set->estimates[i], side, &set->blocks[side], &drawn);
    }
    free_resample(&drawn, set->is_paired);
    return SIM_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Differences
//
// Latencies of a congested run are skewed: a run that met no congestion shows both a small figure and a small spread. On a scale of logarithms the two
// come apart, so intervals are laid out there: of B / A, and of the difference itself where no resample changes its sign.
// ---------------------------------------------------------------------------------------------------------------------

typedef double scale_of_difference(const sim_estimate *of, double a, double b);

static bool has_ratio(const sim_estimate *of) { return !of->is_share && of->values[0] > 0 && of->values[1] > 0; }

static double log_ratio(const sim_estimate *of, double a, double b) { return has_ratio(of) ? log(b / a) : b - a; }

static double plain(const sim_estimate *of, double a, double b) {
    (void)of;
    return b - a;
}

// NAN for a difference of the other sign.
static double log_size(const sim_estimate *of, double a, double b) {
    return log(of->values[1] > of->values[0] ? b - a : a - b);
}

static double replicate(const sim_estimate *of, scale_of_difference *scale, size_t r) {
    return scale(of, of->replicates[0][r], of->replicates[1][r]);
}

// How far replicates lie from the estimate; NAN when fewer than a share `needed` of them have a value.
static double standard_error(const sim_estimate *of, scale_of_difference *scale, double needed, double *scratch) {
    size_t n = 0;
    for (size_t r = 0; r < SIM_BOOTSTRAP_REPLICATES; r++) {
        const double value = replicate(of, scale, r);
        if (isfinite(value)) scratch[n++] = value;
    }
    if ((double)n < needed * SIM_BOOTSTRAP_REPLICATES) return (double)NAN;
    return gsl_stats_sd_with_fixed_mean(scratch, 1, n, scale(of, of->values[0], of->values[1]));
}

static double spread_of_logs(const sim_estimate *of, int side, double *scratch) {
    for (size_t r = 0; r < SIM_BOOTSTRAP_REPLICATES; r++) {
        const double value = of->replicates[side][r];
        scratch[r] = value > 0 ? log(value) : log(of->values[side]);
    }
    return gsl_stats_variance(scratch, 1, SIM_BOOTSTRAP_REPLICATES);
}

// A run without the rare long congestion shows too small a figure and too small a spread of it, so intervals miss the truth on the side of more congestion.
// Student's t of a skewed figure is itself skewed, to first order as z - d z^2 with d half the skewness of the figure (Johnson 1978, "Modified t tests and
// confidence intervals for asymmetrical populations"). A logarithm has three standard errors less of skewness than what it is of, and its error shrinks as
// that grows, so there d is half its own skewness and a standard error more, if the spread is B's, or less, if it is A's. That end of the interval is
// moved out by it; the other one stays, because so few blocks do not tell a skewness well enough to move an end in.
static double skew_of(const sim_estimate *of, double *scratch) {
    double share_of_b = 0;
    if (!(of->standard_error > 0)) return 0;
    if (has_ratio(of)) {
        const double a = spread_of_logs(of, 0, scratch), b = spread_of_logs(of, 1, scratch);
        share_of_b = a + b > 0 ? (b - a) / (a + b) : 0;
    }
    size_t n = 0;
    for (size_t r = 0; r < SIM_BOOTSTRAP_REPLICATES; r++) {
        const double value = replicate(of, log_ratio, r);
        if (isfinite(value)) scratch[n++] = value;
    }
    const double d = gsl_stats_skew(scratch, 1, n) / 2 + share_of_b * of->standard_error;
    const double skew = gsl_cdf_ugaussian_Qinv((1 - confidence) / 2) * d;
    return share_of_b < 0 ? fmax(-largest_skew, fmin(skew, 0)) : fmin(largest_skew, fmax(skew, 0));
}

static sim_interval relative_interval(const sim_estimate *of, double deviation) {
    if (!has_ratio(of)) return (sim_interval){ (double)NAN, (double)NAN };
    const double centre = log_ratio(of, of->values[0], of->values[1]), reach = deviation * of->standard_error;
    return (sim_interval){ expm1(centre - reach * (1 + fmax(-of->skew, 0))),
                           expm1(centre + reach * (1 + fmax(of->skew, 0))) };
}

// Ends of the absolute difference, `deviation` standard errors off. Where B / A tells that it is not 0, on the scale of its logarithm; where it does not, A times
// what B / A may be, so that the two never contradict each other.
static sim_interval absolute_interval(const sim_estimate *of, double deviation, double *scratch) {
    const double a = of->difference.absolute, down = deviation * (1 + fmax(-of->skew, 0)),
                 up = deviation * (1 + fmax(of->skew, 0)), near = a > 0 ? down : up, far = a > 0 ? up : down;
    if (!has_ratio(of)) {
        const double error = standard_error(of, plain, usable_share, scratch);
        return (sim_interval){ a - down * error, a + up * error };
    }
    const bool has_sign = fabs(log_ratio(of, of->values[0], of->values[1])) > near * of->standard_error;
    const double log_error = has_sign && a != 0 ? standard_error(of, log_size, 1, scratch) : (double)NAN;
    if (isnan(log_error)) {
        const sim_interval relative = relative_interval(of, deviation);
        return (sim_interval){ of->values[0] * relative.low, of->values[0] * relative.high };
    }
    const double x = a * exp(-near * log_error), y = a * exp(far * log_error);
    return (sim_interval){ fmin(x, y), fmax(x, y) };
}

// ---------------------------------------------------------------------------------------------------------------------
// Degrees of freedom
//
// A spread that k blocks share alike has k - 1. One that a single congestion makes, as that of a p99 often is, has hardly more than one block behind it,
// which shows in the fourth powers of what the blocks contribute (Satterthwaite 1946; 3 sum(u^2)^2 / sum(u^4) is k where u is normal).
// ---------------------------------------------------------------------------------------------------------------------

static double effective_blocks(const double *shares, uint32_t n_blocks) {
    double mean = 0, squares = 0, fourths = 0;
    for (uint32_t i = 0; i < n_blocks; i++) mean += shares[i] / n_blocks;
    for (uint32_t i = 0; i < n_blocks; i++) {
        const double square = (shares[i] - mean) * (shares[i] - mean);
        squares += square;
        fourths += square * square;
    }
    return fourths > 0 ? 3 * squares * squares / fourths : n_blocks;
}

// Over how many blocks the values beyond a percentile are spread: 1 when all are in one.
static double episodes(const double *shares, uint32_t n_blocks) {
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n_blocks; i++) {
        sum += shares[i];
        squares += shares[i] * shares[i];
    }
    return sum * sum / squares;
}

// What each block adds to the logarithm of a ratio of sums, to first order.
static void ratio_shares(const sim_estimate *of, int side, const sim_blocks *blocks, double sign, double *shares) {
    const sim_ratio *sums = &of->ratios[side];
    const double value = of->values[side], total = sums->of[blocks->n_cells];
    for (uint32_t i = 0; i < blocks->n_blocks; i++) {
        const uint32_t from = i * blocks->block_cells;
        const uint32_t to = from + blocks->block_cells < blocks->n_cells ? from + blocks->block_cells : blocks->n_cells;
        const double amount = sums->amount[to] - sums->amount[from], n = sums->of[to] - sums->of[from];
        shares[i] += sign * (amount - value * n) / (value > 0 ? value * total : 1);
    }
}

// How many values beyond the percentile each block has.
static void ranking_shares(const sim_ranking *ranking, double value, const sim_blocks *blocks, double *shares) {
    for (size_t i = ranking->n; i > 0 && ranking->values[i - 1] >= value; i--)
        shares[ranking->cells[i - 1] / blocks->block_cells]++;
}

static double degrees_of_freedom(const sim_estimate_set *set, const sim_estimate *of) {
    double fewest = (double)SIM_BOOTSTRAP_MAX_BLOCKS, shares[SIM_BOOTSTRAP_MAX_BLOCKS] = { 0 };
    for (int side = 0; side < 2; side++) {
        const sim_blocks *blocks = &set->blocks[side];
        const bool is_joint = set->is_paired && !of->rankings[side];
        if (side == 0 || !is_joint) memset(shares, 0, sizeof shares);
        if (of->rankings[side])
            ranking_shares(of->rankings[side], of->values[side], blocks, shares);
        else
            ratio_shares(of, side, blocks, side == 0 ? -1 : 1, shares);
        if (is_joint && side == 0) continue;
        double n = effective_blocks(shares, blocks->n_blocks);
        if (of->rankings[side]) n = fmin(n, 2 + episodes(shares, blocks->n_blocks));
        fewest = fmin(fewest, fmin(n, blocks->n_blocks));
    }
    return fmax(fewest - 1, 1);
}

// ---------------------------------------------------------------------------------------------------------------------
// Families
//
// Seventeen figures and dozens of classes would show one difference in twenty by chance alone. What is called significant is therefore chosen by
// Benjamini and Hochberg (1995): at most 5 % of it is chance, and where nothing differs anything is called so in 5 % of the comparisons only. Intervals of
// what was chosen are widened accordingly (false coverage rate: Benjamini and Yekutieli 2005).
// ---------------------------------------------------------------------------------------------------------------------

static double p_value(const sim_estimate *of, uint32_t n_blocks) {
    const double value = log_ratio(of, of->values[0], of->values[1]), k = n_blocks;
    if (value == 0) return 1;
    if (of->standard_error == 0) return 0;
    const double error = of->standard_error * sqrt(k / (k - 1)) * (1 + fmax(value > 0 ? -of->skew : of->skew, 0));
    return 2 * gsl_cdf_tdist_Q(fabs(value) / error, of->degrees_of_freedom);
}

static bool is_of(const sim_estimate *of, uint32_t family) {
    return of->family == family && of->difference.has_interval;
}

// Largest r of which r p-values are at most 5 % x r / n; `scratch` has room for all of them.
static size_t count_discoveries(const sim_estimate_set *set, uint32_t family, double *scratch, size_t *n_all) {
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        if (is_of(&set->estimates[i], family)) scratch[n++] = set->estimates[i].difference.p_value;
    gsl_sort(scratch, 1, n);
    *n_all = n;
    for (size_t r = n; r > 0; r--)
        if (scratch[r - 1] <= (1 - confidence) * (double)r / (double)n) return r;
    return 0;
}

static double deviation_at(double level, const sim_estimate *of, uint32_t n_blocks) {
    return sim_bootstrap_expand(gsl_cdf_ugaussian_Qinv(level / 2), n_blocks, of->degrees_of_freedom);
}

static void judge(sim_estimate_set *set, uint32_t family, uint32_t n_blocks, double *p_values, double *scratch) {
    size_t n_all;
    const size_t n_found = count_discoveries(set, family, p_values, &n_all);
    const double level = (1 - confidence) * (double)(n_found > 0 ? n_found : 1) / (double)(n_all > 0 ? n_all : 1);
    for (size_t i = 0; i < set->n; i++) {
        sim_estimate *of = &set->estimates[i];
        if (!is_of(of, family)) continue;
        const double deviation = deviation_at(level, of, n_blocks);
        of->difference.is_significant = n_found > 0 && of->difference.p_value <= level;
        of->difference.family_relative = relative_interval(of, deviation);
        of->difference.family_absolute = absolute_interval(of, deviation, scratch);
    }
}

static void find_intervals(sim_estimate_set *set, double *p_values, double *scratch) {
    const uint32_t n_blocks =
        set->blocks[0].n_blocks < set->blocks[1].n_blocks ? set->blocks[0].n_blocks : set->blocks[1].n_blocks;
    for (size_t i = 0; i < set->n; i++) {
        sim_estimate *of = &set->estimates[i];
        of->standard_error = standard_error(of, log_ratio, usable_share, scratch);
        of->difference.has_interval = !isnan(of->standard_error);
        if (!of->difference.has_interval) continue;
        of->degrees_of_freedom = degrees_of_freedom(set, of);
        of->skew = skew_of(of, scratch);
        of->difference.p_value = p_value(of, n_blocks);
        const double own = deviation_at(1 - confidence, of, n_blocks);
        of->difference.relative_interval = relative_interval(of, own);
        of->difference.absolute_interval = absolute_interval(of, own, scratch);
    }
    for (uint32_t family = 0; family < set->n_families; family++) judge(set, family, n_blocks, p_values, scratch);
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it
// ---------------------------------------------------------------------------------------------------------------------

static void find_values(sim_estimate_set *set) {
    for (size_t i = 0; i < set->n; i++) {
        sim_estimate *of = &set->estimates[i];
        for (int side = 0; side < 2; side++) of->values[side] = value_of(of, side, &set->blocks[side]);
        of->difference = (sim_difference){
            .absolute = of->values[1] - of->values[0],
            .relative = of->values[0] > 0 ? of->values[1] / of->values[0] - 1 : (double)NAN,
            .has_interval = set->is_identical, // [0, 0]
            .p_value = 1,
        };
    }
}

static sim_status allocate(sim_estimate_set *set, double **p_values, double **scratch, sim_error *error) {
    bool has_all = true;
    for (size_t i = 0; i < set->n; i++)
        for (int side = 0; side < 2; side++) {
            set->estimates[i].replicates[side] = malloc(SIM_BOOTSTRAP_REPLICATES * sizeof(double));
            has_all &= set->estimates[i].replicates[side] != NULL;
        }
    *p_values = calloc(set->n + 1, sizeof **p_values);
    *scratch = malloc(SIM_BOOTSTRAP_REPLICATES * sizeof **scratch);
    return has_all && *p_values && *scratch ? SIM_OK : sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

sim_status sim_estimates_run(sim_estimate_set *set, const sim_row_pool_options *pool, sim_error *error) {
    find_values(set);
    if (!set->has_blocks || set->is_identical) return SIM_OK;
    double *p_values = NULL, *scratch = NULL;
    set->stopped = pool->stopped;
    sim_status status = allocate(set, &p_values, &scratch, error);
    if (!status) status = sim_row_pool_run(N_ROWS, run_replicates, set, pool, error);
    if (!status) find_intervals(set, p_values, scratch);
    free(p_values);
    free(scratch);
    return status;
}

void sim_estimates_clear(sim_estimate_set *set) {
    for (size_t i = 0; i < set->n; i++)
        for (int side = 0; side < 2; side++) free(set->estimates[i].replicates[side]);
    free(set->estimates);
    *set = (sim_estimate_set){ .estimates = NULL };
}

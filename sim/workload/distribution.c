// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/distribution.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "sim/config/config.h"

static const char hint[] =
    "a whole number, uniform(a,b), normal(mean,sd), lognormal(median,sigma), gamma(shape,mean) or zipf(s,n)";

// --- reading ---------------------------------------------------------------------------------------------------------

typedef struct shape {
    const char *name;
    sim_distribution_kind kind;
    const char *(*check)(double a, double b);
} shape;

static bool is_whole(double value) { return value == floor(value) && fabs(value) <= SIM_MAX_TOKENS; }

static const char *check_uniform(double a, double b) {
    return is_whole(a) && is_whole(b) && a >= 0 && a <= b ? NULL : "uniform(a,b) needs whole numbers 0 <= a <= b";
}
static const char *check_normal(double a, double b) {
    return a >= 0 && a <= SIM_MAX_TOKENS && b >= 0 ? NULL : "normal(mean,sd) needs mean >= 0 and sd >= 0";
}
static const char *check_lognormal(double a, double b) {
    return a > 0 && a <= SIM_MAX_TOKENS && b >= 0 ? NULL : "lognormal(median,sigma) needs median > 0 and sigma >= 0";
}
static const char *check_gamma(double a, double b) {
    return a > 0 && b > 0 && b <= SIM_MAX_TOKENS ? NULL : "gamma(shape,mean) needs shape > 0 and mean > 0";
}
static const char *check_zipf(double a, double b) {
    return a > 0 && is_whole(b) && b >= 1 ? NULL : "zipf(s,n) needs s > 0 and a whole n >= 1";
}

static const shape shapes[] = {
    { "uniform", SIM_DIST_UNIFORM, check_uniform },
    { "normal", SIM_DIST_NORMAL, check_normal },
    { "lognormal", SIM_DIST_LOGNORMAL, check_lognormal },
    { "gamma", SIM_DIST_GAMMA, check_gamma },
    { "zipf", SIM_DIST_ZIPF, check_zipf },
};

// One number between `text` and `end`, a whole number with size suffix or a real one.
static bool read_number(const char *text, const char *end, double *value) {
    while (text < end && isspace((unsigned char)*text)) text++;
    while (end > text && isspace((unsigned char)end[-1])) end--;
    char copy[64];
    size_t n = (size_t)(end - text);
    if (n == 0 || n >= sizeof copy) return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    int64_t whole;
    if (!sim_parse_size(copy, &whole)) {
        *value = (double)whole;
        return true;
    }
    return !sim_parse_real(copy, value) && isfinite(*value);
}

static const char *parse_shape(const shape *form, const char *inside, sim_distribution *out) {
    const char *comma = strchr(inside, ','), *close = strchr(inside, ')');
    if (!comma || !close || close < comma || close[1 + strspn(close + 1, " \t")] != '\0') return hint;
    double a, b;
    if (!read_number(inside, comma, &a) || !read_number(comma + 1, close, &b)) return hint;
    *out = (sim_distribution){ form->kind, a, b };
    return form->check(a, b);
}

const char *sim_distribution_parse(const char *text, void *out) {
    sim_distribution *distribution = out;
    const char *at = text + strspn(text, " \t");
    size_t n_letters = strspn(at, "abcdefghijklmnopqrstuvwxyz");
    if (n_letters == 0) {
        double value;
        if (!read_number(at, at + strlen(at), &value)) return hint;
        *distribution = (sim_distribution){ SIM_DIST_CONSTANT, value, 0 };
        return is_whole(value) && value >= 0 ? NULL : "a number of tokens is whole, from 0 to 2147483647";
    }
    const char *open = at + n_letters + strspn(at + n_letters, " \t");
    if (*open != '(') return hint;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strlen(shapes[i].name) == n_letters && memcmp(shapes[i].name, at, n_letters) == 0)
            return parse_shape(&shapes[i], open + 1, distribution);
    return hint;
}

// --- drawing ---------------------------------------------------------------------------------------------------------

// Rejection-inversion for k in 1..n with probability ~ k^-s (W. Hoermann, G. Derflinger, "Rejection-inversion to
// generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996): no table, constant expected time. H
// is the integral of x^-s, written with expm1 and log1p so that s = 1 is no special case.
static double zipf_integral(double x, double s) {
    double log_x = log(x), t = (1 - s) * log_x;
    return (fabs(t) > 1e-8 ? expm1(t) / t : 1 + t / 2 * (1 + t / 3)) * log_x;
}

static double zipf_integral_inverse(double y, double s) {
    double t = y * (1 - s);
    if (t < -1) t = -1;
    return exp((fabs(t) > 1e-8 ? log1p(t) / t : 1 - t / 2 + t * t / 3) * y);
}

static double draw_zipf(sim_stream *stream, double s, double n) {
    double low = zipf_integral(1.5, s) - 1, high = zipf_integral(n + 0.5, s);
    double surely = 2 - zipf_integral_inverse(zipf_integral(2.5, s) - pow(2, -s), s);
    for (;;) {
        double y = high + sim_stream_uniform(stream) * (low - high);
        double x = zipf_integral_inverse(y, s), k = floor(x + 0.5);
        if (k < 1) k = 1;
        if (k > n) k = n;
        if (k - x <= surely || y >= zipf_integral(k + 0.5, s) - pow(k, -s)) return k;
    }
}

static double draw_once(const sim_distribution *distribution, sim_stream *stream) {
    double a = distribution->a, b = distribution->b;
    switch (distribution->kind) {
    case SIM_DIST_CONSTANT:
        return a;
    case SIM_DIST_UNIFORM:
        return a + (double)sim_stream_integer(stream, (uint64_t)(b - a) + 1);
    case SIM_DIST_NORMAL:
        return sim_stream_gaussian(stream, a, b);
    case SIM_DIST_LOGNORMAL:
        return sim_stream_lognormal(stream, a, b);
    case SIM_DIST_GAMMA:
        return sim_stream_gamma(stream, a, b);
    case SIM_DIST_ZIPF:
        return draw_zipf(stream, a, b);
    }
    return 0;
}

bool sim_distribution_draw(const sim_distribution *distribution, sim_stream *stream, uint32_t minimum, uint32_t maximum,
                           uint32_t *value) {
    enum { MAX_DRAWS = 1000 };
    for (int i = 0; i < MAX_DRAWS; i++) {
        double draw = floor(draw_once(distribution, stream) + 0.5);
        if (draw >= minimum && draw <= maximum) {
            *value = (uint32_t)draw;
            return true;
        }
    }
    return false;
}

bool sim_distribution_reaches_below(const sim_distribution *distribution, double minimum) {
    bool is_bounded = distribution->kind == SIM_DIST_CONSTANT || distribution->kind == SIM_DIST_UNIFORM;
    return is_bounded && distribution->a < minimum;
}

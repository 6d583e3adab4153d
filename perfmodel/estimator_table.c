// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whole passes as they were measured. Each kind has points of its own, since what a pass costs jumps where a kind begins: prefill over (fresh tokens, tokens in
// the cache), decode over (requests, context), mixed over all four.
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "perfmodel/metrics_check.h"
#include "perfmodel/scatter.h"

enum { KINDS = FPM_MIXED + 1, NAME_BYTES = 128 };

typedef struct table_state {
    fpm_scatter *kinds[KINDS]; // none of FPM_EMPTY
    bool is_serial;
    char name[NAME_BYTES];
} table_state;

// What the points of a kind are told apart by.
static const struct axes {
    unsigned n;
    const char *names[FPM_SCATTER_DIMENSIONS];
} axes[KINDS] = {
    [FPM_PREFILL] = { 2, { "prefill_tokens", "prefill_kv_tokens" } },
    [FPM_DECODE] = { 2, { "decode_requests", "decode_kv_tokens" } },
    [FPM_MIXED] = { 4, { "prefill_tokens", "prefill_kv_tokens", "decode_requests", "decode_kv_tokens" } },
};

static void place_of(const fpm_scheduled_requests *s, fpm_kind kind, double x[FPM_SCATTER_DIMENSIONS]) {
    unsigned n = 0;
    if (kind != FPM_DECODE) {
        x[n++] = s->sum_prefill_tokens;
        x[n++] = s->sum_prefill_kv_tokens;
    }
    if (kind != FPM_PREFILL) {
        x[n++] = s->num_decode_requests;
        x[n++] = s->sum_decode_kv_tokens;
    }
    while (n < FPM_SCATTER_DIMENSIONS) x[n++] = 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Refusing
// ---------------------------------------------------------------------------------------------------------------------

static int append(char *text, size_t size, int at, const char *format, ...) __attribute__((format(printf, 4, 5)));
static int append(char *text, size_t size, int at, const char *format, ...) {
    if (at < 0 || (size_t)at >= size) return at;
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text + at, size - (size_t)at, format, arguments);
    va_end(arguments);
    return n < 0 ? at : at + n;
}

static fpm_status refuse(const table_state *table, fpm_kind kind, const double *x, fpm_error *error) {
    const fpm_scatter *points = table->kinds[kind];
    const size_t n_points = fpm_scatter_size(points);
    char pass[160] = "", range[200] = "no such pass";
    int n = 0, m = 0;
    bool is_within = n_points > 0;
    for (unsigned d = 0; d < axes[kind].n; d++) {
        n = append(pass, sizeof pass, n, "%s%s %.0f", d ? ", " : "", axes[kind].names[d], x[d]);
        if (n_points == 0) continue;
        const double least = fpm_scatter_min(points, d), most = fpm_scatter_max(points, d);
        m = append(range, sizeof range, m, "%s%.0f to %.0f", d ? ", " : "", least, most);
        is_within = is_within && x[d] >= least && x[d] <= most;
    }
    return fpm_error_set(error, FPM_UNSUPPORTED, "%s has no %s pass %s %s; it holds %s (it does not extrapolate)",
                         table->name, fpm_kind_name(kind), is_within ? "around" : "as far as", pass, range);
}

// ---------------------------------------------------------------------------------------------------------------------
// Pricing
// ---------------------------------------------------------------------------------------------------------------------

static fpm_status price(const table_state *table, const fpm_scheduled_requests *s, fpm_kind kind, double *ms,
                        fpm_error *error) {
    double x[FPM_SCATTER_DIMENSIONS];
    place_of(s, kind, x);
    return fpm_scatter_value(table->kinds[kind], x, ms) ? FPM_OK : refuse(table, kind, x, error);
}

static fpm_status rank_ms(const table_state *table, const fpm_scheduled_requests *s, double *ms, fpm_error *error) {
    const fpm_kind kind = fpm_scheduled_kind(s);
    *ms = 0;
    if (kind == FPM_EMPTY) return FPM_OK;
    if (kind != FPM_MIXED || !table->is_serial) return price(table, s, kind, ms, error);
    double decode_ms;
    fpm_status status = price(table, s, FPM_PREFILL, ms, error);
    if (!status) status = price(table, s, FPM_DECODE, &decode_ms, error);
    if (!status) *ms += decode_ms;
    return status;
}

static fpm_status estimate(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms, fpm_error *error) {
    double slowest = 0;
    for (size_t i = 0; i < n_ranks; i++) {
        double this_ms;
        const fpm_status status = rank_ms(state, &ranks[i].scheduled, &this_ms, error);
        if (status) return status;
        if (this_ms > slowest) slowest = this_ms;
    }
    *ms = slowest;
    return FPM_OK;
}

static void free_table(void *state) {
    table_state *table = state;
    for (int kind = 0; kind < KINDS; kind++) fpm_scatter_free(table->kinds[kind]);
    free(table);
}

static const fpm_estimator_ops ops = { .name = "table", .estimate_ms = estimate, .free_state = free_table };

// ---------------------------------------------------------------------------------------------------------------------
// Building
// ---------------------------------------------------------------------------------------------------------------------

fpm_status fpm_measured_pass_check(const fpm_measured_pass *pass, fpm_error *error) {
    const fpm_scheduled_requests *s = &pass->scheduled;
    if (fpm_scheduled_kind(s) == FPM_EMPTY)
        return fpm_error_set(error, FPM_OUT_OF_RANGE,
                             "a pass without work (prefill_tokens or decode_requests must be >= 1)");
    if (s->sum_prefill_tokens == 0 && s->sum_prefill_kv_tokens > 0)
        return fpm_error_set(error, FPM_OUT_OF_RANGE, "prefill_kv_tokens without prefill_tokens");
    if (s->num_decode_requests == 0 && s->sum_decode_kv_tokens > 0)
        return fpm_error_set(error, FPM_OUT_OF_RANGE, "decode_kv_tokens without decode_requests");
    if (!(isfinite(pass->ms) && pass->ms > 0))
        return fpm_error_set(error, FPM_OUT_OF_RANGE, "the time of a pass must be above 0");
    return FPM_OK;
}

static uint64_t load_of(const fpm_scheduled_requests *s) {
    return (uint64_t)s->sum_prefill_tokens + s->sum_prefill_kv_tokens + s->num_decode_requests +
           s->sum_decode_kv_tokens;
}

bool fpm_measured_pass_of(const fpm_metrics *ranks, size_t n_ranks, fpm_measured_pass *pass) {
    uint64_t largest = 0;
    pass->ms = 0;
    for (size_t i = 0; i < n_ranks; i++) {
        const uint64_t load = load_of(&ranks[i].scheduled);
        if (fpm_scheduled_kind(&ranks[i].scheduled) != FPM_EMPTY && load >= largest) {
            largest = load;
            pass->scheduled = ranks[i].scheduled;
            // Without fresh tokens, what prompts have in the cache costs nothing.
            if (pass->scheduled.sum_prefill_tokens == 0) pass->scheduled.sum_prefill_kv_tokens = 0;
        }
        const double ms = ranks[i].wall_time_s * 1e3;
        if (isfinite(ms) && ms > pass->ms) pass->ms = ms;
    }
    return largest > 0 && pass->ms > 0;
}

static fpm_status add_kind(table_state *table, fpm_kind kind, const fpm_table_options *options, fpm_scatter_point *room,
                           fpm_error *error) {
    size_t n = 0;
    for (size_t i = 0; i < options->n_passes; i++) {
        const fpm_measured_pass *pass = &options->passes[i];
        if (fpm_scheduled_kind(&pass->scheduled) != kind) continue;
        place_of(&pass->scheduled, kind, room[n].x);
        room[n++].value = pass->ms;
    }
    table->kinds[kind] = fpm_scatter_new(room, n, axes[kind].n);
    return table->kinds[kind] ? FPM_OK : fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
}

static fpm_status check(const fpm_table_options *options, fpm_error *error) {
    if (options->pricing != FPM_PRICING_FUSED && options->pricing != FPM_PRICING_SERIAL)
        return fpm_error_set(error, FPM_INVALID_CONFIG, "pricing must be fused or serial");
    if (options->n_passes == 0) return fpm_error_set(error, FPM_INVALID_CONFIG, "a table needs a measured pass");
    for (size_t i = 0; i < options->n_passes; i++) {
        const fpm_status status = fpm_measured_pass_check(&options->passes[i], error);
        if (status) return status;
    }
    return FPM_OK;
}

fpm_status fpm_estimator_new_table(fpm_estimator **estimator, const fpm_table_options *options, fpm_error *error) {
    *estimator = NULL;
    fpm_status status = check(options, error);
    if (status) return status;
    table_state *table = calloc(1, sizeof *table);
    fpm_scatter_point *room = calloc(options->n_passes, sizeof *room);
    if (!table || !room) status = fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    if (table) {
        table->is_serial = options->pricing == FPM_PRICING_SERIAL;
        snprintf(table->name, sizeof table->name, "%s", options->name ? options->name : "the table");
    }
    for (int kind = FPM_PREFILL; !status && kind < KINDS; kind++)
        status = add_kind(table, (fpm_kind)kind, options, room, error);
    free(room);
    if (!status) return fpm_estimator_new(estimator, &ops, table, error);
    if (table) free_table(table);
    return status;
}

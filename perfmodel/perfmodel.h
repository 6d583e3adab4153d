// SPDX-License-Identifier: GPL-3.0-or-later
//
// libforepass-perfmodel: what one forward pass of an LLM engine costs.
//
// The library knows batches, not requests: a scheduler describes the pass it is about to run as one ForwardPassMetrics
// record per attention-data-parallel rank, and asks for milliseconds. It knows no queue and no clock, so it can be
// embedded in a planner, a router or another simulator.
//
// Conventions. Functions that can fail return an fpm_status and, when they do fail, fill the fpm_error given last (which may be NULL); on success it is
// left alone, as are the outputs on failure unless said otherwise. Texts that a function returns belong to the object asked and live as long as it.
// Handles come from *_new and go with *_free; free(NULL) does nothing. Const handles may be read by several threads.
// Estimates are milliseconds; `wall_time_s` (wire name `wall_time`) is seconds, as in the wire schema.
#ifndef PERFMODEL_PERFMODEL_H
#define PERFMODEL_PERFMODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Status and errors
// ---------------------------------------------------------------------------------------------------------------------

// enumerator, name (the reference's error class where it has one), meaning
#define FPM_STATUS_LIST(X)                                                                                          \
    X(FPM_OK, "Ok", "done")                                                                                         \
    X(FPM_NO_MEMORY, "OutOfMemory", "an allocation failed; the object is as it was before the call")                \
    X(FPM_IO, "IoError", "a file could not be opened, read or written")                                             \
    X(FPM_SYNTAX, "SyntaxError", "text that is not the expected format; line and column say where")                 \
    X(FPM_UNSUPPORTED_SCHEMA_VERSION, "UnsupportedSchemaVersion", "a ForwardPassMetrics record of another version") \
    X(FPM_INVALID_METRICS, "InvalidForwardPassMetrics", "counts and sums of a record contradict each other")        \
    X(FPM_INVALID_CONFIG, "InvalidEngineConfig", "an option or an estimator parameter is out of range")             \
    X(FPM_UNSUPPORTED, "UnsupportedConfig", "a model, system, layout or pass the estimator has no price for")       \
    X(FPM_OUT_OF_RANGE, "OutOfRange", "a number that does not fit its field, or an estimate that is not finite")

typedef enum fpm_status {
#define X(code, name, meaning) code,
    FPM_STATUS_LIST(X)
#undef X
} fpm_status;

// Name of a status as in the list above; never NULL.
const char *fpm_status_name(fpm_status status);

#define FPM_MESSAGE_BYTES 320

typedef struct fpm_error {
    fpm_status code;
    int64_t line;   // physical line from 1; 0 = no place
    int64_t column; // byte in the line from 1; 0 = no place
    char file[256]; // "" = no file
    char message[FPM_MESSAGE_BYTES];
} fpm_error;

// Fill `error` (may be NULL) with a formatted message and return `code`, so a failing function ends in one line.
fpm_status fpm_error_set(fpm_error *error, fpm_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---------------------------------------------------------------------------------------------------------------------
// ForwardPassMetrics, version 1 (wire schema: ai-dynamo ForwardPassMetrics; notes/fpm-behaviour.md section 1)
// ---------------------------------------------------------------------------------------------------------------------

#define FPM_VERSION 1u

typedef struct fpm_scheduled_requests {
    uint32_t num_prefill_requests;  // items of this pass that compute prompt tokens
    uint32_t sum_prefill_tokens;    // fresh tokens of those items, in this pass
    uint32_t sum_prefill_kv_tokens; // tokens of those items already in the KV cache (cache hits, earlier chunks)
    uint32_t num_decode_requests;   // items that compute their newest token only
    uint32_t sum_decode_kv_tokens;  // their context at schedule time, before the new token
    uint32_t reserved_zero;         // padding made visible; keep 0
    double var_prefill_length;      // population variance of the full prompt lengths, tokens^2
    double var_decode_kv_tokens;    // population variance of the decode contexts, tokens^2
} fpm_scheduled_requests;

typedef struct fpm_queued_requests {
    uint32_t num_prefill_requests;
    uint32_t sum_prefill_tokens;
    uint32_t num_decode_requests;
    uint32_t sum_decode_kv_tokens;
    double var_prefill_length;
    double var_decode_kv_tokens;
} fpm_queued_requests;

// What the schema lacks to price attention exactly. Written to logs as the optional object `x_moments`.
typedef struct fpm_moments {
    double sum_prefill_attention;  // sum over prefill items of new x (past + new / 2), tokens^2; exact below 2^52
    uint32_t max_context_tokens;   // largest past + new of any item
    uint32_t num_finished_prompts; // prefill items whose prompt is complete at the end of the pass
    bool is_present;               // false: derive from the means and variances of the schema
} fpm_moments;

typedef struct fpm_metrics {
    fpm_scheduled_requests scheduled;
    uint32_t version; // FPM_VERSION
    uint32_t dp_rank;
    double wall_time_s; // 0 = not measured
    uint64_t counter_id;
    const char *worker_id; // borrowed; NULL reads as ""
    fpm_queued_requests queued;
    fpm_moments moments;
} fpm_metrics;

// A record of an idle rank: version 1, everything else zero.
fpm_metrics fpm_metrics_idle(void);

// Check every rank in order; the first failure wins. Errors: FPM_UNSUPPORTED_SCHEMA_VERSION, then FPM_INVALID_METRICS
// (prefill sums without prefill requests; decode KV without decode requests; n_ranks = 0). O(n_ranks).
fpm_status fpm_metrics_validate(const fpm_metrics *ranks, size_t n_ranks, fpm_error *error);

typedef enum fpm_kind { FPM_EMPTY, FPM_PREFILL, FPM_DECODE, FPM_MIXED } fpm_kind;

// Kind of one rank: prefill = fresh prompt tokens and no decodes, decode = decodes only, mixed = both, empty = neither.
fpm_kind fpm_metrics_kind(const fpm_metrics *rank);
// "empty", "prefill", "decode", "mixed".
const char *fpm_kind_name(fpm_kind kind);

// Shortest decimal form that reads back as exactly `value`; finite values only. NUL-terminated; returns the length.
// Independent of the locale as long as nobody calls setlocale. Whole numbers below 10^15 carry neither point nor
// exponent.
#define FPM_NUMBER_BYTES 32
size_t fpm_format_number(char buffer[FPM_NUMBER_BYTES], double value);

// Write one record as one JSON line, newline included, every field of the schema spelt out and `x_moments` when
// present. FPM_IO on a short write, FPM_OUT_OF_RANGE (and nothing written) on a number JSON cannot carry. `worker_id`
// is UTF-8.
fpm_status fpm_metrics_write_json(FILE *out, const fpm_metrics *rank, fpm_error *error);

// Reader of a log: one JSON object a line, or an array of them, strict (missing fields are 0, unknown keys skipped; null,
// negative, fractional or too large counts refused; duplicate keys refused; NUL bytes refused). Blank lines are skipped.
// Plain, gzip or zstd by content; "-" is standard input. One thread at a time.
typedef struct fpm_log_reader fpm_log_reader;
fpm_status fpm_log_reader_open(fpm_log_reader **reader, const char *path, fpm_error *error);
// Over memory, which must outlive the reader; `name` stands in error messages.
fpm_status fpm_log_reader_open_memory(fpm_log_reader **reader, const char *text, size_t n_bytes, const char *name,
                                      fpm_error *error);
void fpm_log_reader_free(fpm_log_reader *reader);

// Next iteration: consecutive rows of one (worker_id, counter_id), one per rank in the order of the file. A row whose
// dp_rank is already there begins a new iteration (rows without any ids are therefore one iteration each). An array is
// always one iteration of its own, whatever its ids say; the worker is that of its first rank.
// `*n_ranks` = 0 at the end of the log. `*ranks` (and the worker_id strings in it) belongs to the reader and lives
// until the next call. `*line` is that of the first row. Memory: the largest iteration only.
// The rows are syntactically sound but not validated. Errors carry file, line and column, and stick:
// FPM_SYNTAX, FPM_OUT_OF_RANGE (a number that does not fit its field), FPM_IO, FPM_NO_MEMORY.
fpm_status fpm_log_reader_next(fpm_log_reader *reader, const fpm_metrics **ranks, size_t *n_ranks, int64_t *line,
                               fpm_error *error);
// Line of a rank of the iteration given out last; 0: there is no such rank.
int64_t fpm_log_reader_line(const fpm_log_reader *reader, size_t rank);

// ---------------------------------------------------------------------------------------------------------------------
// Estimators: interchangeable prices of a pass
// ---------------------------------------------------------------------------------------------------------------------

// A new estimator is a const table of functions plus its state. `estimate_ms` gets validated ranks (n_ranks >= 1) and
// returns the time of the slowest one; it must be const, thread-safe and free of allocation.
typedef struct fpm_estimator_ops {
    const char *name;
    fpm_status (*estimate_ms)(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                              fpm_error *error);
    void (*free_state)(void *state); // may be NULL
} fpm_estimator_ops;

// Reference-counted handle, so that models cloned from one another can share it.
typedef struct fpm_estimator fpm_estimator;

// Takes ownership of `state` (also when it fails: the state is freed). `ops` is kept by pointer and must outlive the estimator. FPM_INVALID_CONFIG: no
// estimate_ms, or a name that is not 1 to 63 printable ASCII characters (it stands in saved states).
#define FPM_ESTIMATOR_NAME_BYTES 64
fpm_status fpm_estimator_new(fpm_estimator **estimator, const fpm_estimator_ops *ops, void *state, fpm_error *error);
fpm_estimator *fpm_estimator_share(fpm_estimator *estimator); // one more owner; thread-safe
void fpm_estimator_free(fpm_estimator *estimator);            // one owner less; the last one frees the state
const char *fpm_estimator_name(const fpm_estimator *estimator);

// Time of one pass in ms, the slowest rank's. Validates first. Empty work costs 0.
fpm_status fpm_estimate_ms(const fpm_estimator *estimator, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                           fpm_error *error);
// The same without validation, for a caller that made the ranks itself (the simulator's inner loop).
fpm_status fpm_estimate_valid_ms(const fpm_estimator *estimator, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                                 fpm_error *error);

// How a pass with both prefill and decode work is priced (design/interface.md "Pricing of a pass").
typedef enum fpm_pricing { FPM_PRICING_FUSED, FPM_PRICING_SERIAL } fpm_pricing;

// fixed: constants. Prefill and decode passes cost prefill_ms and decode_ms; a mixed pass costs mixed_ms if given (>=
// 0), else their sum (serial) or the larger one (fused). FPM_INVALID_CONFIG on negative or non-finite values.
typedef struct fpm_fixed_options {
    double prefill_ms;
    double decode_ms;
    double mixed_ms; // < 0: not given
    fpm_pricing pricing;
} fpm_fixed_options;
fpm_status fpm_estimator_new_fixed(fpm_estimator **estimator, const fpm_fixed_options *options, fpm_error *error);

// polynomial: T = fresh prefill tokens, u = min(1, decode KV tokens / capacity_tokens):
//   P(T) = 4.209989e-7 T^2 + 1.518344e-2 T + 16.50142 ms      D(u) = max(1, -25.74 u^2 + 54.01 u + 5.74) ms
//   mixed: serial P + D(u), fused P + D(u) - D(0)             (source: ai-dynamo mocker, via interface.md)
// FPM_INVALID_CONFIG when capacity_tokens is 0.
typedef struct fpm_polynomial_options {
    uint64_t capacity_tokens; // KV tokens of one rank: blocks x block size
    fpm_pricing pricing;
} fpm_polynomial_options;
fpm_status fpm_estimator_new_polynomial(fpm_estimator **estimator, const fpm_polynomial_options *options,
                                        fpm_error *error);

// table: whole passes that were measured, and what lies between them. A kind has its own points: prefill (prefill_tokens, prefill_kv_tokens), decode
// (decode_requests, decode_kv_tokens), mixed (all four). At a measured place the answer is its median; between them it is a weighted mean of the nearest
// measurements around the pass, multilinear on a grid (scatter.h); a pass that measurements do not surround is refused with FPM_UNSUPPORTED. Several ranks:
// the slowest. Serial pricing adds the prices of the prefill and the decode part, and does not read mixed measurements.
typedef struct fpm_measured_pass {
    fpm_scheduled_requests scheduled; // sums and num_decode_requests; the rest is not read
    double ms;                        // > 0
} fpm_measured_pass;
// FPM_OUT_OF_RANGE with the rule that is broken: no work, a cache without its requests, a time that is not above 0.
fpm_status fpm_measured_pass_check(const fpm_measured_pass *pass, fpm_error *error);
// From an iteration of a log: the rank with the largest sum of its counts (the last of equals) and the largest wall time. False: no work, or not measured.
bool fpm_measured_pass_of(const fpm_metrics *ranks, size_t n_ranks, fpm_measured_pass *pass);

typedef struct fpm_table_options {
    const fpm_measured_pass *passes; // copied
    size_t n_passes;
    const char *name; // stands in messages, cut to 127 bytes; NULL: "the table"
    fpm_pricing pricing;
} fpm_table_options;
// FPM_INVALID_CONFIG: no pass, no such pricing; FPM_OUT_OF_RANGE: a pass that fails its check; FPM_NO_MEMORY. O(n log n).
fpm_status fpm_estimator_new_table(fpm_estimator **estimator, const fpm_table_options *options, fpm_error *error);

// ---------------------------------------------------------------------------------------------------------------------
// The tuning model: an estimator that learns from measured wall times, or a model that only learns
// (behaviour: ai-dynamo ForwardPassPerfModel, notes/fpm-behaviour.md)
// ---------------------------------------------------------------------------------------------------------------------

// Ways to learn beside the reference's, which are the defaults.
typedef enum fpm_correction_form {
    FPM_CORRECTION_GRID,  // the median of each cell (reference)
    FPM_CORRECTION_SMOOTH // one monotone surface through all samples of a kind, drawn towards 1
} fpm_correction_form;
typedef enum fpm_regression_form {
    FPM_REGRESSION_REFERENCE,
    FPM_REGRESSION_ROBUST // outliers count less, newer samples more; batch size counts in mixed passes, decode may flatten
} fpm_regression_form;

// Names, defaults and rules are the reference's, but for the forms. No upper limits: memory follows the samples retained, never these
// numbers.
typedef struct fpm_model_options {
    uint64_t max_observations;           // samples retained per kind (prefill, decode, mixed); 64; >= 1
    uint64_t min_observations;           // of a kind before it corrects or predicts; 5; 1 .. max_observations
    double min_faster_correction_factor; // least observed/estimated ratio that is believed; 0.5; in (0, 1]
    double max_slower_correction_factor; // largest; 2.0; finite, >= 1
    bool is_faster_unbounded;            // no lower bound: min_faster_correction_factor is not read
    bool is_slower_unbounded;            // no upper bound: max_slower_correction_factor is not read
    uint64_t bucket_count;               // cells of the sample grid of a kind; 16; a perfect square >= 1
    uint64_t max_num_tokens;             // upper end of the prefill-token axis of the correction grid; 8192; >= 1
    uint64_t max_batch_size;             // of the decode-request axis; 512; >= 1
    uint64_t max_kv_tokens;              // of the decode-KV axis; 2000000; >= 1
    fpm_correction_form correction;      // with an estimator
    fpm_regression_form regression;      // without
} fpm_model_options;

fpm_model_options fpm_model_options_default(void);
// FPM_INVALID_CONFIG with the rule that is broken first, in the order of the reference.
fpm_status fpm_model_options_validate(const fpm_model_options *options, fpm_error *error);

// What a model predicts (source of the rules: ai-dynamo aiconfigurator, fpm; restated in notes/fpm-behaviour.md).
//
// Load of a pass: one rank speaks for it, the one with the largest sum of its features, the later one on a tie.
// Features by kind: prefill (sum_prefill_tokens); decode (num_decode_requests, sum_decode_kv_tokens); mixed
// (sum_prefill_tokens, sum_decode_kv_tokens).
// Native: ms = estimator(all ranks) x factor(load). The grid of a kind has bucket_count cells, over [0, max_num_tokens]
// for prefill, else its root per axis over [0, max_batch_size] or [0, max_num_tokens] x [0, max_kv_tokens], ends
// inclusive. The factor is the median of observed/estimated (each within the factor bounds) of the cell; it is 1 where
// the cell is empty, outside of the grid, and while the kind has fewer than min_observations.
// Regression: ms = max(1e-6, a + b x0 + c x1), least squares with b, c >= 0; none when no slope is positive (with more
// samples than features) or below min_observations. Prefill from 6 samples on: ms = a + l x + r max(0, x - k), weighted
// by 1 / max(ms, 25), l >= 0, l + r >= 0, k one of 12 knots at quintiles and even steps of log x, where that fit
// exists.
// Memory: of each kind max_observations samples are kept; beyond, the fullest cell gives up its oldest, among equally
// full ones the cell whose oldest is oldest. A regression's cells divide the range of all loads it has seen.
typedef struct fpm_model fpm_model;

// A model that corrects `estimator` by local medians of observed/estimated. Shares the estimator (the caller keeps its
// own ownership). FPM_INVALID_CONFIG, FPM_NO_MEMORY. options = NULL: the defaults.
fpm_status fpm_model_new_native(fpm_model **model, fpm_estimator *estimator, const fpm_model_options *options,
                                fpm_error *error);
// A model that knows nothing until it is tuned: per kind a regression over the load. Same errors.
fpm_status fpm_model_new_regression(fpm_model **model, const fpm_model_options *options, fpm_error *error);

// Makes an estimator, e.g. from files. On failure returns a status and fills `error`.
typedef fpm_status (*fpm_estimator_maker)(void *context, fpm_estimator **estimator, fpm_error *error);
// Native when `make` can construct its estimator; else regression, with the reason kept as `last_warning`. Only a
// failure to construct falls back: FPM_UNSUPPORTED (unknown model or layout), FPM_IO, FPM_SYNTAX, FPM_OUT_OF_RANGE
// (data missing, unreadable or unsound). Invalid options, found before `make` is called, FPM_INVALID_CONFIG from `make`
// and FPM_NO_MEMORY are errors. `make` gives its estimator away.
fpm_status fpm_model_best_available(fpm_model **model, fpm_estimator_maker make, void *context,
                                    const fpm_model_options *options, fpm_error *error);

// A deep copy that goes its own way; the estimator is shared. FPM_NO_MEMORY.
fpm_status fpm_model_clone(fpm_model **copy, const fpm_model *model, fpm_error *error);
void fpm_model_free(fpm_model *model);

// Time of one pass in ms. Three outcomes: an error status; FPM_OK and *has_estimate false (a regression that has not
// seen enough of this kind); FPM_OK, *has_estimate true and *ms. Empty work is 0 ms, always.
// Errors: those of fpm_metrics_validate and of the estimator; FPM_OUT_OF_RANGE when the result is not finite.
// Allocates nothing. Several threads may ask at once as long as nobody tunes. O(n_ranks).
fpm_status fpm_model_estimate_ms(const fpm_model *model, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                                 bool *has_estimate, fpm_error *error);

// The model as an estimator: it prices, and learns no more. Takes ownership of the model (also when it fails); shares
// `fallback`, which prices what a regression does not know (NULL: such a pass is FPM_UNSUPPORTED). FPM_NO_MEMORY.
fpm_status fpm_estimator_new_model(fpm_estimator **estimator, fpm_model *model, fpm_estimator *fallback,
                                   fpm_error *error);

typedef struct fpm_iteration {
    const fpm_metrics *ranks;
    size_t n_ranks;
} fpm_iteration;

// The time a model is shown of a pass: the largest finite wall_time_s > 0 of its ranks in ms (0: there is none; infinite
// by overflow only).
double fpm_iteration_observed_ms(const fpm_metrics *ranks, size_t n_ranks);
// The same in seconds, as it was recorded.
double fpm_iteration_wall_s(const fpm_metrics *ranks, size_t n_ranks);

// Learn from finished passes, in order. The observed time of a pass is the largest finite wall_time_s > 0 of its ranks;
// passes without one and empty ones are skipped (but validated). At the first error (a rank that is not valid, a
// failing estimator, no memory) the call ends: passes before it stay learned, it and those after it are not. The state
// is that of one call per pass. Native: O(populated cells) per pass; regression: one fit per kind and
// call, O(max_observations).
fpm_status fpm_model_tune(fpm_model *model, const fpm_iteration *iterations, size_t n_iterations, fpm_error *error);

// The same in steps, for a caller who foresees a pass, watches it and learns from it later, as a simulator does: the ranks are read once, and an estimator
// that the caller has asked already is not asked again. Results are those of the calls above.
//
// What a model reads of a pass: the rank that speaks for its load, and the price.
typedef struct fpm_pass {
    fpm_kind kind; // FPM_EMPTY: no rank has work; nothing else counts then
    uint32_t x[2]; // features of the kind, as above; x[1] is 0 or whatever for prefill
    uint32_t batch;
    double base_ms; // what the estimator says of all ranks, finite, >= 0; a regression does not read it
} fpm_pass;
// All but base_ms, which is the caller's. Errors of fpm_metrics_validate. O(n_ranks).
fpm_status fpm_pass_read(fpm_pass *pass, const fpm_metrics *ranks, size_t n_ranks, fpm_error *error);
// Outcomes of fpm_model_estimate_ms; O(1).
fpm_status fpm_model_foresee(const fpm_model *model, const fpm_pass *pass, double *ms, bool *has_estimate,
                             fpm_error *error);
// Observed times in ms beside the passes; what is not above 0 is skipped, as are empty passes. FPM_NO_MEMORY as in fpm_model_tune.
fpm_status fpm_model_learn(fpm_model *model, const fpm_pass *passes, const double *observed_ms, size_t n_passes,
                           fpm_error *error);

// enumerator, name of the reference
#define FPM_SOURCE_LIST(X)                                \
    X(FPM_SOURCE_NATIVE, "aic")                           \
    X(FPM_SOURCE_NATIVE_CORRECTED, "aic_with_correction") \
    X(FPM_SOURCE_REGRESSION, "fallback_regression")
#define FPM_READINESS_LIST(X)                                                   \
    X(FPM_READY, "ready")                                                       \
    X(FPM_INSUFFICIENT_DATA, "insufficient_data")   /* no kind has a fit yet */ \
    X(FPM_UNSUPPORTED_CONFIG, "unsupported_config") /* the same, after best_available fell back */
#define X(code, name) code,
typedef enum fpm_source { FPM_SOURCE_LIST(X) } fpm_source;
typedef enum fpm_readiness { FPM_READINESS_LIST(X) } fpm_readiness;
#undef X
const char *fpm_source_name(fpm_source source);
const char *fpm_readiness_name(fpm_readiness readiness);

typedef struct fpm_diagnostics {
    fpm_source source;
    fpm_readiness readiness;
    uint64_t retained_observations;    // all kinds
    uint64_t correction_ready_buckets; // populated buckets of kinds with min_observations; 0 in a regression
    const char *last_warning;          // why best_available fell back; NULL = it did not. Belongs to the model
} fpm_diagnostics;
fpm_diagnostics fpm_model_diagnostics(const fpm_model *model); // O(buckets)

// Correction factors now in force: least, largest and plain mean over the buckets that have one. `kind` FPM_EMPTY pools
// all kinds. False when there is none (always in a regression). O(buckets).
typedef struct fpm_factors {
    double min, max, avg;
    uint64_t n_buckets;
} fpm_factors;
bool fpm_model_factors(const fpm_model *model, fpm_kind kind, fpm_factors *factors);

// One populated cell of the grid of a kind: which loads fall in it, how many samples it holds, and the median that corrects them.
typedef struct fpm_cell {
    double low[2],
        high[2]; // per axis; prefill has one axis, the other bounds are 0. `high` belongs to the next cell but at the end of the axis
    uint64_t n_samples;
    double factor; // 0 in a regression, whose cells only decide what is forgotten
} fpm_cell;
// The populated cells of a kind, in the order of their oldest samples, at most `capacity` of them; returns how many there are. None of FPM_EMPTY.
// The factors are in force once the kind has min_observations. O(samples).
size_t fpm_model_cells(const fpm_model *model, fpm_kind kind, fpm_cell *cells, size_t capacity);

uint64_t fpm_model_retained(const fpm_model *model, fpm_kind kind); // samples of a kind; FPM_EMPTY: of all
const fpm_model_options *fpm_model_get_options(const fpm_model *model);

// Saved state: one JSON document (options, mode, name of the estimator, retained samples in the order of learning, with
// every number exact). A loaded model answers, and goes on learning, exactly like the saved one. The estimator itself
// is not saved: loading a native model takes one of the same name, of which it becomes one more owner.
fpm_status fpm_model_write(const fpm_model *model, FILE *out, fpm_error *error); // FPM_IO
// To a file that appears under its name only when complete (temporary name beside it, fsync, rename). FPM_IO.
fpm_status fpm_model_save(const fpm_model *model, const char *path, fpm_error *error);

// Load. `estimator` may be NULL: then a native state is refused (FPM_INVALID_CONFIG), as is one of another name; a
// regression ignores it. Everything is checked: FPM_SYNTAX and FPM_OUT_OF_RANGE with line and column of the text for a
// document that is no saved state, FPM_INVALID_CONFIG for invalid options, FPM_IO, FPM_NO_MEMORY.
fpm_status fpm_model_load(fpm_model **model, const char *path, fpm_estimator *estimator, fpm_error *error);
fpm_status fpm_model_read(fpm_model **model, const char *text, size_t n_bytes, fpm_estimator *estimator,
                          fpm_error *error);

#ifdef __cplusplus
}
#endif

#endif

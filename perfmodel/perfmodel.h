// SPDX-License-Identifier: GPL-3.0-or-later
//
// libforepass-perfmodel: what one forward pass of an LLM engine costs.
//
// The library knows batches, not requests: a scheduler describes the pass it is about to run as one ForwardPassMetrics
// record per attention-data-parallel rank, and asks for milliseconds. It knows no queue and no clock, so it can be
// embedded in a planner, a router or another simulator.
//
// Conventions. Functions that can fail return an fpm_status and fill the fpm_error given last (which may be NULL).
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
    X(FPM_UNSUPPORTED, "UnsupportedConfig", "a model, system or layout the estimator has no price for")             \
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
// Independent of the locale as long as nobody calls setlocale. Whole numbers below 10^15 carry neither point nor exponent.
#define FPM_NUMBER_BYTES 32
size_t fpm_format_number(char buffer[FPM_NUMBER_BYTES], double value);

// Write one record as one JSON line, newline included, every field of the schema spelt out and `x_moments` when present.
// FPM_IO on a short write, FPM_OUT_OF_RANGE (and nothing written) on a number JSON cannot carry. `worker_id` is UTF-8.
fpm_status fpm_metrics_write_json(FILE *out, const fpm_metrics *rank, fpm_error *error);

// Reader of a log: one JSON object a line, strict (missing fields are 0, unknown keys skipped; null, negative, fractional
// or too large counts refused; duplicate keys refused; NUL bytes refused). Blank lines are skipped. Plain, gzip or zstd by
// content; "-" is standard input. One thread at a time.
typedef struct fpm_log_reader fpm_log_reader;
fpm_status fpm_log_reader_open(fpm_log_reader **reader, const char *path, fpm_error *error);
// Over memory, which must outlive the reader; `name` stands in error messages.
fpm_status fpm_log_reader_open_memory(fpm_log_reader **reader, const char *text, size_t n_bytes, const char *name,
                                      fpm_error *error);
void fpm_log_reader_free(fpm_log_reader *reader);

// Next iteration: consecutive rows of one (worker_id, counter_id), one per rank in the order of the file. A row whose
// dp_rank is already there begins a new iteration (rows without any ids are therefore one iteration each).
// `*n_ranks` = 0 at the end of the log. `*ranks` (and the worker_id strings in it) belongs to the reader and lives until
// the next call. `*line` is that of the first row. Memory: the largest iteration only.
// The rows are syntactically sound but not validated. Errors carry file, line and column, and stick:
// FPM_SYNTAX, FPM_OUT_OF_RANGE (a number that does not fit its field), FPM_IO, FPM_NO_MEMORY.
fpm_status fpm_log_reader_next(fpm_log_reader *reader, const fpm_metrics **ranks, size_t *n_ranks, int64_t *line,
                               fpm_error *error);

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

// Takes ownership of `state` (also when it fails: the state is freed).
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

// fixed: constants. Prefill and decode passes cost prefill_ms and decode_ms; a mixed pass costs mixed_ms if given (>= 0),
// else their sum (serial) or the larger one (fused). FPM_INVALID_CONFIG on negative or non-finite values.
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

#ifdef __cplusplus
}
#endif

#endif

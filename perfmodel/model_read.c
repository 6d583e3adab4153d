// SPDX-License-Identifier: GPL-3.0-or-later
//
// Saved state, reading. Nothing in the document is believed: every field is checked against what a model of those
// options could have saved, so that a loaded model is always one that tuning could have made. Two passes: the head
// (mode, options), then the samples, wherever in the document they stand.
#include "perfmodel/json_scanner.h"
#include "perfmodel/model_internal.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_NAMES(names) ((unsigned)(sizeof(names) / sizeof((names)[0])))
#define MOST_STATE_BYTES ((size_t)1 << 30)

typedef struct head {
    char mode[16];
    char estimator[FPM_ESTIMATOR_NAME_BYTES];
    char warning[FPM_WARNING_BYTES];
    bool has_estimator, has_warning;
    fpm_model_options options;
    fpm_json kinds; // cursor
} head;

// --- head ------------------------------------------------------------------------------------------------------------

static void read_bound(fpm_json *json, bool *is_unbounded, double *value) {
    *is_unbounded = fpm_json_peek(json) == FPM_JSON_NULL;
    if (*is_unbounded)
        fpm_json_null(json);
    else
        fpm_json_double(json, value);
}

// "correction" and "regression" stand there only where they are not the reference's.
static void read_form(fpm_json *json, const char *wanted, const char *complaint) {
    char text[16] = "";
    if (fpm_json_string(json, text, sizeof text, NULL) && strcmp(text, wanted) != 0)
        fpm_json_fail(json, FPM_SYNTAX, complaint);
}

static void read_options(fpm_json *json, fpm_model_options *o) {
    static const fpm_json_name names[] = {
        FPM_JSON_NAME("max_observations"),
        FPM_JSON_NAME("min_observations"),
        FPM_JSON_NAME("min_faster_correction_factor"),
        FPM_JSON_NAME("max_slower_correction_factor"),
        FPM_JSON_NAME("bucket_count"),
        FPM_JSON_NAME("max_num_tokens"),
        FPM_JSON_NAME("max_batch_size"),
        FPM_JSON_NAME("max_kv_tokens"),
        FPM_JSON_NAME("correction"),
        FPM_JSON_NAME("regression"),
    };
    enum { N_NEEDED = 8, CORRECTION = 8, REGRESSION = 9 };
    uint64_t *const counts[] = {
        &o->max_observations, &o->min_observations, NULL, NULL, &o->bucket_count, &o->max_num_tokens,
        &o->max_batch_size,   &o->max_kv_tokens
    };
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, names, N_NAMES(names))) return;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        if (i == 2)
            read_bound(json, &o->is_faster_unbounded, &o->min_faster_correction_factor);
        else if (i == 3)
            read_bound(json, &o->is_slower_unbounded, &o->max_slower_correction_factor);
        else if (i == CORRECTION)
            read_form(json, "smooth", "correction must be \"smooth\", or left out");
        else if (i == REGRESSION)
            read_form(json, "robust", "regression must be \"robust\", or left out");
        else
            fpm_json_u64(json, counts[i]);
    }
    const unsigned needed = (1u << N_NEEDED) - 1;
    if ((object.seen & needed) != needed) fpm_json_fail(json, FPM_SYNTAX, "an option is missing");
    o->correction = object.seen >> CORRECTION & 1 ? FPM_CORRECTION_SMOOTH : FPM_CORRECTION_GRID;
    o->regression = object.seen >> REGRESSION & 1 ? FPM_REGRESSION_ROBUST : FPM_REGRESSION_REFERENCE;
}

static void read_format(fpm_json *json) {
    char format[64] = "";
    if (fpm_json_string(json, format, sizeof format, NULL) && strcmp(format, FPM_STATE_FORMAT) != 0)
        fpm_json_fail(json, FPM_SYNTAX, "not a saved model (\"format\" must be \"" FPM_STATE_FORMAT "\")");
}

static void read_version(fpm_json *json) {
    uint32_t version;
    if (fpm_json_u32(json, &version) && version != 1)
        fpm_json_fail(json, FPM_SYNTAX, "a saved model of another version (1 is known)");
}

static void read_head(fpm_json *json, head *h) {
    enum { FORMAT, VERSION, MODE, ESTIMATOR, WARNING, OPTIONS, KINDS };
    static const fpm_json_name names[] = {
        FPM_JSON_NAME("format"),       FPM_JSON_NAME("version"), FPM_JSON_NAME("mode"),  FPM_JSON_NAME("estimator"),
        FPM_JSON_NAME("last_warning"), FPM_JSON_NAME("options"), FPM_JSON_NAME("kinds"),
    };
    const unsigned needed = 1 << FORMAT | 1 << VERSION | 1 << MODE | 1 << OPTIONS | 1 << KINDS;
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, names, N_NAMES(names))) return;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        if (i == FORMAT) read_format(json);
        if (i == VERSION) read_version(json);
        if (i == MODE) fpm_json_string(json, h->mode, sizeof h->mode, NULL);
        if (i == ESTIMATOR) h->has_estimator = fpm_json_string(json, h->estimator, sizeof h->estimator, NULL);
        if (i == WARNING) h->has_warning = fpm_json_string(json, h->warning, sizeof h->warning, NULL);
        if (i == OPTIONS) read_options(json, &h->options);
        if (i == KINDS) {
            h->kinds = *json;
            fpm_json_skip(json);
        }
    }
    const bool is_native = strcmp(h->mode, "native") == 0;
    if ((object.seen & needed) != needed)
        fpm_json_fail(json, FPM_SYNTAX, "a saved model needs format, version, mode, options and kinds");
    if (!is_native && strcmp(h->mode, "regression") != 0)
        fpm_json_fail(json, FPM_SYNTAX, "\"mode\" must be \"native\" or \"regression\"");
    if (is_native != h->has_estimator)
        fpm_json_fail(json, FPM_SYNTAX, "a native model, and no other, names its estimator");
    if (is_native && h->has_warning) fpm_json_fail(json, FPM_SYNTAX, "a native model has no last_warning");
}

// --- samples ---------------------------------------------------------------------------------------------------------

// Begin the next element of an array that must have one.
static bool next_element(fpm_json *json, bool *is_first) {
    if (fpm_json_array_next(json, is_first)) return true;
    fpm_json_fail(json, FPM_SYNTAX, "too few numbers");
    return false;
}

static void end_array(fpm_json *json, bool *is_first) {
    if (fpm_json_array_next(json, is_first)) fpm_json_fail(json, FPM_SYNTAX, "too many numbers");
}

static void read_axes(fpm_json *json, unsigned n_axes, double at[2]) {
    bool is_first = true;
    if (!fpm_json_array_begin(json)) return;
    for (unsigned i = 0; i < n_axes && next_element(json, &is_first); i++) {
        uint32_t value = 0;
        fpm_json_u32(json, &value);
        at[i] = (double)value;
    }
    end_array(json, &is_first);
}

static void read_value(fpm_json *json, double *value) {
    char text[8] = "";
    if (fpm_json_peek(json) != FPM_JSON_STRING) {
        fpm_json_double(json, value);
        return;
    }
    if (fpm_json_string(json, text, sizeof text, NULL) && strcmp(text, "inf") != 0)
        fpm_json_fail(json, FPM_SYNTAX, "a number or \"inf\" is wanted here");
    *value = HUGE_VAL;
}

static bool is_possible_ratio(const fpm_model_options *o, double ratio) {
    if (!o->is_faster_unbounded && ratio < o->min_faster_correction_factor) return false;
    if (!o->is_slower_unbounded && ratio > o->max_slower_correction_factor) return false;
    return ratio >= 0.0;
}

static void learn_sample(fpm_json *json, fpm_model *model, unsigned k, fpm_load load, uint32_t batch, double value) {
    const fpm_samples *samples = fpm_model_samples(model, k);
    const bool is_possible = model->estimator ? is_possible_ratio(&model->options, value) : value > 0.0;
    if (load.x[0] == 0 || !fpm_grid_contains(&samples->grid, load))
        fpm_json_fail(json, FPM_OUT_OF_RANGE, "a sample outside of the grid");
    else if (!is_possible)
        fpm_json_fail(json, FPM_OUT_OF_RANGE, "a sample value that tuning cannot have kept");
    else if (samples->n >= model->options.max_observations)
        fpm_json_fail(json, FPM_OUT_OF_RANGE, "more samples than max_observations");
    else if (!(model->estimator ? fpm_correction_learn(&model->corrections[k], load, value)
                                : fpm_regression_learn(&model->regressions[k], load, batch, value)))
        fpm_json_fail(json, FPM_NO_MEMORY, "out of memory");
}

static void read_samples(fpm_json *json, fpm_model *model, unsigned k) {
    const unsigned n_axes = fpm_model_samples(model, k)->grid.n_axes;
    const bool has_batch = !model->estimator && model->regressions[k].is_robust && k + FPM_PREFILL == FPM_MIXED;
    bool is_first = true;
    if (!fpm_json_array_begin(json)) return;
    while (fpm_json_array_next(json, &is_first)) {
        fpm_load load = { { 0, 0 } };
        uint32_t batch = 0;
        double value = 0.0;
        bool is_first_number = true;
        if (!fpm_json_array_begin(json)) return;
        for (unsigned i = 0; i < n_axes && next_element(json, &is_first_number); i++) fpm_json_u32(json, &load.x[i]);
        if (has_batch && next_element(json, &is_first_number)) fpm_json_u32(json, &batch);
        if (next_element(json, &is_first_number)) read_value(json, &value);
        end_array(json, &is_first_number);
        if (json->failed) return;
        learn_sample(json, model, k, load, batch, value);
    }
}

static void read_kind(fpm_json *json, fpm_model *model, unsigned k) {
    enum { LOW, HIGH, SAMPLES };
    static const fpm_json_name names[] = { FPM_JSON_NAME("low"), FPM_JSON_NAME("high"), FPM_JSON_NAME("samples") };
    const unsigned n_axes = fpm_model_samples(model, k)->grid.n_axes;
    double low[2] = { 0.0, 0.0 }, high[2] = { 0.0, 0.0 };
    fpm_json samples = { .failed = FPM_OK };
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, names, N_NAMES(names))) return;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        if (i == LOW) read_axes(json, n_axes, low);
        if (i == HIGH) read_axes(json, n_axes, high);
        if (i == SAMPLES) {
            samples = *json;
            fpm_json_skip(json);
        }
    }
    if (!(object.seen >> SAMPLES & 1)) fpm_json_fail(json, FPM_SYNTAX, "a kind has no samples");
    if (json->failed) return;
    const unsigned bounds = (unsigned)object.seen & 3;
    const bool has_bounds = bounds == 3;
    if (bounds != 0 && (!has_bounds || model->estimator))
        fpm_json_fail(json, FPM_SYNTAX, "low and high stand together, and in a regression only");
    if (low[0] > high[0] || low[1] > high[1]) fpm_json_fail(json, FPM_OUT_OF_RANGE, "low is above high");
    if (json->failed) return;
    if (has_bounds) fpm_samples_set_bounds(&model->regressions[k].samples, low, high);
    read_samples(&samples, model, k);
    if (!samples.failed && has_bounds && fpm_model_samples(model, k)->n == 0)
        fpm_json_fail(&samples, FPM_SYNTAX, "bounds without samples");
    if (samples.failed) *json = samples; // report where it stands
}

static void read_kinds(fpm_json *json, fpm_model *model) {
    static const fpm_json_name names[FPM_N_KINDS] = { FPM_JSON_NAME("prefill"), FPM_JSON_NAME("decode"),
                                                      FPM_JSON_NAME("mixed") };
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, names, FPM_N_KINDS)) return;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) read_kind(json, model, (unsigned)i);
    if (object.seen != 7) fpm_json_fail(json, FPM_SYNTAX, "kinds needs prefill, decode and mixed");
    fpm_model_refit(model);
}

// --- document --------------------------------------------------------------------------------------------------------

// Turn the scanner's error, whose column counts from the start of the text, into line and column.
static fpm_status end_with_error(fpm_json *json, fpm_error *error) {
    fpm_error found;
    const fpm_status status = fpm_json_end(json, &found);
    int64_t line = 1, column = 1;
    for (const char *at = json->begin; at < json->at; at++) {
        column = *at == '\n' ? 1 : column + 1;
        line += *at == '\n';
    }
    found.line = line;
    found.column = column;
    if (error) *error = found;
    return status;
}

static fpm_status check_estimator(const head *h, const fpm_estimator *estimator, fpm_error *error) {
    if (!h->has_estimator) return FPM_OK;
    if (!estimator)
        return fpm_error_set(error, FPM_INVALID_CONFIG,
                             "the saved model corrects the estimator \"%s\", which is needed", h->estimator);
    if (strcmp(h->estimator, fpm_estimator_name(estimator)) != 0)
        return fpm_error_set(error, FPM_INVALID_CONFIG, "the saved model corrects the estimator \"%s\", not \"%s\"",
                             h->estimator, fpm_estimator_name(estimator));
    return FPM_OK;
}

fpm_status fpm_model_read(fpm_model **model, const char *text, size_t n_bytes, fpm_estimator *estimator,
                          fpm_error *error) {
    head h = { 0 };
    fpm_json json;
    *model = NULL;
    fpm_json_begin(&json, text, n_bytes);
    read_head(&json, &h);
    fpm_error ignored;
    if (fpm_json_end(&json, &ignored)) return end_with_error(&json, error);
    fpm_status status = fpm_model_options_validate(&h.options, error);
    if (!status) status = check_estimator(&h, estimator, error);
    if (status) return status;

    fpm_model *loaded = fpm_model_allocate(h.has_estimator ? estimator : NULL, &h.options);
    if (!loaded) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    loaded->has_warning = h.has_warning;
    memcpy(loaded->last_warning, h.warning, sizeof h.warning);
    read_kinds(&h.kinds, loaded);
    if (h.kinds.failed) {
        fpm_model_free(loaded);
        return end_with_error(&h.kinds, error);
    }
    *model = loaded;
    return FPM_OK;
}

static fpm_status read_stream(FILE *in, char **text, size_t *n_bytes, fpm_error *error) {
    size_t capacity = 0;
    *text = NULL;
    *n_bytes = 0;
    do {
        if (*n_bytes == capacity) {
            if (capacity >= MOST_STATE_BYTES)
                return fpm_error_set(error, FPM_OUT_OF_RANGE, "a saved model of more than 1 GiB");
            capacity = capacity ? 2 * capacity : 65536;
            char *grown = realloc(*text, capacity);
            if (!grown) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
            *text = grown;
        }
        *n_bytes += fread(*text + *n_bytes, 1, capacity - *n_bytes, in);
    } while (!feof(in) && !ferror(in));
    return ferror(in) ? fpm_error_set(error, FPM_IO, "cannot read: %s", strerror(errno)) : FPM_OK;
}

fpm_status fpm_model_load(fpm_model **model, const char *path, fpm_estimator *estimator, fpm_error *error) {
    char *text = NULL;
    size_t n_bytes = 0;
    fpm_status status;
    *model = NULL;
    FILE *in = fopen(path, "re");
    if (in) {
        status = read_stream(in, &text, &n_bytes, error);
        fclose(in);
    } else {
        status = fpm_error_set(error, FPM_IO, "cannot open: %s", strerror(errno));
    }
    if (!status) status = fpm_model_read(model, text, n_bytes, estimator, error);
    free(text);
    if (status && error) snprintf(error->file, sizeof error->file, "%s", path);
    return status;
}

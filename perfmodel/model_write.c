// SPDX-License-Identifier: GPL-3.0-or-later
//
// Saved state, writing. The document holds what cannot be worked out again: options, the retained samples in the order
// of insertion, the bounds a regression's grid has grown to. Buckets, medians and fits follow from those.
//
// Written and read (model_read.c) by the library's own JSON code and not by cJSON, which prints doubles to within one
// ulp instead of exactly and keeps 64-bit options as doubles.
#include "perfmodel/json_writer.h"
#include "perfmodel/model_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put_member(fpm_json_writer *writer, const char *name, uint64_t value) {
    fpm_json_put_string(writer, name);
    FPM_JSON_PUT(writer, ":");
    fpm_json_put_u64(writer, value);
}

static void put_bound(fpm_json_writer *writer, const char *name, bool is_unbounded, double value) {
    FPM_JSON_PUT(writer, ",");
    fpm_json_put_string(writer, name);
    FPM_JSON_PUT(writer, ":");
    if (is_unbounded)
        FPM_JSON_PUT(writer, "null");
    else
        fpm_json_put_double(writer, value);
}

static void put_options(fpm_json_writer *writer, const fpm_model_options *o) {
    FPM_JSON_PUT(writer, ",\n\"options\":{");
    put_member(writer, "max_observations", o->max_observations);
    FPM_JSON_PUT(writer, ",");
    put_member(writer, "min_observations", o->min_observations);
    put_bound(writer, "min_faster_correction_factor", o->is_faster_unbounded, o->min_faster_correction_factor);
    put_bound(writer, "max_slower_correction_factor", o->is_slower_unbounded, o->max_slower_correction_factor);
    FPM_JSON_PUT(writer, ",");
    put_member(writer, "bucket_count", o->bucket_count);
    FPM_JSON_PUT(writer, ",");
    put_member(writer, "max_num_tokens", o->max_num_tokens);
    FPM_JSON_PUT(writer, ",");
    put_member(writer, "max_batch_size", o->max_batch_size);
    FPM_JSON_PUT(writer, ",");
    put_member(writer, "max_kv_tokens", o->max_kv_tokens);
    if (o->correction == FPM_CORRECTION_SMOOTH) FPM_JSON_PUT(writer, ",\"correction\":\"smooth\"");
    if (o->regression == FPM_REGRESSION_ROBUST) FPM_JSON_PUT(writer, ",\"regression\":\"robust\"");
    FPM_JSON_PUT(writer, "}");
}

static void put_axes(fpm_json_writer *writer, const double at[2], unsigned n_axes) {
    FPM_JSON_PUT(writer, "[");
    for (unsigned i = 0; i < n_axes; i++) {
        if (i) FPM_JSON_PUT(writer, ",");
        fpm_json_put_double(writer, at[i]);
    }
    FPM_JSON_PUT(writer, "]");
}

// batch: NULL, or the third number of the load.
static void put_sample(fpm_json_writer *writer, const fpm_slot *slot, unsigned n_axes, const uint32_t *batch) {
    FPM_JSON_PUT(writer, "[");
    for (unsigned i = 0; i < n_axes; i++) {
        fpm_json_put_u64(writer, slot->load.x[i]);
        FPM_JSON_PUT(writer, ",");
    }
    if (batch) {
        fpm_json_put_u64(writer, *batch);
        FPM_JSON_PUT(writer, ",");
    }
    if (slot->value <= DBL_MAX)
        fpm_json_put_double(writer, slot->value);
    else
        FPM_JSON_PUT(writer, "\"inf\"");
    FPM_JSON_PUT(writer, "]");
}

static void put_samples(fpm_json_writer *writer, const fpm_model *model, unsigned k) {
    const fpm_samples *samples = fpm_model_samples(model, k);
    const uint32_t *batch = model->estimator ? NULL : model->regressions[k].robust.batch;
    const unsigned n_axes = samples->grid.n_axes;
    fpm_json_put_string(writer, fpm_kind_name((fpm_kind)(FPM_PREFILL + k)));
    FPM_JSON_PUT(writer, ":{");
    if (!samples->grid.is_fixed && samples->n > 0) {
        FPM_JSON_PUT(writer, "\"low\":");
        put_axes(writer, samples->grid.low, n_axes);
        FPM_JSON_PUT(writer, ",\"high\":");
        put_axes(writer, samples->grid.high, n_axes);
        FPM_JSON_PUT(writer, ",");
    }
    FPM_JSON_PUT(writer, "\"samples\":[");
    for (uint32_t slot = fpm_samples_oldest(samples); slot; slot = samples->slots[slot].newer) {
        if (slot != fpm_samples_oldest(samples)) FPM_JSON_PUT(writer, ",");
        put_sample(writer, &samples->slots[slot], n_axes, batch ? &batch[slot] : NULL);
    }
    FPM_JSON_PUT(writer, "]}");
}

fpm_status fpm_model_write(const fpm_model *model, FILE *out, fpm_error *error) {
    fpm_json_writer writer;
    fpm_json_writer_begin(&writer, out);
    FPM_JSON_PUT(&writer, "{\"format\":\"" FPM_STATE_FORMAT "\",\"version\":1,\"mode\":");
    fpm_json_put_string(&writer, model->estimator ? "native" : "regression");
    if (model->estimator) {
        FPM_JSON_PUT(&writer, ",\"estimator\":");
        fpm_json_put_string(&writer, fpm_estimator_name(model->estimator));
    }
    if (model->has_warning) {
        FPM_JSON_PUT(&writer, ",\"last_warning\":");
        fpm_json_put_string(&writer, model->last_warning);
    }
    put_options(&writer, &model->options);
    FPM_JSON_PUT(&writer, ",\n\"kinds\":{\n");
    for (unsigned k = 0; k < FPM_N_KINDS; k++) {
        if (k) FPM_JSON_PUT(&writer, ",\n");
        put_samples(&writer, model, k);
    }
    FPM_JSON_PUT(&writer, "}}\n");
    return fpm_json_writer_end(&writer, error);
}

// --- files -----------------------------------------------------------------------------------------------------------

static fpm_status fail(fpm_error *error, const char *path, const char *what) {
    const int reason = errno;
    fpm_error_set(error, FPM_IO, "%s: %s", what, strerror(reason));
    if (error) snprintf(error->file, sizeof error->file, "%s", path);
    return FPM_IO;
}

// Create a new file beside `path`, so that the rename stays within one file system.
static int create_beside(const char *path, char *name, size_t capacity) {
    int fd = -1;
    for (int attempt = 0; attempt < 100 && fd < 0; attempt++) {
        snprintf(name, capacity, "%s.%ld.%d.tmp", path, (long)getpid(), attempt);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) return -1;
    }
    return fd;
}

// Write and close; the file is on disk when this returns FPM_OK.
static fpm_status write_and_close(const fpm_model *model, FILE *out, const char *path, fpm_error *error) {
    fpm_status status = fpm_model_write(model, out, error);
    if (status && error) snprintf(error->file, sizeof error->file, "%.*s", (int)sizeof error->file - 1, path);
    if (!status && (fflush(out) != 0 || fsync(fileno(out)) != 0)) status = fail(error, path, "cannot write");
    if (fclose(out) != 0 && !status) status = fail(error, path, "cannot write");
    return status;
}

// Renaming would put a file in the place of a device, a pipe or a directory.
static bool is_replaceable(const char *path) {
    struct stat there;
    return stat(path, &there) != 0 || S_ISREG(there.st_mode);
}

static fpm_status save_as(const fpm_model *model, const char *path, fpm_error *error) {
    const size_t capacity = strlen(path) + 64;
    char *name = malloc(capacity);
    if (!name) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    fpm_status status;
    const int fd = create_beside(path, name, capacity);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out) {
        status = fail(error, path, "cannot create");
        if (fd >= 0) close(fd);
    } else {
        status = write_and_close(model, out, path, error);
    }
    if (!status && rename(name, path) != 0) status = fail(error, path, "cannot rename to this name");
    if (status && fd >= 0) unlink(name);
    free(name);
    return status;
}

// A symbolic link stays one: what it leads to is replaced.
fpm_status fpm_model_save(const fpm_model *model, const char *path, fpm_error *error) {
    if (!is_replaceable(path)) return fpm_error_set(error, FPM_IO, "%s is no regular file", path);
    char real[PATH_MAX];
    return save_as(model, realpath(path, real) ? real : path, error); // no real path: there is nothing yet
}

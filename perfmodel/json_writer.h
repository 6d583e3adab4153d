// SPDX-License-Identifier: GPL-3.0-or-later
//
// Writes JSON text to a stream through a small buffer: the counterpart of json_scanner.h, for FPM rows and saved
// models.
//
// Why not cJSON: it prints doubles with a tolerance of one ulp, not exactly, and 64-bit integers as doubles. Commas and
// brackets are the caller's, who writes fixed layouts anyway; this knows numbers, strings and the failing disk.
// Errors stick; check once with fpm_json_writer_end.
#ifndef PERFMODEL_JSON_WRITER_H
#define PERFMODEL_JSON_WRITER_H

#include "perfmodel/perfmodel.h"

typedef struct fpm_json_writer {
    FILE *out;
    size_t n_bytes;    // waiting in `buffer`
    fpm_status failed; // FPM_OK, FPM_IO or FPM_OUT_OF_RANGE
    char buffer[4096];
} fpm_json_writer;

void fpm_json_writer_begin(fpm_json_writer *writer, FILE *out);
// Hand everything to the stream (which keeps its own buffer: the caller still has to fclose and check it).
// FPM_IO: the stream refused; FPM_OUT_OF_RANGE: a double that JSON cannot carry was written.
fpm_status fpm_json_writer_end(fpm_json_writer *writer, fpm_error *error);

void fpm_json_put_text(fpm_json_writer *writer, const char *text, size_t n_bytes); // as it stands
#define FPM_JSON_PUT(writer, literal) fpm_json_put_text((writer), (literal), sizeof(literal) - 1)
void fpm_json_put_u64(fpm_json_writer *writer, uint64_t value);
void fpm_json_put_double(fpm_json_writer *writer, double value);     // shortest exact form
void fpm_json_put_string(fpm_json_writer *writer, const char *text); // quoted and escaped; UTF-8 passes as it is

#endif

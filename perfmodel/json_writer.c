// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/json_writer.h"

#include <math.h>
#include <string.h>

void fpm_json_writer_begin(fpm_json_writer *writer, FILE *out) {
    writer->out = out;
    writer->n_bytes = 0;
    writer->failed = FPM_OK;
}

static void flush(fpm_json_writer *writer) {
    if (writer->n_bytes && !writer->failed &&
        fwrite(writer->buffer, 1, writer->n_bytes, writer->out) != writer->n_bytes)
        writer->failed = FPM_IO;
    writer->n_bytes = 0;
}

fpm_status fpm_json_writer_end(fpm_json_writer *writer, fpm_error *error) {
    flush(writer);
    if (writer->failed == FPM_IO) return fpm_error_set(error, FPM_IO, "cannot write (short write)");
    if (writer->failed)
        return fpm_error_set(error, writer->failed, "a number that JSON cannot carry (NaN or infinite)");
    return FPM_OK;
}

// Room for `n_bytes` (at most 64) at the end of the buffer.
static char *reserve(fpm_json_writer *writer, size_t n_bytes) {
    if (sizeof writer->buffer - writer->n_bytes < n_bytes) flush(writer);
    return writer->buffer + writer->n_bytes;
}

void fpm_json_put_text(fpm_json_writer *writer, const char *text, size_t n_bytes) {
    while (n_bytes > 0) {
        if (writer->n_bytes == sizeof writer->buffer) flush(writer);
        const size_t room = sizeof writer->buffer - writer->n_bytes;
        const size_t n = n_bytes < room ? n_bytes : room;
        memcpy(writer->buffer + writer->n_bytes, text, n);
        writer->n_bytes += n;
        text += n;
        n_bytes -= n;
    }
}

void fpm_json_put_u64(fpm_json_writer *writer, uint64_t value) {
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    char *out = reserve(writer, sizeof digits);
    for (size_t i = 0; i < n; i++) out[i] = digits[n - 1 - i];
    writer->n_bytes += n;
}

void fpm_json_put_double(fpm_json_writer *writer, double value) {
    if (!isfinite(value)) {
        if (!writer->failed) writer->failed = FPM_OUT_OF_RANGE;
        return;
    }
    char *out = reserve(writer, FPM_NUMBER_BYTES);
    writer->n_bytes += fpm_format_number(out, value);
}

void fpm_json_put_string(fpm_json_writer *writer, const char *text) {
    static const char hex[] = "0123456789abcdef";
    FPM_JSON_PUT(writer, "\"");
    for (const char *at = text; *at;) {
        const char *plain = at;
        while ((unsigned char)*at >= 0x20 && *at != '"' && *at != '\\') at++;
        fpm_json_put_text(writer, plain, (size_t)(at - plain));
        if (!*at) break;
        const unsigned char c = (unsigned char)*at++;
        if (c >= 0x20) {
            fpm_json_put_text(writer, (const char[]){ '\\', (char)c }, 2);
        } else {
            fpm_json_put_text(writer, (const char[]){ '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] }, 6);
        }
    }
    FPM_JSON_PUT(writer, "\"");
}

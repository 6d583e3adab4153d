// SPDX-License-Identifier: GPL-3.0-or-later
//
// Lines of a text file, plain, gzip (any number of members) or zstd, told apart by their first bytes and never by name.
//
// One reader serves traces (JSON lines and CSV) and FPM logs. Lines have no length limit but memory; physical line
// numbers count every LF. The terminator (LF or CRLF) is not part of a line; a last line without one is a line. A UTF-8
// byte-order mark at the start is skipped. UTF-16 input is refused. NUL bytes and lone CRs are left for the caller to
// refuse per row, who is told of NULs by `has_nul`.
#ifndef PERFMODEL_LINE_READER_H
#define PERFMODEL_LINE_READER_H

#include "perfmodel/perfmodel.h"

typedef struct fpm_line_reader fpm_line_reader;

typedef struct fpm_line {
    const char *text; // belongs to the reader, lives until the next call; not NUL-terminated
    size_t n_bytes;
    int64_t number; // physical line from 1
    bool has_nul;
    bool has_end; // false: the last line of the file, without a line end
} fpm_line;

// "-" is standard input. FPM_IO: missing or unreadable; FPM_SYNTAX: UTF-16, or a compressed file that is not sound.
fpm_status fpm_line_reader_open(fpm_line_reader **reader, const char *path, fpm_error *error);
// Over memory that outlives the reader, by the same rules (tests, fuzzing). `name` stands in error messages;
// `chunk_limit` is the most bytes taken at once (0 = no limit), so that tests can put a boundary anywhere.
fpm_status fpm_line_reader_open_memory(fpm_line_reader **reader, const char *text, size_t n_bytes, const char *name,
                                       size_t chunk_limit, fpm_error *error);
void fpm_line_reader_free(fpm_line_reader *reader);
const char *fpm_line_reader_name(const fpm_line_reader *reader); // the path as given; "<stdin>" for "-"

// Next line; *has_line = false at the end. Errors: FPM_IO, FPM_SYNTAX (corrupt compressed data), FPM_NO_MEMORY; they
// stick. The error names file and the line that was being read.
fpm_status fpm_line_reader_next(fpm_line_reader *reader, fpm_line *line, bool *has_line, fpm_error *error);

#endif

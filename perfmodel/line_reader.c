// SPDX-License-Identifier: GPL-3.0-or-later
//
// Three stages: a source (descriptor or memory) gives raw bytes, a decoder chosen by the first bytes turns them into
// text at the end of one growing buffer, and lines are cut out of that buffer with memchr. Plain files are read
// straight into the buffer. stdio was not used: getline copies every byte twice and cannot tell a read error from the
// end without ceremony.
#include "perfmodel/line_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    MAGIC_BYTES = 4,         // that tell the encoding
    RAW_BYTES = 64 * 1024,   // compressed input read at once
    FIRST_BYTES = 128 * 1024 // first size of the text buffer: a few hundred rows of a usual trace
};

typedef enum encoding { PLAIN, GZIP, ZSTD } encoding;

struct fpm_line_reader {
    char *name;
    int descriptor; // -1: memory
    bool owns_descriptor;
    const char *memory;
    size_t memory_left;
    size_t chunk_limit; // most bytes taken from the source at once; tests lower it

    encoding encoding;
    z_stream gzip;
    bool gzip_is_ready;
    ZSTD_DStream *zstd;
    bool is_inside_member; // compressed: between the start and the end of a member or frame
    size_t n_members;      // complete gzip members
    unsigned char *raw;    // compressed bytes [raw_at, raw_end) not decoded yet
    size_t raw_at, raw_end;
    bool source_is_empty;

    char *text; // decoded bytes [begin, end) not given out yet; [begin, scanned) holds no LF
    size_t begin, scanned, end, capacity;
    bool text_is_complete; // nothing comes after `end`
    bool text_had_nul;
    int64_t n_lines;  // given out so far
    fpm_error failed; // the first error of _next; it sticks
};

// --- errors ----------------------------------------------------------------------------------------------------------

static void name_file(const fpm_line_reader *reader, fpm_error *error) {
    if (!error) return;
    size_t n = strlen(reader->name);
    if (n >= sizeof error->file) n = sizeof error->file - 1;
    memcpy(error->file, reader->name, n);
    error->file[n] = '\0';
}

static fpm_status fail(fpm_line_reader *reader, fpm_status code, const char *what) {
    fpm_error_set(&reader->failed, code, "%s", what);
    name_file(reader, &reader->failed);
    return code;
}

// The same, in the line that was being read.
static fpm_status fail_here(fpm_line_reader *reader, fpm_status code, const char *what) {
    fail(reader, code, what);
    reader->failed.line = reader->n_lines + 1;
    return code;
}

// --- source ----------------------------------------------------------------------------------------------------------

// Up to `capacity` raw bytes; 0 at the end, which is then remembered.
static fpm_status read_source(fpm_line_reader *reader, void *out, size_t capacity, size_t *n_read) {
    *n_read = 0;
    if (reader->source_is_empty) return FPM_OK;
    if (capacity > reader->chunk_limit) capacity = reader->chunk_limit;
    if (reader->descriptor < 0) {
        *n_read = capacity < reader->memory_left ? capacity : reader->memory_left;
        if (*n_read) memcpy(out, reader->memory, *n_read);
        reader->memory += *n_read;
        reader->memory_left -= *n_read;
    } else {
        ssize_t n;
        do n = read(reader->descriptor, out, capacity);
        while (n < 0 && errno == EINTR);
        if (n < 0) return fail(reader, FPM_IO, strerror(errno));
        *n_read = (size_t)n;
    }
    reader->source_is_empty = *n_read == 0;
    return FPM_OK;
}

static fpm_status refill_raw(fpm_line_reader *reader) {
    if (reader->raw_at < reader->raw_end || reader->source_is_empty) return FPM_OK;
    reader->raw_at = 0;
    return read_source(reader, reader->raw, RAW_BYTES, &reader->raw_end);
}

// --- decoders: fill out[0, capacity); *n_out comes as 0 and stays 0 only at the end ----------------------------------

static fpm_status refuse_gzip(fpm_line_reader *reader) {
    if (reader->n_members > 0 && reader->gzip.total_in <= 10) // still in its header
        return fail_here(reader, FPM_SYNTAX, "something that is not gzip follows the gzip data (corrupt file?)");
    return fail_here(reader, FPM_SYNTAX, "the gzip data is corrupt (get the file again)");
}

static fpm_status decode_gzip(fpm_line_reader *reader, char *out, size_t capacity, size_t *n_out) {
    z_stream *gzip = &reader->gzip;
    if (capacity > UINT32_MAX) capacity = UINT32_MAX;
    while (*n_out == 0) {
        fpm_status status = refill_raw(reader);
        if (status) return status;
        bool is_drained = reader->raw_at == reader->raw_end;
        if (!reader->is_inside_member) {
            if (is_drained) return FPM_OK;
            if (inflateReset(gzip) != Z_OK) return fail(reader, FPM_NO_MEMORY, "out of memory");
            reader->is_inside_member = true;
        }
        gzip->next_in = reader->raw + reader->raw_at;
        gzip->avail_in = (uInt)(reader->raw_end - reader->raw_at);
        gzip->next_out = (Bytef *)out;
        gzip->avail_out = (uInt)capacity;
        int result = inflate(gzip, Z_NO_FLUSH);
        reader->raw_at = reader->raw_end - gzip->avail_in;
        *n_out = capacity - gzip->avail_out;
        if (result == Z_MEM_ERROR) return fail(reader, FPM_NO_MEMORY, "out of memory");
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return refuse_gzip(reader);
        if (result == Z_STREAM_END) {
            reader->is_inside_member = false;
            reader->n_members++;
        } else if (is_drained && *n_out == 0) {
            return fail_here(reader, FPM_SYNTAX, "the gzip data ends too early (truncated; get the file again)");
        }
    }
    return FPM_OK;
}

static fpm_status decode_zstd(fpm_line_reader *reader, char *out, size_t capacity, size_t *n_out) {
    ZSTD_outBuffer output = { out, capacity, 0 };
    while (output.pos == 0) {
        fpm_status status = refill_raw(reader);
        if (status) return status;
        // At the end of the source the decoder may still hold bytes, so it is asked once more with no input.
        bool is_drained = reader->raw_at == reader->raw_end;
        ZSTD_inBuffer input = { reader->raw, reader->raw_end, reader->raw_at };
        if (is_drained && !reader->is_inside_member) break;
        size_t result = ZSTD_decompressStream(reader->zstd, &output, &input);
        if (ZSTD_isError(result) && ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
            return fail_here(reader, FPM_NO_MEMORY, "out of memory");
        if (ZSTD_isError(result)) return fail_here(reader, FPM_SYNTAX, "the zstd data is corrupt (get the file again)");
        reader->raw_at = input.pos;
        reader->is_inside_member = result != 0;
        if (is_drained && output.pos == 0 && result != 0)
            return fail_here(reader, FPM_SYNTAX,
                             "the zstd data ends too early (truncated or corrupt; get the file again)");
    }
    *n_out = output.pos;
    return FPM_OK;
}

static bool is_gzip(const unsigned char *raw, size_t n) { return n >= 2 && raw[0] == 0x1f && raw[1] == 0x8b; }

static bool is_zstd(const unsigned char *raw, size_t n) {
    if (n < 4) return false;
    bool is_frame = raw[0] == 0x28 && raw[1] == 0xb5 && raw[2] == 0x2f && raw[3] == 0xfd;
    bool is_skippable = (raw[0] & 0xf0) == 0x50 && raw[1] == 0x2a && raw[2] == 0x4d && raw[3] == 0x18;
    return is_frame || is_skippable;
}

// Read the first raw bytes and choose the decoder.
static fpm_status begin_decoding(fpm_line_reader *reader) {
    while (reader->raw_end < MAGIC_BYTES && !reader->source_is_empty) {
        size_t n;
        fpm_status status = read_source(reader, reader->raw + reader->raw_end, MAGIC_BYTES - reader->raw_end, &n);
        if (status) return status;
        reader->raw_end += n;
    }
    if (is_gzip(reader->raw, reader->raw_end)) {
        reader->encoding = GZIP;
        if (inflateInit2(&reader->gzip, 15 + 16) != Z_OK) return fail(reader, FPM_NO_MEMORY, "out of memory");
        reader->gzip_is_ready = true;
    } else if (is_zstd(reader->raw, reader->raw_end)) {
        reader->encoding = ZSTD;
        reader->zstd = ZSTD_createDStream();
        if (!reader->zstd) return fail(reader, FPM_NO_MEMORY, "out of memory");
    }
    return FPM_OK;
}

// --- text ------------------------------------------------------------------------------------------------------------

static fpm_status decode(fpm_line_reader *reader, char *out, size_t capacity, size_t *n_out) {
    switch (reader->encoding) {
    case GZIP:
        return decode_gzip(reader, out, capacity, n_out);
    case ZSTD:
        return decode_zstd(reader, out, capacity, n_out);
    case PLAIN:
        break;
    }
    size_t n_raw = reader->raw_end - reader->raw_at; // the bytes read to find the encoding come first
    if (n_raw == 0) return read_source(reader, out, capacity, n_out);
    *n_out = n_raw < capacity ? n_raw : capacity;
    memcpy(out, reader->raw + reader->raw_at, *n_out);
    reader->raw_at += *n_out;
    return FPM_OK;
}

// Make room behind the text: move it to the front, and double the buffer when that frees less than half of it.
static fpm_status make_room(fpm_line_reader *reader) {
    size_t n_kept = reader->end - reader->begin;
    if (reader->begin > 0) {
        memmove(reader->text, reader->text + reader->begin, n_kept);
        reader->scanned -= reader->begin;
        reader->begin = 0;
        reader->end = n_kept;
    }
    if (n_kept <= reader->capacity / 2) return FPM_OK;
    if (reader->capacity > SIZE_MAX / 4) return fail_here(reader, FPM_NO_MEMORY, "the line is too long for the memory");
    char *larger = realloc(reader->text, reader->capacity * 2);
    if (!larger) return fail_here(reader, FPM_NO_MEMORY, "the line is too long for the memory");
    reader->text = larger;
    reader->capacity *= 2;
    return FPM_OK;
}

static fpm_status fill_text(fpm_line_reader *reader) {
    fpm_status status = make_room(reader);
    if (status) return status;
    char *out = reader->text + reader->end;
    size_t n = 0;
    status = decode(reader, out, reader->capacity - reader->end, &n);
    if (status) return status;
    if (n == 0) reader->text_is_complete = true;
    if (!reader->text_had_nul && n > 0) reader->text_had_nul = memchr(out, '\0', n) != NULL;
    reader->end += n;
    return FPM_OK;
}

// A byte-order mark, or the zero bytes that ASCII in UTF-16 has where no mark is.
static fpm_status check_start_of_text(fpm_line_reader *reader) {
    while (reader->end < 4 && !reader->text_is_complete) {
        fpm_status status = fill_text(reader);
        if (status) return status;
    }
    const unsigned char *text = (const unsigned char *)reader->text;
    size_t n = reader->end;
    bool has_mark = n >= 2 && ((text[0] == 0xff && text[1] == 0xfe) || (text[0] == 0xfe && text[1] == 0xff));
    bool is_little = n >= 4 && text[0] && !text[1] && text[2] && !text[3];
    bool is_big = n >= 4 && !text[0] && text[1] && !text[2] && text[3];
    if (has_mark || is_little || is_big)
        return fail_here(reader, FPM_SYNTAX, "the text is UTF-16 (convert it: iconv -f UTF-16 -t UTF-8)");
    if (n >= 3 && text[0] == 0xef && text[1] == 0xbb && text[2] == 0xbf) reader->begin = reader->scanned = 3;
    return FPM_OK;
}

static void give_line(fpm_line_reader *reader, fpm_line *line, size_t end, bool has_end) {
    const char *text = reader->text + reader->begin;
    size_t n = end - reader->begin;
    if (has_end && n > 0 && text[n - 1] == '\r') n--;
    *line = (fpm_line){ .text = text, .n_bytes = n, .number = ++reader->n_lines, .has_end = has_end };
    line->has_nul = reader->text_had_nul && memchr(text, '\0', n) != NULL;
    reader->begin = reader->scanned = end + has_end;
}

static fpm_status next_line(fpm_line_reader *reader, fpm_line *line, bool *has_line) {
    for (;;) {
        const char *from = reader->text + reader->scanned;
        const char *feed = memchr(from, '\n', reader->end - reader->scanned);
        if (feed) {
            give_line(reader, line, (size_t)(feed - reader->text), true);
            *has_line = true;
            return FPM_OK;
        }
        reader->scanned = reader->end;
        if (reader->text_is_complete) break;
        fpm_status status = fill_text(reader);
        if (status) return status;
    }
    *has_line = reader->begin < reader->end;
    if (*has_line) give_line(reader, line, reader->end, false);
    return FPM_OK;
}

fpm_status fpm_line_reader_next(fpm_line_reader *reader, fpm_line *line, bool *has_line, fpm_error *error) {
    *has_line = false;
    if (!reader->failed.code && next_line(reader, line, has_line) == FPM_OK) return FPM_OK;
    if (error) *error = reader->failed;
    return reader->failed.code;
}

// --- life ------------------------------------------------------------------------------------------------------------

void fpm_line_reader_free(fpm_line_reader *reader) {
    if (!reader) return;
    if (reader->owns_descriptor) close(reader->descriptor);
    if (reader->gzip_is_ready) inflateEnd(&reader->gzip);
    ZSTD_freeDStream(reader->zstd);
    free(reader->raw);
    free(reader->text);
    free(reader->name);
    free(reader);
}

static fpm_line_reader *reader_new(const char *name) {
    fpm_line_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->descriptor = -1;
    reader->chunk_limit = SIZE_MAX;
    reader->capacity = FIRST_BYTES;
    reader->name = strdup(name);
    reader->raw = malloc(RAW_BYTES);
    reader->text = malloc(reader->capacity);
    if (reader->name && reader->raw && reader->text) return reader;
    fpm_line_reader_free(reader);
    return NULL;
}

static fpm_status open_source(fpm_line_reader *reader, const char *path) {
    if (strcmp(path, "-") == 0) {
        reader->descriptor = STDIN_FILENO;
    } else {
        reader->descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (reader->descriptor < 0) return fail(reader, FPM_IO, strerror(errno));
        reader->owns_descriptor = true;
    }
    struct stat about;
    if (fstat(reader->descriptor, &about) != 0) return fail(reader, FPM_IO, strerror(errno));
    if (S_ISDIR(about.st_mode)) return fail(reader, FPM_IO, "it is a directory (a file is wanted)");
    return FPM_OK;
}

// Look at the first bytes, so that a wrong encoding is refused when the file is opened.
static fpm_status start(fpm_line_reader *reader) {
    fpm_status status = begin_decoding(reader);
    return status ? status : check_start_of_text(reader);
}

static fpm_status finish_open(fpm_line_reader *reader, fpm_status status, fpm_line_reader **out, fpm_error *error) {
    if (!status) {
        *out = reader;
        return FPM_OK;
    }
    if (error) *error = reader->failed;
    fpm_line_reader_free(reader);
    return status;
}

fpm_status fpm_line_reader_open(fpm_line_reader **reader, const char *path, fpm_error *error) {
    *reader = NULL;
    fpm_line_reader *fresh = reader_new(strcmp(path, "-") == 0 ? "<stdin>" : path);
    if (!fresh) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    fpm_status status = open_source(fresh, path);
    return finish_open(fresh, status ? status : start(fresh), reader, error);
}

fpm_status fpm_line_reader_open_memory(fpm_line_reader **reader, const char *text, size_t n_bytes, const char *name,
                                       size_t chunk_limit, fpm_error *error) {
    *reader = NULL;
    fpm_line_reader *fresh = reader_new(name);
    if (!fresh) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    fresh->memory = text;
    fresh->memory_left = n_bytes;
    if (chunk_limit > 0) fresh->chunk_limit = chunk_limit;
    return finish_open(fresh, start(fresh), reader, error);
}

const char *fpm_line_reader_name(const fpm_line_reader *reader) { return reader->name; }

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Random text, random chunk sizes, random encoding: the reader must cut the same lines as a naive split of the whole
// text.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "perfmodel/line_reader.h"
#include "tests/support/dice.h"

enum { TEXT_BYTES = 6000, PACKED_BYTES = 16000, ROUNDS = 3000 };

static size_t random_text(char *text) {
    static const char letters[] = "abcdef \r\r\n\n\n\"{";
    size_t n = dice(10) ? dice(200) : dice(TEXT_BYTES);
    bool has_nul = dice(4) == 0;
    for (size_t i = 0; i < n; i++) text[i] = has_nul && !dice(40) ? '\0' : letters[dice(sizeof letters - 1)];
    if (n > 0 && dice(2)) text[0] = 'x'; // half of them start as no UTF-16 could
    return n;
}

static size_t pack_gzip(const char *text, size_t n, unsigned char *out) {
    z_stream stream = { 0 };
    cr_assert_eq(deflateInit2(&stream, (int)dice(10), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)n;
    stream.next_out = out;
    stream.avail_out = PACKED_BYTES / 2;
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t n_out = stream.total_out;
    deflateEnd(&stream);
    return n_out;
}

// Two members or frames, cut anywhere.
static size_t pack(const char *text, size_t n, unsigned char *out, uint64_t encoding) {
    size_t cut = dice(n + 1);
    if (encoding == 1) {
        size_t first = pack_gzip(text, cut, out);
        return first + pack_gzip(text + cut, n - cut, out + first);
    }
    size_t first = ZSTD_compress(out, PACKED_BYTES / 2, text, cut, 1);
    return first + ZSTD_compress(out + first, PACKED_BYTES / 2, text + cut, n - cut, 1);
}

static bool looks_utf16(const char *text, size_t n) {
    if (n < 4) return false;
    return (text[0] && !text[1] && text[2] && !text[3]) || (!text[0] && text[1] && !text[2] && text[3]);
}

static void compare(fpm_line_reader *reader, const char *text, size_t n, int round) {
    size_t at = 0;
    int64_t number = 0;
    fpm_line line;
    bool has_line;
    while (at < n) {
        size_t end = at;
        while (end < n && text[end] != '\n') end++;
        size_t length = end - at;
        bool has_end = end < n, has_nul = false;
        if (has_end && length > 0 && text[end - 1] == '\r') length--;
        for (size_t i = 0; i < length; i++) has_nul |= text[at + i] == '\0';
        cr_assert_eq(fpm_line_reader_next(reader, &line, &has_line, NULL), FPM_OK, "round %d", round);
        cr_assert(has_line, "round %d: the lines end too early", round);
        cr_assert_eq(line.number, ++number);
        cr_assert_eq(line.n_bytes, length, "round %d line %d", round, (int)number);
        cr_assert_eq(memcmp(line.text, text + at, length), 0);
        cr_assert_eq(line.has_end, has_end);
        cr_assert_eq(line.has_nul, has_nul);
        at = end + 1;
    }
    cr_assert_eq(fpm_line_reader_next(reader, &line, &has_line, NULL), FPM_OK);
    cr_assert_not(has_line, "round %d: a line too many", round);
}

Test(line_reader_random, cuts_the_same_lines_as_a_naive_split_at_any_chunk_size_and_encoding) {
    static char text[TEXT_BYTES];
    static unsigned char packed[PACKED_BYTES];
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = random_text(text);
        uint64_t encoding = dice(3);
        if (looks_utf16(text, n)) continue;
        const void *raw = text;
        size_t n_raw = n;
        if (encoding) raw = packed, n_raw = pack(text, n, packed, encoding);
        fpm_line_reader *reader;
        fpm_error error = { 0 };
        size_t chunk = dice(3) ? 1 + dice(64) : 0;
        cr_assert_eq(fpm_line_reader_open_memory(&reader, raw, n_raw, "m", chunk, &error), FPM_OK, "round %d: %s",
                     round, error.message);
        compare(reader, text, n, round);
        fpm_line_reader_free(reader);
    }
}

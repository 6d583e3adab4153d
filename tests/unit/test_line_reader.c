// SPDX-License-Identifier: GPL-3.0-or-later
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "perfmodel/line_reader.h"

typedef struct bytes {
    unsigned char data[8192];
    size_t n;
} bytes;

static void append(bytes *to, const void *data, size_t n) {
    cr_assert_leq(to->n + n, sizeof to->data);
    memcpy(to->data + to->n, data, n);
    to->n += n;
}

static void append_gzip(bytes *to, const char *text) {
    z_stream stream = { 0 };
    cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)strlen(text);
    stream.next_out = to->data + to->n;
    stream.avail_out = (uInt)(sizeof to->data - to->n);
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    to->n += stream.total_out;
    deflateEnd(&stream);
}

static void append_zstd(bytes *to, const char *text) {
    size_t n = ZSTD_compress(to->data + to->n, sizeof to->data - to->n, text, strlen(text), 3);
    cr_assert_not(ZSTD_isError(n));
    to->n += n;
}

// All lines joined by '|', or the message of the first error behind a '!'. One byte at a time when `is_slow`.
static void read_all(const void *data, size_t n, bool is_slow, char *out, size_t capacity) {
    fpm_line_reader *reader;
    fpm_error error = { 0 };
    size_t at = 0;
    out[0] = '\0';
    if (fpm_line_reader_open_memory(&reader, data, n, "memory", is_slow ? 1 : 0, &error)) {
        snprintf(out, capacity, "!%s", error.message);
        return;
    }
    int64_t number = 0;
    for (;;) {
        fpm_line line;
        bool has_line;
        if (fpm_line_reader_next(reader, &line, &has_line, &error)) {
            at += (size_t)snprintf(out + at, capacity - at, "!%s", error.message);
            cr_expect_str_eq(error.file, "memory");
            fpm_error again;
            cr_expect_neq(fpm_line_reader_next(reader, &line, &has_line, &again), FPM_OK, "errors stick");
            break;
        }
        if (!has_line) break;
        cr_expect_eq(line.number, ++number);
        at += (size_t)snprintf(out + at, capacity - at, "%.*s%s%s", (int)line.n_bytes, line.text,
                               line.has_nul ? "<nul>" : "", line.has_end ? "|" : "$");
    }
    fpm_line_reader_free(reader);
}

static void expect_text(const void *data, size_t n, const char *wanted) {
    char got[4096];
    for (int slow = 0; slow < 2; slow++) {
        read_all(data, n, slow, got, sizeof got);
        cr_expect_str_eq(got, wanted, "%s input: got \"%s\", wanted \"%s\"", slow ? "slow" : "whole", got, wanted);
    }
}

static void expect_complaint(const void *data, size_t n, const char *part) {
    char got[4096];
    for (int slow = 0; slow < 2; slow++) {
        read_all(data, n, slow, got, sizeof got);
        char *complaint = strchr(got, '!');
        cr_assert(complaint, "nothing refused: %s", got);
        cr_expect(strstr(complaint, part), "%s does not say %s", complaint, part);
    }
}

Test(line_reader, cuts_lines_at_lf_and_crlf_and_keeps_a_last_line_without_end) {
    static const struct {
        const char *text;
        size_t n;
        const char *wanted;
    } cases[] = {
        { "", 0, "" },
        { "\n", 1, "|" },
        { "a", 1, "a$" },
        { "a\n", 2, "a|" },
        { "a\nb", 3, "a|b$" },
        { "a\r\nb\r\n", 6, "a|b|" },
        { "a\n\n\nb\n", 6, "a|||b|" },
        { "\r\n", 2, "|" },
        { "a\rb", 3, "a\rb$" },
        { "a\r", 2, "a\r$" },
        { "\xef\xbb\xbf"
          "a\n",
          5, "a|" },
        { "\xef\xbb\xbf", 3, "" },
        { "\xef\xbb", 2, "\xef\xbb$" },
        { "a\nb\0c\nd\n", 8, "a|b<nul>|d|" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_text(cases[i].text, cases[i].n, cases[i].wanted);
}

Test(line_reader, refuses_utf16_by_name_with_and_without_a_mark) {
    expect_complaint("\xff\xfe"
                     "a\0b\0",
                     6, "UTF-16");
    expect_complaint("\xfe\xff\0a\0b", 6, "UTF-16");
    expect_complaint("{\0\"\0t\0", 6, "UTF-16");
    expect_complaint("\0{\0\"\0t", 6, "UTF-16");
    expect_complaint("\xff\xfe", 2, "UTF-16");
}

Test(line_reader, reads_concatenated_gzip_members_and_zstd_frames_whatever_the_name) {
    bytes gzip = { .n = 0 }, zstd = { .n = 0 };
    append_gzip(&gzip, "one\ntwo");
    append_gzip(&gzip, "");
    append_gzip(&gzip, " and more\nthree\n");
    expect_text(gzip.data, gzip.n, "one|two and more|three|");
    append_zstd(&zstd, "one\ntwo");
    append_zstd(&zstd, "");
    append_zstd(&zstd, " and more\r\nthree\n");
    expect_text(zstd.data, zstd.n, "one|two and more|three|");
    bytes marked = { .n = 0 };
    append_gzip(&marked, "\xef\xbb\xbfx\n");
    expect_text(marked.data, marked.n, "x|");
}

Test(line_reader, names_truncated_corrupt_and_continued_compressed_data) {
    char text[4000];
    for (size_t i = 0; i < sizeof text - 1; i++) text[i] = i % 50 == 49 ? '\n' : (char)('a' + (i * i / 7 + i) % 26);
    text[sizeof text - 1] = '\0';
    bytes gzip = { .n = 0 }, zstd = { .n = 0 };
    append_gzip(&gzip, text);
    append_zstd(&zstd, text);
    for (size_t n = 4; n < gzip.n; n += 7) expect_complaint(gzip.data, n, "truncated");
    for (size_t n = 4; n < zstd.n; n += 7) expect_complaint(zstd.data, n, "truncated");
    bytes bent = gzip;
    bent.data[bent.n - 6] ^= 1; // the checksum
    expect_complaint(bent.data, bent.n, "gzip data is corrupt");
    bent = zstd;
    bent.data[5] ^= 0xff;
    expect_complaint(bent.data, bent.n, "zstd");
    append(&gzip, "garbage", 7);
    expect_complaint(gzip.data, gzip.n, "not gzip follows");
    append(&zstd, "garbage", 7);
    expect_complaint(zstd.data, zstd.n, "zstd data is corrupt");
    expect_complaint("\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00", 12, "gzip data is corrupt");
    expect_complaint("\x28\xb5\x2f\xfd", 4, "zstd");
}

Test(line_reader, gives_lines_longer_than_its_buffer_whole) {
    size_t n = 3 * 1000 * 1000;
    char *text = malloc(n);
    cr_assert(text);
    memset(text, 'x', n);
    text[5] = '\n';
    text[n - 2] = '\n';
    fpm_line_reader *reader;
    cr_assert_eq(fpm_line_reader_open_memory(&reader, text, n, "long", 777, NULL), FPM_OK);
    fpm_line line;
    bool has_line;
    size_t wanted[] = { 5, n - 8, 1 };
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(fpm_line_reader_next(reader, &line, &has_line, NULL), FPM_OK);
        cr_assert(has_line);
        cr_expect_eq(line.n_bytes, wanted[i]);
    }
    cr_assert_eq(fpm_line_reader_next(reader, &line, &has_line, NULL), FPM_OK);
    cr_expect_not(has_line);
    fpm_line_reader_free(reader);
    free(text);
}

Test(line_reader, reads_files_and_pipes_and_refuses_directories_and_missing_files) {
    char folder[] = "/tmp/forepass-lines-XXXXXX", path[64];
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.txt", folder);
    FILE *file = fopen(path, "w");
    fputs("hello\nworld\n", file);
    fclose(file);

    fpm_line_reader *reader;
    fpm_error error;
    fpm_line line;
    bool has_line;
    cr_assert_eq(fpm_line_reader_open(&reader, path, &error), FPM_OK);
    cr_expect_str_eq(fpm_line_reader_name(reader), path);
    cr_assert_eq(fpm_line_reader_next(reader, &line, &has_line, &error), FPM_OK);
    cr_expect(has_line && line.n_bytes == 5 && memcmp(line.text, "hello", 5) == 0);
    fpm_line_reader_free(reader);

    cr_expect_eq(fpm_line_reader_open(&reader, folder, &error), FPM_IO);
    cr_expect_str_eq(error.file, folder);
    cr_expect(strstr(error.message, "directory"));
    cr_expect_null(reader);
    unlink(path);
    cr_expect_eq(fpm_line_reader_open(&reader, path, &error), FPM_IO);
    rmdir(folder);

    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], "piped\n", 6), 6);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    cr_assert_eq(fpm_line_reader_open(&reader, "-", &error), FPM_OK);
    cr_expect_str_eq(fpm_line_reader_name(reader), "<stdin>");
    cr_assert_eq(fpm_line_reader_next(reader, &line, &has_line, &error), FPM_OK);
    cr_expect(has_line && line.n_bytes == 5);
    fpm_line_reader_free(reader);
    fpm_line_reader_free(NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes, plain or compressed: reading them in small pieces (the first byte says how small) must give the same lines
// and the same outcome as reading them at once.
#include <stdlib.h>
#include <string.h>

#include "perfmodel/line_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void must(bool condition) {
    if (!condition) abort();
}

static bool is_same(const fpm_line *a, const fpm_line *b) {
    return a->n_bytes == b->n_bytes && a->number == b->number && a->has_nul == b->has_nul && a->has_end == b->has_end &&
           memcmp(a->text, b->text, a->n_bytes) == 0;
}

// Corrupt compressed data may be noticed a few lines earlier or later, depending on where the pieces end.
static void compare(fpm_line_reader *whole, fpm_line_reader *pieces) {
    for (int64_t number = 1;; number++) {
        fpm_line a, b;
        bool has_a, has_b;
        fpm_error error = { .code = FPM_OK };
        const fpm_status status_a = fpm_line_reader_next(whole, &a, &has_a, &error);
        must(status_a == FPM_OK || (error.message[0] && error.file[0]));
        const fpm_status status_b = fpm_line_reader_next(pieces, &b, &has_b, &error);
        if (status_a != FPM_OK || status_b != FPM_OK) return;
        must(has_a == has_b);
        if (!has_a) return;
        must(a.number == number && is_same(&a, &b));
        must(memchr(a.text, '\n', a.n_bytes) == NULL);
        must(a.has_nul == (memchr(a.text, '\0', a.n_bytes) != NULL));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    if (n_bytes < 1) return 0;
    fpm_line_reader *whole = NULL, *pieces = NULL;
    fpm_error error = { .code = FPM_OK };
    const char *text = (const char *)data + 1;
    const fpm_status status = fpm_line_reader_open_memory(&whole, text, n_bytes - 1, "fuzz", 0, &error);
    must(status == FPM_OK || error.message[0]);
    fpm_line_reader_open_memory(&pieces, text, n_bytes - 1, "fuzz", 1 + data[0] % 61, NULL);
    if (whole && pieces) compare(whole, pieces);
    fpm_line_reader_free(whole);
    fpm_line_reader_free(pieces);
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs a fuzz target on the files given as arguments: the corpus as an ordinary test, or a crashing input under a
// debugger.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static int run_file(const char *path) {
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0) {
        perror(path);
        if (in) fclose(in);
        return 1;
    }
    const long n = ftell(in);
    rewind(in);
    uint8_t *data = malloc(n > 0 ? (size_t)n : 1); // exactly as long as the file, so that a read beyond is seen
    const size_t n_read = data && n > 0 ? fread(data, 1, (size_t)n, in) : 0;
    fclose(in);
    const int is_bad = !data || n < 0 || n_read != (size_t)n;
    if (!is_bad) LLVMFuzzerTestOneInput(data, n_read);
    free(data);
    return is_bad;
}

int main(int argc, char **argv) {
    int n_bad = 0;
    for (int i = 1; i < argc; i++) n_bad += run_file(argv[i]);
    printf("%d files replayed, %d unreadable\n", argc - 1 - n_bad, n_bad);
    return n_bad ? 1 : 0;
}

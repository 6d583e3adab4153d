// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/json_writer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

Test(json_writer, strings_are_escaped_and_long_texts_pass_the_buffer) {
    char *text;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);
    fpm_json_writer writer;
    fpm_json_writer_begin(&writer, out);
    fpm_json_put_string(&writer, "a\"\\\n\x1f\xc3\xa9");
    char *big = malloc(10001);
    memset(big, 'x', 10000);
    big[10000] = '\0';
    fpm_json_put_string(&writer, big);
    for (int i = 0; i < 1000; i++) fpm_json_put_u64(&writer, UINT64_MAX);
    cr_assert_eq(fpm_json_writer_end(&writer, NULL), FPM_OK);
    fclose(out);
    const char *head = "\"a\\\"\\\\\\u000a\\u001f\xc3\xa9\"\"xx";
    cr_assert_eq(strncmp(text, head, strlen(head)), 0);
    cr_assert_eq(n_bytes, strlen(head) - 3 + 10002 + 20000);
    free(big);
    free(text);
}

Test(json_writer, the_first_error_sticks) {
    fpm_json_writer writer;
    fpm_error error;
    FILE *out = fopen("/dev/full", "w");
    setvbuf(out, NULL, _IONBF, 0);
    fpm_json_writer_begin(&writer, out);
    fpm_json_put_double(&writer, (double)NAN);
    fpm_json_put_u64(&writer, 1);
    cr_assert_eq(fpm_json_writer_end(&writer, &error), FPM_OUT_OF_RANGE);
    fpm_json_writer_begin(&writer, out);
    fpm_json_put_u64(&writer, 1);
    cr_assert_eq(fpm_json_writer_end(&writer, &error), FPM_IO);
    fclose(out);
}

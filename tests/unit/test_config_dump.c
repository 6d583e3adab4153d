// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/config_fixture.h"

#include <criterion/criterion.h>

static char *written(const sim_config *config) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    cr_assert(sim_config_write(config, out) && fclose(out) == 0);
    return text;
}

Test(config_dump, the_whole_configuration_is_printed_with_units_and_help) {
    sim_config *config = new_config();
    cr_assert_eq(sim_config_set(config, "engine.max_num_seqs=1.5k", NULL), SIM_OK);
    char *text = written(config);
    cr_expect_str_eq(
        text, "; one worker\n"
              "[engine]\n"
              "chunked_prefill = true                      ; split long prompts\n"
              "max_num_seqs    = 1.5k                      ; running at most (requests)\n"
              "num_blocks      = auto                      ; pool of one rank (blocks)\n"
              "fraction        = 0.9                       ; share of memory\n"
              "interval        = 0s                        ; between samples\n"
              "preemption      = lifo                      ; who goes first (lifo | fifo)\n"
              "mode            =                           ; when it is asked (empty | timestamps | concurrency)\n"
              "ratio           = 1/2                       ; two numbers\n"
              "\n"
              "; what is read\n"
              "[prefill.trace]\n"
              "path       =                                ; the trace\n"
              "title      =                                ; for the report\n"
              "prefill_ms =                                ; cost of a prefill pass (ms)\n");
    free(text);
    sim_config_free(config);
}

Test(config_dump, a_long_path_loses_its_comment_and_never_its_end) {
    for (size_t n = 150; n <= 1000; n += n < 210 ? 1 : 79) { // also beyond the 199 bytes that inih takes
        sim_config *config = new_config();
        char assignment[1100] = "prefill.trace.path=/";
        const size_t start = strlen(assignment);
        memset(assignment + start, 'p', n - 1);
        assignment[start + n - 1] = '\0';
        sim_error error = { 0 };
        const sim_status status = sim_config_set(config, assignment, &error);
        cr_expect_eq(status, SIM_OK, "%zu bytes: %s", n, error.message);
        char *text = written(config);
        sim_config *again = new_config();
        cr_expect_eq(load_text(again, text, &error), SIM_OK, "%zu bytes: %s", n, error.message);
        cr_expect_str_eq(trace_of(again).path, trace_of(config).path);
        sim_config_free(again);
        free(text);
        sim_config_free(config);
    }
}

Test(config_dump, a_full_disk_is_told) {
    sim_config *config = new_config();
    FILE *full = fopen("/dev/full", "w");
    cr_assert(full);
    setvbuf(full, NULL, _IONBF, 0);
    cr_expect_not(sim_config_write(config, full));
    cr_expect_not(sim_config_write_keys(both_tables, 2, full));
    fclose(full);
    sim_config_free(config);
}

Test(config_dump, every_key_has_a_line_with_type_default_unit_values_and_help) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    cr_assert(sim_config_write_keys(both_tables, 2, out) && fclose(out) == 0);
    const char *const lines[] = {
        "KEY                       TYPE      DEFAULT  UNIT      VALUES                            MEANING\n",
        "engine.max_num_seqs       int       256      requests  1 to 4294967295                   running at most\n",
        "engine.interval           duration  0s       -         0 to 1h                           between samples\n",
        "prefill.trace.path        path      -        -         -                                 the trace\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(text, lines[i]), "%s in\n%s", lines[i], text);
    free(text);
}

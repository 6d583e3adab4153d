// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/request_classes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { N = 1000 };

typedef struct fixture {
    sim_request_outcome rows[N];
    size_t order[N];
    sim_request_table table;
    sim_request_classes classes;
} fixture;

static fixture *set_up(void) {
    fixture *f = calloc(1, sizeof *f);
    for (size_t i = 0; i < N; i++) {
        f->order[i] = N - 1 - i;
        f->rows[i] = (sim_request_outcome){ .status = SIM_REQUEST_COMPLETED, .has_cached = true };
        f->rows[i].input_tokens = i < 500 ? 1023 : i < 900 ? 1024 : 40000;
        f->rows[i].output_tokens = 77;
        f->rows[i].cached_tokens = i % 4 ? f->rows[i].input_tokens / 2 : 0;
        f->rows[i].turn = 1 + (uint32_t)(i % 3);
    }
    f->table = (sim_request_table){
        .rows = f->rows, .n_rows = N, .has_input_tokens = true, .has_output_tokens = true, .has_cached_tokens = true
    };
    return f;
}

Test(request_classes, classes_are_named_as_people_would) {
    fixture *f = set_up();
    cr_assert_eq(sim_request_classes_new(&f->classes, &f->table, f->order, N, 50, NULL), SIM_OK);
    static const char *const names[] = { "prompts under 1k tokens",        "prompts of 1k to 2k tokens",
                                         "prompts of 32k tokens and more", "turn 1",
                                         "turns from the 2. on",           "prompts with nothing cached",
                                         "prompts cached to 25-50 %",      "prompts cached to 50-100 %" };
    static const size_t sizes[] = { 500, 400, 100, 334, 666, 250, 375, 375 };
    cr_assert_eq(f->classes.n, 8, "%zu", f->classes.n); // answers are all of one length
    for (size_t c = 0; c < 8; c++) {
        cr_expect_str_eq(f->classes.classes[c].text, names[c]);
        cr_expect_eq(f->classes.classes[c].n_requests, sizes[c], "%s: %zu", names[c], f->classes.classes[c].n_requests);
    }
    sim_request_classes_clear(&f->classes);
    free(f);
}

Test(request_classes, every_request_is_in_the_class_that_holds_its_value) {
    fixture *f = set_up();
    cr_assert_eq(sim_request_classes_new(&f->classes, &f->table, f->order, N, 50, NULL), SIM_OK);
    size_t counts[SIM_MAX_CLASSES] = { 0 };
    for (size_t i = 0; i < N; i++) {
        const double tokens = f->rows[f->order[i]].input_tokens;
        const sim_request_class *of = &f->classes.classes[f->classes.of[SIM_BY_INPUT_TOKENS][i]];
        cr_expect(of->low <= tokens && tokens < of->high);
        cr_expect_eq(f->classes.of[SIM_BY_OUTPUT_TOKENS][i], SIM_NO_CLASS);
        for (int by = 0; by < SIM_CLASS_BYS; by++)
            if (f->classes.of[by][i] != SIM_NO_CLASS) counts[f->classes.of[by][i]]++;
    }
    for (size_t c = 0; c < f->classes.n; c++) cr_expect_eq(counts[c], f->classes.classes[c].n_requests);
    sim_request_classes_clear(&f->classes);
    free(f);
}

Test(request_classes, small_neighbours_are_joined) {
    fixture *f = set_up();
    cr_assert_eq(sim_request_classes_new(&f->classes, &f->table, f->order, N, 300, NULL), SIM_OK);
    for (size_t c = 0; c < f->classes.n; c++)
        cr_expect(f->classes.classes[c].n_requests >= 300 || f->classes.classes[c].by == SIM_BY_CACHED_SHARE, "%s: %zu",
                  f->classes.classes[c].text, f->classes.classes[c].n_requests);
    sim_request_classes_clear(&f->classes);
    free(f);
}

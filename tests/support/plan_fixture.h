// SPDX-License-Identifier: GPL-3.0-or-later
//
// Plans run in a test: a configuration in text, assignments over it, the answer.
#ifndef TESTS_SUPPORT_PLAN_FIXTURE_H
#define TESTS_SUPPORT_PLAN_FIXTURE_H

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/experiment/plan/plan_answer.h"

typedef struct planned {
    sim_config *config;
    sim_plan_answer answer;
    sim_plan_run_options options;
    sim_error error;
    sim_status status;
} planned;

// `sets` ends with NULL.
static inline void planned_run_until(planned *p, const char *text, const char *const *sets, uint32_t n_threads,
                                     const volatile sig_atomic_t *stopped) {
    *p = (planned){ .options = { .n_threads = n_threads, .stopped = stopped } };
    cr_assert_eq(sim_config_new(&p->config, sim_settings_tables, sim_settings_n_tables, &p->error), SIM_OK);
    cr_assert_eq(sim_config_load_text(p->config, text, strlen(text), "plan", &p->error), SIM_OK, "%s",
                 p->error.message);
    for (; *sets; sets++)
        cr_assert_eq(sim_config_set(p->config, *sets, &p->error), SIM_OK, "%s: %s", *sets, p->error.message);
    p->status = sim_plan_execute(p->config, &p->options, &p->answer, &p->error);
}

static inline void planned_run(planned *p, const char *text, const char *const *sets, uint32_t n_threads) {
    planned_run_until(p, text, sets, n_threads, NULL);
}

static inline void planned_clear(planned *p) {
    if (p->status == SIM_OK || p->answer.is_stopped) sim_plan_answer_clear(&p->answer);
    sim_config_free(p->config);
}

static inline const sim_plan_choice *planned_choice(const planned *p) {
    return &p->answer.choices[SIM_PLAN_AS_MODELLED];
}

// The value of the answer; NAN without one.
static inline double planned_value(const planned *p) {
    if (!planned_choice(p)->point) return (double)NAN;
    return sim_plan_axis_value(p->answer.space.inner, planned_choice(p)->found.answer);
}

#endif

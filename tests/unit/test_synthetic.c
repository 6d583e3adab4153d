// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/synthetic.h"

#include "tests/support/workload_fixture.h"

static sim_workload *generate(const sim_workload_config *settings, uint64_t seed) {
    sim_workload *workload;
    sim_error error;
    cr_assert_eq(sim_workload_new(&workload, NULL, settings, seed, &error), SIM_OK, "%s", error.message);
    return workload;
}

Test(synthetic, the_default_is_a_hundred_equal_requests_without_stamps) {
    const sim_workload_config settings = synthetic_settings();
    sim_workload *workload = generate(&settings, 1);
    cr_expect_eq(workload->n_requests, 100);
    cr_expect_eq(workload->rows_read, 100);
    cr_expect_not(workload->has_stamps);
    cr_expect_str_eq(workload->path, "");
    for (size_t i = 0; i < workload->n_requests; i++) {
        const sim_request *request = &workload->requests[i];
        cr_expect(request->input_tokens == 1024 && request->output_tokens == 128 && request->n_ids == 0);
        cr_expect_eq(request->session, SIM_NO_SESSION);
        cr_expect_eq(request->line, 0);
    }
    sim_workload_free(workload);
}

Test(synthetic, the_shared_head_is_in_front_of_and_not_counted_in_input_tokens) {
    sim_workload_config settings = synthetic_settings();
    settings.requests = 1000;
    settings.shared_prefix_tokens = 300;
    settings.prefix_groups = 4;
    settings.input_tokens = (sim_distribution){ SIM_DIST_UNIFORM, 1, 50 };
    sim_workload *workload = generate(&settings, 1);
    size_t count[4] = { 0 };
    for (uint32_t i = 0; i < workload->n_requests; i++) {
        const sim_request *request = &workload->requests[i];
        cr_assert(request->input_tokens > 300 && request->input_tokens <= 350);
        cr_assert_lt(request->group, 4);
        count[request->group]++;
        sim_span head = sim_workload_span(workload, i, 299), own = sim_workload_span(workload, i, 300);
        cr_assert(head.content == SIM_CONTENT_GROUP && head.id == request->group && head.end_token == 300);
        cr_assert(own.content == SIM_CONTENT_OWN && own.id == i && own.end_token == request->input_tokens);
    }
    for (int group = 0; group < 4; group++) cr_expect(count[group] > 180 && count[group] < 320);
    sim_workload_free(workload);
}

Test(synthetic, one_distribution_does_not_move_the_dice_of_another) {
    sim_workload_config settings = synthetic_settings();
    settings.input_tokens = (sim_distribution){ SIM_DIST_LOGNORMAL, 500, 1 };
    settings.output_tokens = (sim_distribution){ SIM_DIST_GAMMA, 2, 100 };
    sim_workload *first = generate(&settings, 9), *again = generate(&settings, 9), *other = generate(&settings, 10);
    settings.output_tokens = (sim_distribution){ SIM_DIST_NORMAL, 100, 50 };
    settings.shared_prefix_tokens = 64;
    settings.prefix_groups = 3;
    sim_workload *changed = generate(&settings, 9);
    bool differs = false;
    for (size_t i = 0; i < first->n_requests; i++) {
        cr_assert_eq(first->requests[i].input_tokens, again->requests[i].input_tokens);
        cr_assert_eq(first->requests[i].output_tokens, again->requests[i].output_tokens);
        cr_assert_eq(first->requests[i].input_tokens + 64, changed->requests[i].input_tokens);
        cr_assert_geq(changed->requests[i].output_tokens, 1);
        differs |= first->requests[i].input_tokens != other->requests[i].input_tokens;
    }
    cr_expect(differs, "another seed, other lengths");
    sim_workload_free(first);
    sim_workload_free(again);
    sim_workload_free(other);
    sim_workload_free(changed);
}

Test(synthetic, a_distribution_that_gives_no_usable_length_is_a_usage_error) {
    sim_workload_config settings = synthetic_settings();
    settings.input_tokens = (sim_distribution){ SIM_DIST_NORMAL, 0, 0 };
    sim_workload *workload;
    sim_error error;
    cr_expect_eq(sim_workload_new(&workload, NULL, &settings, 1, &error), SIM_USAGE);
    cr_expect_null(workload);
    cr_expect(strstr(error.message, "input_tokens"));
}

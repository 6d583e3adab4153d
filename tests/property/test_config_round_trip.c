// SPDX-License-Identifier: GPL-3.0-or-later
//
// Random configurations, written, loaded again and written again: the same settings and the same text.
#include "tests/support/config_fixture.h"

#include "sim/kernel/random.h"

#include <criterion/criterion.h>
#include <inttypes.h>

enum { N_ROUNDS = 3000 };

static const char *pick(sim_stream *dice, const char *const *names, size_t n) {
    return names[sim_stream_integer(dice, n)];
}

// A value of `key` in one of the forms a user may write.
static void draw_value(sim_stream *dice, const sim_key *key, char *text, size_t n) {
    static const char *const suffixes[] = { "", "k", "Ki", "M" };
    static const char *const units[] = { "ns", "us", "ms", "s", "m" };
    static const char letters[] = "abcxyz=:;#[]\"'\\/. \t%\xc3\xa4";
    const int whole = (int)sim_stream_integer(dice, 60);
    switch (key->type) {
    case SIM_KEY_BOOL:
        snprintf(text, n, "%s", whole % 2 ? "true" : "false");
        return;
    case SIM_KEY_INT:
        snprintf(text, n, "%d%s", whole + 1, pick(dice, suffixes, 4));
        return;
    case SIM_KEY_REAL:
    case SIM_KEY_MS:
        snprintf(text, n, "%.*g", whole % 17 + 1, 1 - sim_stream_uniform(dice));
        return;
    case SIM_KEY_DURATION:
        snprintf(text, n, "%d%s", whole, pick(dice, units, 5));
        return;
    case SIM_KEY_CHOICE:
        snprintf(text, n, "%s", key->choices[whole % 2]);
        return;
    case SIM_KEY_CUSTOM:
        snprintf(text, n, "%d/%d", whole, whole * 7 % 11);
        return;
    case SIM_KEY_TEXT:
    case SIM_KEY_PATH:
    case SIM_KEY_NAMED:
        break;
    }
    const size_t length = sim_stream_integer(dice, 200);
    for (size_t i = 0; i < length; i++) text[i] = letters[sim_stream_integer(dice, sizeof letters - 1)];
    text[length] = '\0';
}

static char *written(const sim_config *config) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    cr_assert(sim_config_write(config, out) && fclose(out) == 0);
    return text;
}

static void expect_same_settings(const sim_config *a, const sim_config *b, int round) {
    const engine_settings x = engine_of(a), y = engine_of(b);
    cr_expect_eq(x.is_chunked, y.is_chunked);
    cr_expect_eq(x.max_num_seqs, y.max_num_seqs);
    cr_expect_eq(x.num_blocks, y.num_blocks);
    cr_expect_eq(x.fraction, y.fraction);
    cr_expect_eq(x.interval_ns, y.interval_ns);
    cr_expect_eq(x.preemption, y.preemption);
    cr_expect_eq(x.mode, y.mode);
    cr_expect(x.ratio.first == y.ratio.first && x.ratio.second == y.ratio.second);
    const trace_settings v = trace_of(a), w = trace_of(b);
    cr_expect_str_eq(v.path, w.path, "round %d", round);
    cr_expect_str_eq(v.title, w.title, "round %d", round);
    cr_expect_eq(v.prefill_ms, w.prefill_ms);
}

Test(config_round_trip, what_is_written_loads_again_and_means_the_same) {
    sim_stream *dice = sim_stream_new(2, "config_round_trip");
    size_t n_refused = 0, n_taken = 0;
    for (int round = 0; round < N_ROUNDS; round++) {
        sim_config *config = new_config();
        for (size_t t = 0; t < 2; t++) {
            for (size_t k = 0; k < both_tables[t]->n_keys; k++) {
                const sim_key *key = &both_tables[t]->keys[k];
                if (sim_stream_uniform(dice) < 0.4) continue;
                char value[256], assignment[400];
                draw_value(dice, key, value, sizeof value);
                snprintf(assignment, sizeof assignment, "%s.%s=%s", both_tables[t]->section, key->name, value);
                sim_error error = { 0 };
                const sim_status status = sim_config_set(config, assignment, &error);
                // only texts that a line cannot hold and numbers out of range may be refused
                if (status == SIM_OK) n_taken++;
                if (status != SIM_OK) n_refused++;
                cr_assert(status == SIM_OK || status == SIM_USAGE, "round %d: %s", round, error.message);
            }
        }
        char *text = written(config);
        sim_config *again = new_config();
        sim_error error = { 0 };
        cr_assert_eq(load_text(again, text, &error), SIM_OK, "round %d, line %d: %s\n%s", round, (int)error.line,
                     error.message, text);
        expect_same_settings(config, again, round);
        char *text_again = written(again);
        cr_assert_str_eq(text_again, text);
        free(text);
        free(text_again);
        sim_config_free(config);
        sim_config_free(again);
    }
    cr_expect_gt(n_taken, n_refused * 2, "%zu taken, %zu refused", n_taken, n_refused);
    sim_stream_free(dice);
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a swept key may be: lists, ranges, ratios, intervals, keys together.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/sweep/domain.h"

static const sim_domain_place counting = { "engine.max_num_seqs", "a.ini", 7, true };
static const sim_domain_place measuring = { "load.rate", "a.ini", 7, false };

// All values with blanks between, keys of one value with "&".
static const char *values_of(const char *text, size_t n_keys, const sim_domain_place *place) {
    static char out[2000];
    sim_domain domain;
    sim_error error = { .code = SIM_OK };
    out[0] = '\0';
    if (sim_domain_parse(&domain, text, n_keys, place, &error)) {
        snprintf(out, sizeof out, "%s:%d: %s", error.file, (int)error.line, error.message);
        return out;
    }
    for (size_t i = 0; i < domain.n_values; i++) {
        for (size_t k = 0; k < n_keys; k++) {
            char value[SIM_DOMAIN_BYTES];
            sim_domain_value(&domain, k, ((double)i + 0.5) / (double)domain.n_values, value);
            strcat(strcat(out, k ? "&" : i ? " " : ""), value);
        }
    }
    sim_domain_clear(&domain);
    return out;
}

#define expect_values(text, n_keys, place, wanted) cr_expect_str_eq(values_of(text, n_keys, place), wanted)
#define expect_refused(text, n_keys, place, part)                \
    do {                                                         \
        const char *got_ = values_of(text, n_keys, place);       \
        cr_expect(strstr(got_, part), "%s: \"%s\"", text, got_); \
        cr_expect(strstr(got_, "a.ini:7: sweep."), "%s", got_);  \
    } while (0)

Test(domain, lists_keep_values_as_they_are_written) {
    expect_values("1, 2,4 ,  8", 1, &counting, "1 2 4 8");
    expect_values("vllm, sglang", 1, &measuring, "vllm sglang");
    expect_values("4k, 10ms, 0s:0s", 1, &measuring, "4k 10ms 0s:0s");
    expect_values("uniform(1, 2), lognormal(3, 4)", 1, &measuring, "uniform(1, 2) lognormal(3, 4)");
    expect_values("\"50, 90\", \"99\"", 1, &measuring, "50, 90 99");
    expect_values("one", 1, &measuring, "one");
}

Test(domain, ranges_include_their_stop_and_read_as_a_person_writes) {
    expect_values("2:16:2", 1, &counting, "2 4 6 8 10 12 14 16");
    expect_values("0.1:0.5:0.1", 1, &measuring, "0.1 0.2 0.3 0.4 0.5");
    expect_values("1:2:0.4", 1, &measuring, "1 1.4 1.8");
    expect_values("5:1:-2", 1, &measuring, "5 3 1");
    expect_values("3:3:1", 1, &measuring, "3");
    expect_values("10ms:30ms:10ms", 1, &measuring, "10ms 20ms 30ms");
    expect_values("0:20ms:10ms", 1, &measuring, "0ns 10ms 20ms");
    expect_values("1k:3k:1k", 1, &counting, "1000 2000 3000");
    expect_values("1, 10:30:10, 99", 1, &counting, "1 10 20 30 99");
}

Test(domain, ratios_are_whole_and_different_for_a_key_that_counts) {
    expect_values("log(1, 64, 7)", 1, &measuring, "1 2 4 8 16 32 64");
    expect_values("log(1, 4, 6)", 1, &counting, "1 2 3 4");
    expect_values("log(0.01, 1, 3)", 1, &measuring, "0.01 0.1 1");
}

Test(domain, keys_that_move_together_have_a_value_each) {
    expect_values("1 & 8, 2&4", 2, &counting, "1&8 2&4");
    expect_refused("1 & 8, 2", 2, &counting, "\"2\" has 1 value for 2 keys");
    expect_refused("1 & 8 & 3", 2, &counting, "has 3 values for 2 keys");
}

Test(domain, that_is_none_is_refused_at_its_place) {
    expect_refused("", 1, &counting, "the domain is empty");
    expect_refused("1,,2", 1, &counting, "a value is missing");
    expect_refused("1, ", 1, &counting, "a value is missing");
    expect_refused("1:9:-1", 1, &counting, "the range 1:9:-1 is empty");
    expect_refused("1:9:0", 1, &counting, "the range 1:9:0 is empty");
    expect_refused("1:1e12:1", 1, &counting, "more than 1000000 values (take a larger step)");
    expect_refused("log(0, 4, 3)", 1, &counting, "log(0, 4, 3) is none");
    expect_refused("log(1, 4)", 1, &counting, "log(1, 4) is none");
    expect_refused("9..2", 1, &counting, "9..2 is no interval");
    expect_refused("log(0..2)", 1, &counting, "begins at or below 0");
    expect_refused("1.5..4", 1, &counting, "does not begin and end at whole numbers");
}

static sim_domain interval(const char *text, const sim_domain_place *place) {
    sim_domain domain;
    sim_error error;
    cr_assert_eq(sim_domain_parse(&domain, text, 1, place, &error), SIM_OK, "%s", error.message);
    cr_expect(domain.is_continuous);
    cr_expect_eq(domain.n_values, 0);
    return domain;
}

static double at(const sim_domain *domain, double position) {
    char text[SIM_DOMAIN_BYTES];
    sim_domain_value(domain, 0, position, text);
    return strtod(text, NULL);
}

Test(domain, intervals_give_every_whole_number_the_same_room) {
    const sim_domain dice = interval("1..6", &counting);
    int counts[7] = { 0 };
    for (int i = 0; i < 6000; i++) counts[(int)at(&dice, (i + 0.5) / 6000)]++;
    for (int face = 1; face <= 6; face++) cr_expect_eq(counts[face], 1000, "%d", face);
    const sim_domain rate = interval("2..10", &measuring), ratio = interval("log(1..100)", &measuring);
    cr_expect_eq(at(&rate, 0), 2);
    cr_expect_eq(at(&rate, 0.25), 4);
    cr_expect_float_eq(at(&ratio, 0.5), 10, 1e-9);
    const sim_domain wait = interval("10ms..20ms", &measuring);
    cr_expect_eq(at(&wait, 0.5), 15); // ms
}

// Index to position to index, and each one's value is another.
static void expect_countable(const char *text, const sim_domain_place *place, size_t n) {
    sim_domain domain;
    sim_error error;
    char before[SIM_DOMAIN_BYTES] = "", value[SIM_DOMAIN_BYTES];
    cr_assert_eq(sim_domain_parse(&domain, text, 1, place, &error), SIM_OK, "%s", error.message);
    cr_assert_eq(sim_domain_n_different(&domain), n, "%s: %zu", text, sim_domain_n_different(&domain));
    for (size_t i = 0; i < n; i++) {
        const double position = sim_domain_position(&domain, i);
        cr_expect(position >= 0 && position < 1, "%s: %g", text, position);
        cr_expect_eq(sim_domain_index(&domain, position), i, "%s: %zu", text, i);
        sim_domain_value(&domain, 0, position, value);
        cr_expect_str_neq(value, before);
        memcpy(before, value, sizeof before);
    }
    sim_domain_clear(&domain);
}

Test(domain, that_counts_has_a_position_for_each_value) {
    expect_countable("1, 2, 4, 8", &counting, 4);
    expect_countable("5..20", &counting, 16);
    expect_countable("log(1..300)", &counting, 300);
    expect_countable("log(3..5000)", &counting, 4998);
    expect_countable("2..16", &measuring, 0);
    expect_countable("0..1000000", &counting, 0);
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// One value of one key: which parser, which range, and the sentence about what is wrong.
#include "sim/config/values.h"

#include <stdio.h>
#include <string.h>

#include "sim/config/config.h"
#include "sim/config/nearest_name.h"
#include "sim/config/numbers.h"
#include "sim/config/ranges.h"

typedef struct report {
    char *text;
    size_t n;
} report;

// Comments in the manner of other dialects end up in the value.
static const char *comment_hint(const char *text) {
    if (strstr(text, " #")) return "a comment behind a value begins with ;";
    return strchr(text, ';') ? "a comment needs a blank in front of ;" : NULL;
}

static bool fail(report problem, const char *text, const char *what, const char *hint) {
    if (comment_hint(text)) hint = comment_hint(text);
    if (*text == '\0') {
        snprintf(problem.text, problem.n, "a value is missing (%s)", hint);
    } else {
        snprintf(problem.text, problem.n, "\"%s\" is not %s (%s)", text, what, hint);
    }
    return false;
}

static bool fail_range(report problem, const sim_key *key, const char *text) {
    char range[160];
    sim_key_range(key, range, sizeof range);
    snprintf(problem.text, problem.n, "%s is out of range (%s)", text, range);
    return false;
}

static bool parse_bool(const char *text, bool *out, report problem) {
    *out = strcmp(text, "true") == 0;
    return *out || strcmp(text, "false") == 0 || fail(problem, text, "a truth value", "true | false");
}

static bool parse_int(const sim_key *key, const char *text, int64_t *out, report problem) {
    const char *hint = sim_parse_size(text, out);
    if (hint) return fail(problem, text, "a whole number", hint);
    return sim_key_allows_int(key, *out) || fail_range(problem, key, text);
}

static bool parse_duration(const sim_key *key, const char *text, int64_t *out, report problem) {
    const char *hint = sim_parse_duration(text, false, out);
    if (hint) return fail(problem, text, "a duration", hint);
    return sim_key_allows_int(key, *out) || fail_range(problem, key, text);
}

static bool parse_real(const sim_key *key, const char *text, double *out, report problem) {
    const bool is_ms = key->type == SIM_KEY_MS;
    const char *hint = is_ms ? sim_parse_ms(text, out) : sim_parse_real(text, out);
    if (hint) return fail(problem, text, is_ms ? "a time" : "a number", hint);
    return sim_key_allows_real(key, *out) || fail_range(problem, key, text);
}

static bool parse_choice(const sim_key *key, const char *text, int *out, report problem) {
    sim_nearest nearest = { 0 };
    for (int i = 0; key->choices[i]; i++) {
        if (strcmp(key->choices[i], text) == 0) {
            *out = i;
            return true;
        }
        sim_nearest_consider(&nearest, text, key->choices[i]);
    }
    char choices[320];
    sim_key_range(key, choices, sizeof choices);
    if (!nearest.name) return fail(problem, text, "one of the choices", choices);
    snprintf(problem.text, problem.n, "\"%s\" is not one of the choices (did you mean %s? %s)", text, nearest.name,
             choices);
    return false;
}

// A value of its own: "auto", "none", "".
static void store_word(const sim_key *key, void *field) {
    switch (key->type) {
    case SIM_KEY_INT:
    case SIM_KEY_DURATION:
        *(int64_t *)field = (int64_t)key->word_value;
        return;
    case SIM_KEY_REAL:
    case SIM_KEY_MS:
        *(double *)field = key->word_value;
        return;
    case SIM_KEY_CHOICE:
        *(int *)field = (int)key->word_value;
        return;
    case SIM_KEY_BOOL:
    case SIM_KEY_TEXT:
    case SIM_KEY_PATH:
    case SIM_KEY_NAMED:
    case SIM_KEY_CUSTOM:
        return; // refused when the tables are joined
    }
}

bool sim_value_parse(const sim_key *key, const char *text, void *field, char *problem_text, size_t n_problem) {
    const report problem = { problem_text, n_problem };
    if (key->word && strcmp(key->word, text) == 0) {
        store_word(key, field);
        return true;
    }
    switch (key->type) {
    case SIM_KEY_BOOL:
        return parse_bool(text, field, problem);
    case SIM_KEY_INT:
        return parse_int(key, text, field, problem);
    case SIM_KEY_DURATION:
        return parse_duration(key, text, field, problem);
    case SIM_KEY_REAL:
    case SIM_KEY_MS:
        return parse_real(key, text, field, problem);
    case SIM_KEY_CHOICE:
        return parse_choice(key, text, field, problem);
    case SIM_KEY_TEXT:
    case SIM_KEY_PATH:
    case SIM_KEY_NAMED:
        *(const char **)field = text;
        return true;
    case SIM_KEY_CUSTOM: {
        const char *hint = key->parse(text, field);
        return !hint || fail(problem, text, "valid", hint);
    }
    }
    return false;
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// The scanner against cJSON on random and bent texts. The scanner is the stricter one (leading zeros, raw control
// characters, UTF-8, depth), so whatever it takes cJSON must take too, with the same values; and a text made to be good
// must be taken.
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/json_scanner.h"
#include "tests/support/dice.h"

enum { CAPACITY = 4096, ROUNDS = 60000 };

typedef struct text {
    char bytes[CAPACITY];
    size_t n;
} text;

static void put(text *out, const char *piece) {
    size_t n = strlen(piece);
    if (out->n + n >= CAPACITY - 400) return; // closing brackets still fit
    memcpy(out->bytes + out->n, piece, n);
    out->n += n;
}

static void put_blank(text *out) {
    static const char *const blanks[] = { "", "", "", " ", "\t", "\r\n", "  " };
    put(out, blanks[dice(7)]);
}

static void put_number(text *out) {
    static const char *const numbers[] = { "0",   "-0",   "1",    "-1",     "42",  "1.5",   "-0.25",
                                           "1e3", "1E+2", "2e-3", "123456", "0.0", "1.0e0", "9007199254740993" };
    char digits[32];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)(dice(UINT64_MAX) >> dice(64)));
    put(out, dice(2) ? digits : numbers[dice(14)]);
}

static void put_string(text *out) {
    static const char *const pieces[] = {
        "a",        "key",          " ", "\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\ud83d\\ude00",
        "\xc3\xa9", "\xe2\x82\xac", "{", "}",   "[",    ",",    ":"
    };
    put(out, "\"");
    for (uint64_t i = 0, n = dice(5); i < n; i++) put(out, pieces[dice(16)]);
    put(out, "\"");
}

static void put_scalar(text *out) {
    static const char *const words[] = { "null", "true", "false" };
    switch (dice(3)) {
    case 0:
        put(out, words[dice(3)]);
        break;
    case 1:
        put_number(out);
        break;
    default:
        put_string(out);
    }
}

// A random value without recursion: containers open and close along a stack.
static void make_value(text *out) {
    char closers[40];
    int depth = 0;
    out->n = 0;
    put_blank(out);
    for (int steps = 0;; steps++) {
        // A value begins here.
        if (depth < 39 && steps < 40 && dice(3) == 0) {
            bool is_object = dice(2);
            put(out, is_object ? "{" : "[");
            put_blank(out);
            closers[depth++] = is_object ? '}' : ']';
            if (dice(5)) {
                if (is_object) put_string(out), put_blank(out), put(out, ":"), put_blank(out);
                continue;
            }
            out->bytes[out->n++] = closers[--depth];
        } else {
            put_scalar(out);
        }
        // A value ended: close or go on.
        for (;;) {
            put_blank(out);
            if (depth == 0) return;
            if (steps < 60 && dice(2)) {
                put(out, ",");
                put_blank(out);
                if (closers[depth - 1] == '}') put_string(out), put(out, ":");
                break;
            }
            out->bytes[out->n++] = closers[--depth];
        }
    }
}

static bool cjson_takes(const text *in) {
    char copy[CAPACITY + 1];
    memcpy(copy, in->bytes, in->n);
    copy[in->n] = '\0';
    cJSON *value = cJSON_ParseWithOpts(copy, NULL, true);
    cJSON_Delete(value);
    return value != NULL;
}

static bool scanner_takes(const text *in) {
    // An exact copy, so that reading past the end is seen by the address sanitizer.
    char *copy = malloc(in->n ? in->n : 1);
    memcpy(copy, in->bytes, in->n);
    fpm_json json;
    fpm_json_begin(&json, copy, in->n);
    fpm_json_skip(&json);
    fpm_error error = { .code = FPM_OK };
    const bool is_taken = fpm_json_end(&json, &error) == FPM_OK;
    if (!is_taken) cr_assert(error.message[0] && error.column >= 1 && (size_t)error.column <= in->n + 1);
    free(copy);
    return is_taken;
}

Test(json_scanner_random, takes_good_texts_and_nothing_that_cjson_refuses) {
    static text made;
    for (int round = 0; round < ROUNDS; round++) {
        make_value(&made);
        cr_assert(scanner_takes(&made), "refused: %.*s", (int)made.n, made.bytes);
        cr_assert(cjson_takes(&made), "cJSON refused: %.*s", (int)made.n, made.bytes);
        for (int bends = 0; bends < 4 && made.n > 0; bends++) {
            made.bytes[dice(made.n)] = "0123456789-+.eE{}[],:\"\\ \n\x01\xffntf"[dice(31)];
            if (dice(4) == 0) made.n = dice(made.n) + 1;
            if (scanner_takes(&made)) cr_assert(cjson_takes(&made), "taken: %.*s", (int)made.n, made.bytes);
        }
    }
}

// Members in any order and any writing, unknown ones between, against cJSON's object.
Test(json_scanner_random, members_have_the_values_that_cjson_finds) {
    static const fpm_json_name names[] = { FPM_JSON_NAME("alpha"), FPM_JSON_NAME("beta"), FPM_JSON_NAME("gamma") };
    static const char *const written[][2] = { { "alpha", "\\u0061lpha" },
                                              { "beta", "b\\u0065ta" },
                                              { "gamma", "gamm\\u0061" } };
    static text made, value;
    for (int round = 0; round < ROUNDS / 2; round++) {
        made.n = 0;
        put(&made, "{");
        unsigned order = (unsigned)dice(6), left = 7;
        for (int i = 0; left != 0; i++) {
            const unsigned which = (order + (unsigned)i * (1 + order / 3)) % 3;
            if (!(left >> which & 1)) {
                order++;
                continue;
            }
            left &= ~(1u << which);
            if (made.n > 1) put(&made, ", ");
            if (dice(3) == 0) {
                make_value(&value);
                value.bytes[value.n] = '\0';
                if (made.n + value.n > 2000) break;
                put(&made, "\"other\": "), put(&made, value.bytes), put(&made, ", ");
            }
            put(&made, "\""), put(&made, written[which][dice(8) == 0]), put(&made, "\":"), put_blank(&made),
                put_number(&made);
        }
        put(&made, "}");
        made.bytes[made.n] = '\0';
        cJSON *object = cJSON_Parse(made.bytes);
        if (!object) continue; // cut short above
        fpm_json json;
        fpm_json_object members;
        fpm_json_begin(&json, made.bytes, made.n);
        fpm_json_object_begin(&json, &members, names, 3);
        for (int name; (name = fpm_json_object_next(&json, &members)) >= 0;) {
            double number = -1;
            cr_assert(fpm_json_double(&json, &number), "%s", made.bytes);
            const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, names[name].text);
            cr_assert(item && item->valuedouble == number, "%s: %s", made.bytes, names[name].text);
        }
        cr_assert_eq(fpm_json_end(&json, NULL), FPM_OK, "%s", made.bytes);
        for (unsigned i = 0; i < 3; i++)
            cr_assert_eq(members.seen >> i & 1, cJSON_HasObjectItem(object, names[i].text), "%s", made.bytes);
        cJSON_Delete(object);
    }
}

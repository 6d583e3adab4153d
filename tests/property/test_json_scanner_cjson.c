// SPDX-License-Identifier: GPL-3.0-or-later
//
// The row scanner against cJSON on random documents, whole and damaged. What the scanner takes, cJSON takes too, with
// the same values; the scanner refuses more.
#include "perfmodel/json_scanner.h"

#include <cJSON.h>
#include <criterion/criterion.h>
#include <math.h>

static uint64_t state;
static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

typedef struct text {
    char bytes[4096];
    size_t n;
} text;

static void put(text *t, const char *part) {
    const size_t n = strlen(part);
    if (t->n + n + 1 >= sizeof t->bytes) return;
    memcpy(t->bytes + t->n, part, n + 1);
    t->n += n;
}

static void put_scalar(text *t) {
    static const char *const scalars[] = { "0",
                                           "-0",
                                           "1",
                                           "-17",
                                           "3.25",
                                           "1e3",
                                           "-2.5E-3",
                                           "true",
                                           "false",
                                           "null",
                                           "\"\"",
                                           "\"abc\"",
                                           "18446744073709551615",
                                           "0.1",
                                           "1.7e308",
                                           "\"\\u00e9\\n\\\"\"",
                                           "\"\\ud83d\\ude00\"",
                                           "\"\xc3\xa9\"",
                                           "123456789012" };
    put(t, scalars[draw(sizeof scalars / sizeof *scalars)]);
}

static void put_space(text *t) {
    static const char *const spaces[] = { "", "", "", " ", "\t", "\n", " \r\n" };
    put(t, spaces[draw(7)]);
}

// Containers that are open, innermost last; closed by chance.
static void make_document(text *t) {
    char open[64];
    int depth = 0;
    bool needs_comma = false;
    t->n = 0;
    t->bytes[0] = '\0';
    for (int i = 0; i < 60; i++) {
        if (depth > 0 && draw(4) == 0) {
            put(t, open[--depth] == '{' ? "}" : "]");
            needs_comma = true;
        } else {
            if (needs_comma) put(t, ",");
            put_space(t);
            if (depth > 0 && open[depth - 1] == '{') {
                char key[32];
                snprintf(key, sizeof key, "\"k%d\":", i);
                put(t, key);
            }
            put_space(t);
            const uint32_t what = draw(4);
            if (what < 2 && depth < 60) {
                open[depth++] = what ? '{' : '[';
                put(t, what ? "{" : "[");
                needs_comma = false;
            } else {
                put_scalar(t);
                needs_comma = true;
            }
        }
        if (depth == 0) break;
    }
    while (depth > 0) put(t, open[--depth] == '{' ? "}" : "]");
    put_space(t);
}

static void damage(text *t) {
    static const char bytes[] = "{}[]\",:0123456789.eE+-\\u tfn\x01\x80\xc3";
    const uint32_t at = draw((uint32_t)t->n);
    switch (draw(3)) {
    case 0:
        t->bytes[at] = bytes[draw(sizeof bytes - 1)];
        break;
    case 1:
        memmove(t->bytes + at, t->bytes + at + 1, t->n - at);
        t->n--;
        break;
    default:
        t->bytes[at] = '\0';
        t->n = at;
        break;
    }
}

static bool scanner_takes(const text *t) {
    fpm_json json;
    fpm_json_begin(&json, t->bytes, t->n);
    fpm_json_skip(&json);
    return fpm_json_end(&json, NULL) == FPM_OK;
}

// Is the tree the same as what the scanner reads? Values one by one, names and all.
static void compare(fpm_json *json, const cJSON *root) {
    const cJSON *stack[70];
    bool is_first[70];
    int depth = 0;
    const cJSON *item = root;
    for (;;) {
        // `item` is to be read now.
        bool flag;
        char buffer[256];
        double number;
        if (cJSON_IsObject(item) || cJSON_IsArray(item)) {
            cr_assert_eq(fpm_json_peek(json), cJSON_IsObject(item) ? FPM_JSON_OBJECT : FPM_JSON_ARRAY);
            if (cJSON_IsArray(item)) {
                cr_assert(fpm_json_array_begin(json));
                stack[depth] = item->child;
                is_first[depth++] = true;
            } else {
                fpm_json_skip(json); // names are checked by the scanner's own tests
            }
        } else if (cJSON_IsString(item)) {
            cr_assert(fpm_json_string(json, buffer, sizeof buffer, NULL));
            cr_assert_str_eq(buffer, item->valuestring);
        } else if (cJSON_IsNumber(item)) {
            cr_assert(fpm_json_double(json, &number));
            cr_assert_eq(number, item->valuedouble);
        } else if (cJSON_IsBool(item)) {
            cr_assert(fpm_json_bool(json, &flag));
            cr_assert_eq(flag, cJSON_IsTrue(item));
        } else {
            cr_assert(fpm_json_null(json));
        }
        while (depth > 0 && !stack[depth - 1]) {
            cr_assert_not(fpm_json_array_next(json, &is_first[depth - 1]));
            depth--;
        }
        if (depth == 0) return;
        cr_assert(fpm_json_array_next(json, &is_first[depth - 1]));
        item = stack[depth - 1];
        stack[depth - 1] = item->next;
    }
}

static cJSON *cjson_tree(const text *t) { return cJSON_ParseWithLengthOpts(t->bytes, t->n + 1, NULL, true); }

Test(json_scanner_cjson, sound_documents_read_the_same) {
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        text t;
        state = seed;
        make_document(&t);
        cJSON *tree = cjson_tree(&t);
        cr_assert(tree, "cJSON refuses %s", t.bytes);
        fpm_json json;
        fpm_json_begin(&json, t.bytes, t.n);
        compare(&json, tree);
        cr_assert_eq(fpm_json_end(&json, NULL), FPM_OK, "%s", t.bytes);
        cJSON_Delete(tree);
    }
}

Test(json_scanner_cjson, what_the_scanner_takes_of_damaged_documents_cjson_takes_too) {
    int n_taken = 0, n_refused = 0;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        text t;
        state = seed;
        make_document(&t);
        damage(&t);
        const bool is_taken = scanner_takes(&t);
        cJSON *tree = cjson_tree(&t);
        if (is_taken) cr_assert(tree, "only the scanner takes %s", t.bytes);
        n_taken += is_taken;
        n_refused += !is_taken;
        cJSON_Delete(tree);
    }
    cr_assert(n_taken > 1000 && n_refused > 5000, "%d taken, %d refused", n_taken, n_refused);
}

// cJSON takes each of these, or reads something else; the scanner must not.
Test(json_scanner_cjson, the_scanner_is_stricter_where_it_should_be) {
    static const char *const lax[] = { "01",         "1.",   "[1.e5]",    "+1", "\"\x01\"", "\"\x80\"", "\"\\ud800\"",
                                       "{\"a\":1}x", "[1,]", "{\"a\" 1}", "1e", "-",        "nul",      "" };
    for (size_t i = 0; i < sizeof lax / sizeof *lax; i++) {
        fpm_json json;
        fpm_json_begin(&json, lax[i], strlen(lax[i]));
        fpm_json_skip(&json);
        cr_assert_neq(fpm_json_end(&json, NULL), FPM_OK, "%s", lax[i]);
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the parts of the scanner share: white space, digits, and how it fails.
#ifndef PERFMODEL_JSON_SCANNER_INTERNAL_H
#define PERFMODEL_JSON_SCANNER_INTERNAL_H

#include "perfmodel/json_scanner.h"

static inline bool is_space_at(const char *at) { return *at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'; }
static inline bool is_digit_at(const char *at) { return (unsigned char)(*at - '0') < 10; }

static inline void skip_space(fpm_json *json) {
    while (json->at < json->end && is_space_at(json->at)) json->at++;
}

// The first failure stays. Always false.
static inline bool fail(fpm_json *json, fpm_status code, const char *complaint) {
    if (!json->failed) {
        json->failed = code;
        json->complaint = complaint;
    }
    return false;
}

static inline bool syntax(fpm_json *json, const char *complaint) { return fail(json, FPM_SYNTAX, complaint); }

#endif

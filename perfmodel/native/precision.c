// SPDX-License-Identifier: GPL-3.0-or-later
//
// Names and sizes behind the enumerations of native.h.
#include "perfmodel/native/native.h"

const char *fpm_precision_name(fpm_precision precision) {
    static const char *const names[FPM_PRECISIONS] = {
#define X(code, name, bytes) name,
        FPM_PRECISION_LIST(X)
#undef X
    };
    return precision < FPM_PRECISIONS ? names[precision] : "unknown";
}

double fpm_precision_bytes(fpm_precision precision) {
    static const double sizes[FPM_PRECISIONS] = {
#define X(code, name, bytes) bytes,
        FPM_PRECISION_LIST(X)
#undef X
    };
    return precision < FPM_PRECISIONS ? sizes[precision] : 0.0;
}

const char *fpm_arithmetic_name(fpm_arithmetic arithmetic) {
    static const char *const names[FPM_ARITHMETICS] = {
#define X(code, name) name,
        FPM_ARITHMETIC_LIST(X)
#undef X
    };
    return arithmetic < FPM_ARITHMETICS ? names[arithmetic] : "unknown";
}

const char *fpm_attention_kind_name(fpm_attention_kind kind) {
    static const char *const names[FPM_ATTENTION_KINDS] = {
#define X(code, name) name,
        FPM_ATTENTION_LIST(X)
#undef X
    };
    return kind < FPM_ATTENTION_KINDS ? names[kind] : "unknown";
}

const char *fpm_generation_name(fpm_generation generation) {
    static const char *const names[FPM_GENERATIONS] = {
#define X(code, name) name,
        FPM_GENERATION_LIST(X)
#undef X
    };
    return generation < FPM_GENERATIONS ? names[generation] : "unknown";
}

const char *fpm_backend_name(fpm_backend backend) {
    static const char *const names[FPM_BACKENDS] = {
#define X(code, name) name,
        FPM_BACKEND_LIST(X)
#undef X
    };
    return backend < FPM_BACKENDS ? names[backend] : "unknown";
}

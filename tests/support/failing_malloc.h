// SPDX-License-Identifier: GPL-3.0-or-later
//
// An allocator that counts and can fail, for a test program of one source. The linker routes the calls of the program and of the static
// libraries through the __wrap_ functions (tests/CMakeLists.txt, by the include of this header); those of shared libraries go past them.
#ifndef TESTS_SUPPORT_FAILING_MALLOC_H
#define TESTS_SUPPORT_FAILING_MALLOC_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t n);
void __real_free(void *memory);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t n);
void __wrap_free(void *memory);
char *__wrap_strdup(const char *text);

static long n_left = -1;   // allocations until the one that fails; -1 = none fails
static bool keeps_failing; // and all after it
static bool has_failed;
static long n_live; // blocks not freed

static bool fails_now(void) {
    if (n_left < 0) return false;
    if (n_left > 0) {
        n_left--;
        return false;
    }
    has_failed = true;
    if (!keeps_failing) n_left = -1;
    return true;
}

static void *counted(void *memory) {
    n_live += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t n) { return fails_now() ? NULL : counted(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t size) { return fails_now() ? NULL : counted(__real_calloc(n, size)); }
void *__wrap_realloc(void *old, size_t n) {
    if (fails_now()) return NULL;
    void *memory = __real_realloc(old, n);
    n_live += memory && !old;
    return memory;
}
void __wrap_free(void *memory) {
    n_live -= memory != NULL;
    __real_free(memory);
}

char *__wrap_strdup(const char *text) {
    const size_t n = strlen(text) + 1;
    char *copy = __wrap_malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Classes of requests that a change may hit differently: by length of prompt and answer, turn of the session, and share of the prompt that the prefix
// cache of the first run had. Lengths and turns are cut at powers of two, shares at quarters; neighbours with too few requests are joined.
#ifndef SIM_EXPERIMENT_REQUEST_CLASSES_H
#define SIM_EXPERIMENT_REQUEST_CLASSES_H

#include "sim/report/request_table.h"

// enumerator, name in reports
#define SIM_CLASS_BY_LIST(X)                 \
    X(SIM_BY_INPUT_TOKENS, "input_tokens")   \
    X(SIM_BY_OUTPUT_TOKENS, "output_tokens") \
    X(SIM_BY_TURN, "turn")                   \
    X(SIM_BY_CACHED_SHARE, "cached_share")

typedef enum sim_class_by {
#define X(code, name) code,
    SIM_CLASS_BY_LIST(X)
#undef X
        SIM_CLASS_BYS
} sim_class_by;
extern const char *const sim_class_by_names[SIM_CLASS_BYS];

typedef struct sim_request_class {
    sim_class_by by;
    double low, high; // low <= x < high; high is INFINITY for the last one
    size_t n_requests;
    char text[64]; // for people: "prompts of 1k to 2k tokens"
} sim_request_class;

enum { SIM_MAX_CLASSES = 64, SIM_NO_CLASS = 255 };

typedef struct sim_request_classes {
    sim_request_class
        classes[SIM_MAX_CLASSES]; // those of one kind follow one another; a kind with one class only is left out
    size_t n;
    uint8_t *of[SIM_CLASS_BYS]; // by place in the order: index into classes, SIM_NO_CLASS without
    size_t n_rows;
} sim_request_classes;

// Classes of the rows `order[0..n-1]` of `table`, each of at least `least` requests. SIM_NO_MEMORY.
sim_status sim_request_classes_new(sim_request_classes *classes, const sim_request_table *table, const size_t *order,
                                   size_t n, size_t least, sim_error *error);
void sim_request_classes_clear(sim_request_classes *classes);

#endif

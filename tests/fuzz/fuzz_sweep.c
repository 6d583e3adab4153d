// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any text as what [sweep] takes: the first byte chooses, the rest is a domain (of one key or two, counting or not), or an expression. What is
// understood is used: every value of a domain, the value of an expression.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/settings.h"
#include "sim/experiment/sweep/domain.h"
#include "sim/experiment/sweep/expressions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void try_domain(const char *text, size_t n_keys, bool is_whole) {
    const sim_domain_place place = { "engine.max_num_seqs", "fuzz", 1, is_whole };
    sim_domain domain;
    sim_error error;
    if (sim_domain_parse(&domain, text, n_keys, &place, &error)) return;
    for (double position = 0; position < 1; position += 0.01) {
        char value[SIM_DOMAIN_BYTES];
        for (size_t k = 0; k < n_keys; k++) sim_domain_value(&domain, k, position, value);
    }
    sim_domain_clear(&domain);
}

static void try_expression(const char *text) {
    static const sim_key_table *const tables[] = { &sim_load_keys, &sim_parallel_keys, &sim_cluster_keys,
                                                   &sim_engine_keys };
    static sim_config *config;
    static sim_expressions *expressions; // made once: they are slow to make and remember nothing
    sim_expression *expression;
    sim_error error;
    char value[SIM_EXPRESSION_BYTES];
    if (!config &&
        (sim_config_new(&config, tables, 4, &error) || sim_expressions_new(&expressions, config, tables, 4, &error)))
        abort();
    if (strstr(text, "blob") || strstr(text, "RECURSIVE") || strstr(text, "recursive")) return; // slow by design
    if (sim_expression_new(&expression, expressions, text, "fuzz", 1, &error)) return;
    sim_expression_text(expression, value, &error);
    sim_expression_free(expression);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    char text[256];
    if (n_bytes < 1 || n_bytes > sizeof text) return 0;
    memcpy(text, data + 1, n_bytes - 1);
    text[n_bytes - 1] = '\0';
    if (data[0] & 1)
        try_domain(text, data[0] & 2 ? 2 : 1, data[0] & 4);
    else
        try_expression(text);
    return 0;
}

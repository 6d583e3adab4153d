// SPDX-License-Identifier: GPL-3.0-or-later
//
// Conditions, constraints and values that follow from others, over the keys of one configuration: "parallel.tensor * cluster.replicas <= 16",
// "engine.backend = sglang and load.rate > 4", "max(256, 64 * parallel.tensor)". They are expressions of SQLite (https://sqlite.org/lang_expr.html), which
// evaluates them: every section is a table of one row, every key a column. Numbers are numbers, durations milliseconds, true and false 1 and 0, all else is text;
// a value of a choice may stand without quotes. Functions are those that calculate with numbers and texts (expressions.c lists them): neither chance nor the clock,
// and no query inside. `gpus` is replicas x tensor x pipeline x data.
#ifndef SIM_EXPERIMENT_SWEEP_EXPRESSIONS_H
#define SIM_EXPERIMENT_SWEEP_EXPRESSIONS_H

#include "sim/config/config.h"

typedef struct sim_expressions sim_expressions; // the keys and their values; for one thread
typedef struct sim_expression sim_expression;   // one of them, understood

// All keys of the tables at their values in `config`.
sim_status sim_expressions_new(sim_expressions **expressions, const sim_config *config,
                               const sim_key_table *const *tables, size_t n_tables, sim_error *error);
void sim_expressions_free(sim_expressions *expressions);

// The key `name` (section.key, which must exist) now has the value it has in `config`.
sim_status sim_expressions_set(sim_expressions *expressions, const sim_config *config, const char *name,
                               sim_error *error);

// SIM_USAGE at file and line: it is no expression, or names what there is not. Expressions go before `expressions`.
sim_status sim_expression_new(sim_expression **expression, sim_expressions *expressions, const char *text,
                              const char *file, int64_t line, sim_error *error);
void sim_expression_free(sim_expression *expression);
// Does its text name `key` (section.key)?
bool sim_expression_names(const sim_expression *expression, const char *key);

// Its value as text: a number in shortest exact form, "" for nothing (a division by zero) and infinity. SIM_USAGE: it cannot be evaluated.
#define SIM_EXPRESSION_BYTES 200
sim_status sim_expression_text(sim_expression *expression, char text[SIM_EXPRESSION_BYTES], sim_error *error);
// Does it hold: is it a number other than zero?
sim_status sim_expression_holds(sim_expression *expression, bool *holds, sim_error *error);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// [perfmodel]: which estimator prices a pass, and how it is built.
#ifndef SIM_DEPLOYMENT_PRICING_H
#define SIM_DEPLOYMENT_PRICING_H

#include <stdint.h>

#include "perfmodel/perfmodel.h"
#include "sim/deployment/native_prices.h"

typedef enum sim_estimator_kind {
    SIM_ESTIMATOR_NATIVE,
    SIM_ESTIMATOR_TABLE,
    SIM_ESTIMATOR_POLYNOMIAL,
    SIM_ESTIMATOR_FIXED,
    SIM_ESTIMATOR_REGRESSION,
    SIM_ESTIMATOR_AUTO
} sim_estimator_kind;

typedef struct sim_pricing_config {
    int estimator;           // sim_estimator_kind
    int fallback;            // sim_estimator_kind: of a regression, for the passes it does not know yet; < 0: not given
    int pricing;             // fpm_pricing
    double prefill_ms;       // < 0: not given
    double decode_ms;        // < 0: not given
    double mixed_ms;         // < 0: not given
    const char *calibration; // native: of configs/calibrations; "none" = uncalibrated
    const char *table;       // table: a file of measured passes; "" = not given
    const char *operator_tables; // native: a directory of measured kernels; "" = none
    const char *state;           // a saved model that prices; "" = none
} sim_pricing_config;

extern const sim_key_table sim_pricing_keys; // section [perfmodel]

// What `auto` stands for: table if perfmodel.table is given, else native if there are model and system, else polynomial if the KV capacity is known; SIM_ESTIMATOR_AUTO
// when it finds nothing. Every other estimator stands for itself. `deployment` may be NULL.
sim_estimator_kind sim_pricing_resolve(const sim_pricing_config *settings, const sim_deployment *deployment,
                                       uint64_t capacity_tokens);
// Does it take native prices (sim_native_prices_load)?
bool sim_pricing_is_native(const sim_pricing_config *settings, const sim_deployment *deployment);

// The estimator that `settings` describe, of a regression its fallback; `deployment` is what native prices, by `prices` (both NULL: nothing), `capacity_tokens` are the KV tokens of one rank
// (polynomial only). Reads perfmodel.table and the files of perfmodel.operator_tables. Contradictions are placed where `config` was given the key. SIM_USAGE: `native` without model or system, `fixed`
// without prefill_ms or decode_ms, a key that has no effect, `regression` without a fallback, `polynomial` with a capacity of 0, `table` without a file, `auto` that
// finds nothing. SIM_IO, SIM_BAD_DATA: of the tables.
// With perfmodel.state the saved model prices, on top of that estimator (learned_prices.h, which has more errors); it learns no more.
sim_status sim_pricing_new(fpm_estimator **estimator, const sim_config *config, const sim_pricing_config *settings,
                           const sim_deployment *deployment, const sim_native_prices *prices, uint64_t capacity_tokens,
                           sim_error *error);

// Tell what `auto` stands for, in a comment of an INI file; nothing for the others. False on a write error.
bool sim_pricing_write(const sim_pricing_config *settings, const sim_deployment *deployment, uint64_t capacity_tokens,
                       FILE *out);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/deployment.h"

static const char *const precision_names[] = {
#define X(code, name, bytes) name,
    FPM_PRECISION_LIST(X)
#undef X
        NULL
};
static const char *const kv_names[] = { "bf16", "fp8", NULL };
_Static_assert(FPM_BF16 == 0 && FPM_FP8 == 1, "kv_names stand in the order of fpm_precision");
static const char *const activation_names[] = { "auto", "bf16", "quantised", NULL };

#define KEY(field, ...) \
    { .offset = offsetof(sim_model_config, field), .name = #field, __VA_ARGS__ }
static const sim_key model_keys[] = {
    KEY(name, .type = SIM_KEY_NAMED, .default_text = "",
        .help = "a name of forepass list models, a published one, or a path to an INI file or config.json"),
    KEY(weights, .type = SIM_KEY_CHOICE, .default_text = "", .choices = precision_names, .word = "", .word_value = -1,
        .help = "format of the weights; empty = bf16, or what a config.json declares"),
    KEY(moe_weights, .type = SIM_KEY_CHOICE, .default_text = "", .choices = precision_names, .word = "",
        .word_value = -1, .help = "format of the routed experts; empty = as weights"),
    KEY(kv_cache, .type = SIM_KEY_CHOICE, .default_text = "", .choices = kv_names, .word = "", .word_value = -1,
        .help = "format of the KV cache; empty = bf16, or what a config.json declares"),
    KEY(activations, .type = SIM_KEY_CHOICE, .default_text = "auto", .choices = activation_names,
        .help = "what quantised weights are multiplied with; auto: bf16 for int4, and for mxfp4 before Blackwell"),
};
#undef KEY

static const sim_key system_keys[] = {
    { .name = "name",
      .type = SIM_KEY_NAMED,
      .offset = offsetof(sim_system_config, name),
      .default_text = "",
      .help = "a name of forepass list systems, or a path to an INI file" },
};

const sim_key_table sim_model_keys = { "model", "what is served", model_keys, sizeof model_keys / sizeof *model_keys };
const sim_key_table sim_system_keys = { "system", "the GPUs it is served on", system_keys, 1 };

// SPDX-License-Identifier: GPL-3.0-or-later
#include <stddef.h>

#include "sim/experiment/sweep/sweep_config.h"

const char *const sim_sweep_method_names[] = { "grid", "random", "list", "lhs", "sobol", "bayes", "halving", NULL };
static const char *const layout_names[] = { "none", "auto", NULL };
static const char *const early_stop_names[] = { "off", "sla", "dominated", NULL };

#define KEY(field, ...) \
    { .name = #field, .offset = offsetof(sim_sweep_config, field), __VA_ARGS__ }
static const sim_key keys[] = {
    KEY(method, .type = SIM_KEY_CHOICE, .default_text = "grid", .choices = sim_sweep_method_names,
        .help = "all combinations; drawn points; rows of a file; or a search for the best objective"),
    KEY(points, .type = SIM_KEY_PATH, .default_text = "", .help = "list: CSV whose columns are keys, one point a row"),
    KEY(samples, .type = SIM_KEY_INT, .default_text = "64", .min = 1, .max = 1e6, .unit = "points",
        .help = "random, lhs, sobol: points drawn; bayes, halving: points tried"),
    KEY(repeat, .type = SIM_KEY_INT, .default_text = "1", .min = 1, .max = 1000, .unit = "runs",
        .help = "runs of each point, with seeds load.seed, load.seed + 1, ...: the same ones for all points"),
    KEY(seed, .type = SIM_KEY_INT, .default_text = "", .min = 0, .max = 9e18, .word = "", .word_value = -1,
        .help = "of the points drawn, not of the runs; empty = load.seed"),
    KEY(objective, .type = SIM_KEY_TEXT, .default_text = "output_throughput_tok_s",
        .help = "what ranks points: [max|min] a number of the summary [per gpu|per dollar]; several with commas"),
    KEY(confidence, .type = SIM_KEY_REAL, .default_text = "0.95", .min = 0.5, .max = 0.9999,
        .help = "of the intervals over repeated runs"),
    KEY(layouts, .type = SIM_KEY_CHOICE, .default_text = "none", .choices = layout_names,
        .help = "auto: all parallel layouts that use the GPUs of sweep.gpus are points"),
    KEY(gpus, .type = SIM_KEY_INT, .default_text = "0", .min = 0, .max = 65536, .unit = "GPUs",
        .help = "layouts: what every layout uses"),
    KEY(early_stop, .type = SIM_KEY_CHOICE, .default_text = "off", .choices = early_stop_names,
        .help = "sla: give a run up once [sla] cannot be met any more; dominated: once a point of an earlier round "
                "beats it"),
    KEY(round, .type = SIM_KEY_INT, .default_text = "32", .min = 1, .max = 1e6, .unit = "points",
        .help = "dominated: points of a round, in the order of the design, whose runs do not know of each other"),
    KEY(first_share, .type = SIM_KEY_REAL, .default_text = "0.1", .min = 0.001, .max = 1,
        .help = "halving: share of the requests that the first round replays"),
    KEY(keep_one_of, .type = SIM_KEY_INT, .default_text = "3", .min = 2, .max = 100,
        .help = "halving: one point of so many goes on to the next round"),
    { .name = SIM_KEY_OTHERS,
      .type = SIM_KEY_TEXT,
      .offset = offsetof(sim_sweep_config, others),
      .default_text = "",
      .help = "a key of another section and its values (1, 2, 4; 1:9:2; log(1, 64, 7); 1..64), or constraint.NAME" },
};
const sim_key_table sim_sweep_keys = { "sweep", "which configurations are run, and what is looked for", keys,
                                       sizeof keys / sizeof *keys };

bool sim_sweep_is_search(const sim_sweep_config *settings) {
    return settings->method == SIM_SWEEP_BAYES || settings->method == SIM_SWEEP_HALVING;
}

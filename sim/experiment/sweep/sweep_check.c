// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the keys of [sweep] say against each other, and which of them say nothing.
#include <stdio.h>
#include <string.h>

#include "sim/experiment/sweep/sweep_state.h"
#include "sim/report/sla.h"

static sim_status check_dominated(const sim_sweep *sweep, sim_error *error) {
    if (sim_sweep_is_search(&sweep->settings))
        return sim_config_contradiction(sweep->config, error, "sweep", "early_stop",
                                        "a search needs what every run comes to (leave early_stop = dominated out, or "
                                        "choose another sweep.method)");
    if (sweep->options->n_shards > 1)
        return sim_config_contradiction(sweep->config, error, "sweep", "early_stop",
                                        "shards do not know of each other (leave --shard or early_stop = dominated "
                                        "out)");
    return sim_rivals_check(&sweep->objectives, sweep->config, error);
}

static sim_status check_sla_bounds(const sim_sweep *sweep, sim_error *error) {
    sim_sla_config sla;
    sim_config_fill(sweep->config, &sim_sla_keys, &sla);
    if (sim_sla_is_given(&sla) || sla.itl_ns > 0) return SIM_OK;
    for (size_t k = 0; k < sim_space_n_keys(sweep->space); k++)
        if (strncmp(sim_space_key(sweep->space, k), "sla.", 4) == 0) return SIM_OK;
    return sim_config_contradiction(sweep->config, error, "sweep", "early_stop",
                                    "early_stop = sla needs bounds to miss (give [sla] ttft, tpot or e2e)");
}

sim_status sim_sweep_check(const sim_sweep *sweep, sim_error *error) {
    if (sim_sweep_is_search(&sweep->settings) && sweep->options->n_shards > 1)
        return sim_config_contradiction(sweep->config, error, "sweep", "method",
                                        "a search decides as it goes and cannot be cut into shards (leave --shard out, "
                                        "or choose another sweep.method)");
    if (sweep->settings.early_stop == SIM_EARLY_STOP_DOMINATED) return check_dominated(sweep, error);
    return sweep->settings.early_stop == SIM_EARLY_STOP_SLA ? check_sla_bounds(sweep, error) : SIM_OK;
}

// Keys that say something about other methods than the one chosen: it may change with --set, so they are no errors, but they are told.
void sim_sweep_warn_of_idle_keys(const sim_sweep *sweep) {
    const int method = sweep->settings.method;
    const bool is_drawn = method == SIM_SWEEP_RANDOM || method == SIM_SWEEP_LHS || method == SIM_SWEEP_SOBOL;
    const bool is_halving = method == SIM_SWEEP_HALVING;
    const struct {
        const char *key, *needed;
        bool has_effect;
    } keys[] = {
        { "samples", "a method that draws or searches", is_drawn || sim_sweep_is_search(&sweep->settings) },
        { "seed", "a method that draws or searches", is_drawn || sim_sweep_is_search(&sweep->settings) },
        { "points", "method = list", method == SIM_SWEEP_LIST },
        { "first_share", "method = halving", is_halving },
        { "keep_one_of", "method = halving", is_halving },
        { "gpus", "layouts = auto", sweep->settings.layouts },
        { "round", "early_stop = dominated", sweep->settings.early_stop == SIM_EARLY_STOP_DOMINATED },
        { "confidence", "repeat above 1", sweep->settings.repeat > 1 },
    };
    for (size_t i = 0; sweep->options->warn && i < sizeof keys / sizeof *keys; i++) {
        char line[120];
        if (keys[i].has_effect || !sim_config_is_given(sweep->config, "sweep", keys[i].key)) continue;
        snprintf(line, sizeof line, "sweep.%s has no effect without %s", keys[i].key, keys[i].needed);
        sweep->options->warn(line);
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// The keys of [load], and which of them contradict each other.
#include "sim/workload/contradiction.h"
#include "sim/workload/load.h"

static const char *const mode_names[] = { "", "timestamps", "concurrency", "constant", "poisson", NULL };

#define AT(field) offsetof(sim_load_config, field)

static const double max_duration_ns = 9.2e18;

static const sim_key keys[] = {
    { .name = "mode",
      .type = SIM_KEY_CHOICE,
      .offset = AT(mode),
      .default_text = "",
      .choices = mode_names,
      .unit = "",
      .help = "arrivals: recorded timestamps, a closed loop of N in flight, equal or Poisson gaps; empty = timestamps "
              "where the "
              "source has them, else concurrency" },
    { .name = "speedup",
      .type = SIM_KEY_REAL,
      .offset = AT(speedup),
      .default_text = "1.0",
      .min = 1e-6,
      .max = 1e9,
      .unit = "",
      .help = "timestamps: recorded times are divided by this" },
    { .name = "concurrency",
      .type = SIM_KEY_INT,
      .offset = AT(concurrency),
      .default_text = "10",
      .min = 1,
      .max = 4e9,
      .unit = "requests",
      .help = "concurrency: requests kept in flight" },
    { .name = "rate",
      .type = SIM_KEY_REAL,
      .offset = AT(rate),
      .default_text = "",
      .min = 1e-6,
      .max = 1e9,
      .word = "",
      .word_value = 0,
      .unit = "requests/s",
      .help = "constant, poisson: mean arrival rate" },
    { .name = "seed",
      .type = SIM_KEY_INT,
      .offset = AT(seed),
      .default_text = "42",
      .min = 0,
      .max = 9.2e18,
      .unit = "",
      .help = "the root seed of everything random; --seed overrides it" },
    { .name = "admit_until",
      .type = SIM_KEY_DURATION,
      .offset = AT(admit_until_ns),
      .default_text = "0s",
      .min = 0,
      .max = max_duration_ns,
      .unit = "duration",
      .help = "stop admitting after this virtual time and finish what is in; 0 = never" },
    { .name = "max_time",
      .type = SIM_KEY_DURATION,
      .offset = AT(max_time_ns),
      .default_text = "0s",
      .min = 0,
      .max = max_duration_ns,
      .unit = "duration",
      .help = "hard end of virtual time, the rest counts as incomplete; 0 = never" },
    { .name = "warmup",
      .type = SIM_KEY_DURATION,
      .offset = AT(warmup_ns),
      .default_text = "0s",
      .min = 0,
      .max = max_duration_ns,
      .unit = "duration",
      .help = "arrivals of this first time stay out of the statistics" },
    { .name = "warmup_requests",
      .type = SIM_KEY_INT,
      .offset = AT(warmup_requests),
      .default_text = "0",
      .min = 0,
      .max = 4e9,
      .unit = "requests",
      .help = "this many first requests stay out of the statistics" },
};

const sim_key_table sim_load_keys = {
    .section = "load",
    .help = "when it is asked",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
};

sim_load_mode sim_load_resolve(const sim_load_config *settings, bool has_stamps) {
    if (settings->mode != SIM_LOAD_DEFAULT) return (sim_load_mode)settings->mode;
    return has_stamps ? SIM_LOAD_TIMESTAMPS : SIM_LOAD_CONCURRENCY;
}

sim_status sim_load_check(const sim_config *config, const sim_load_config *settings, bool has_stamps,
                          sim_error *error) {
    const sim_load_mode mode = sim_load_resolve(settings, has_stamps);
    const char *name = mode_names[mode];
    const bool is_rated = mode == SIM_LOAD_CONSTANT || mode == SIM_LOAD_POISSON;
    if (mode == SIM_LOAD_TIMESTAMPS && !has_stamps)
        return sim_contradiction(config, error, "load", "mode",
                                 "the requests have no timestamps (concurrency, constant and poisson need none)");
    if (mode != SIM_LOAD_TIMESTAMPS && settings->speedup != 1)
        return sim_contradiction(config, error, "load", "speedup", "mode = %s has no timestamps to speed up (%s)", name,
                                 is_rated ? "set load.rate" : "set load.concurrency");
    if (is_rated && settings->rate == 0)
        return sim_contradiction(config, error, "load", "mode", "mode = %s needs load.rate, in requests per second",
                                 name);
    if (!is_rated && settings->rate != 0)
        return sim_contradiction(config, error, "load", "rate", "mode = %s takes no rate (constant and poisson do)",
                                 name);
    if (mode != SIM_LOAD_CONCURRENCY && settings->concurrency != 10)
        return sim_contradiction(config, error, "load", "concurrency",
                                 "mode = %s is an open loop (mode = concurrency keeps requests in flight)", name);
    return SIM_OK;
}

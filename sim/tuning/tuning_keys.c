// SPDX-License-Identifier: GPL-3.0-or-later
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/tuning/tuning_config.h"

const char *const sim_tuning_mode_names[] = { "off", "online", NULL };
const char *const sim_tuning_scope_names[] = { "pool", "worker", NULL };
const char *const sim_tuning_clock_names[] = { "model", "truth", NULL };
const char *const sim_truth_source_names[] = { "none", "synthetic", "recorded", NULL };
static const char *const feed_names[] = { "match", "sequence", NULL };
static const char *const range_names[] = { "nearest", "estimator", "fail", NULL };

_Static_assert(sizeof(sim_truth_steps) <= SIM_KEY_CUSTOM_BYTES, "steps fit a value of the configuration");

// "500" passes or "10m" of virtual time.
static const char *parse_freeze(const char *text, void *out) {
    static const char hint[] = "give a number of passes, or a virtual time such as 10m; 0 = never";
    sim_freeze freeze = { .passes = 0 };
    int64_t value;
    if (!sim_parse_size(text, &value))
        freeze.passes = (uint64_t)value;
    else if (!sim_parse_duration(text, false, &value))
        freeze.time_ns = value;
    else
        return hint;
    if (value < 0) return hint;
    *(sim_freeze *)out = freeze;
    return NULL;
}

// One "10m:1.3" of n bytes.
static bool parse_step(const char *text, size_t n, sim_truth_step *step) {
    char item[64];
    if (n == 0 || n >= sizeof item) return false;
    memcpy(item, text, n);
    item[n] = '\0';
    char *colon = strchr(item, ':');
    if (!colon) return false;
    *colon = '\0';
    return !sim_parse_duration(item, false, &step->time_ns) && !sim_parse_real(colon + 1, &step->factor) &&
           step->time_ns >= 0 && step->factor > 0 && step->factor <= 1e6;
}

static const char *parse_steps(const char *text, void *out) {
    static const char hint[] = "give up to 15 ascending TIME:FACTOR, such as 10m:1.3, 30m:0.9";
    sim_truth_steps list = { .n = 0 };
    for (const char *at = text + strspn(text, " \t"); *at;) {
        const size_t n = strcspn(at, ", \t");
        if (list.n == SIM_MAX_TRUTH_STEPS || !parse_step(at, n, &list.steps[list.n])) return hint;
        if (list.n > 0 && list.steps[list.n].time_ns <= list.steps[list.n - 1].time_ns) return hint;
        list.n++;
        at += n;
        at += strspn(at, " \t");
        if (*at == '\0') break;
        if (*at++ != ',') return hint;
        at += strspn(at, " \t");
        if (*at == '\0') return hint;
    }
    *(sim_truth_steps *)out = list;
    return NULL;
}

#define KEY(field, ...) \
    { .offset = offsetof(sim_tuning_config, field), .name = #field, __VA_ARGS__ }
static const sim_key tuning_keys[] = {
    KEY(mode, .type = SIM_KEY_CHOICE, .default_text = "off", .choices = sim_tuning_mode_names,
        .help = "online: the model of [perfmodel] learns from the wall time of every pass, after having estimated it"),
    KEY(scope, .type = SIM_KEY_CHOICE, .default_text = "pool", .choices = sim_tuning_scope_names,
        .help = "who shares one model: all workers, or nobody"),
    KEY(clock, .type = SIM_KEY_CHOICE, .default_text = "model", .choices = sim_tuning_clock_names,
        .help = "which time a pass takes in the run: the estimate, or the wall time of [truth]"),
    KEY(update_every, .type = SIM_KEY_INT, .default_text = "1", .min = 1, .max = 65536, .unit = "passes",
        .help = "finished passes a model learns at once"),
    KEY(freeze_after, .type = SIM_KEY_CUSTOM, .default_text = "0", .parse = parse_freeze, .unit = "passes or duration",
        .help = "learn no more after so many passes of a model, or from this virtual time on; 0 = never"),
    KEY(drift_threshold, .type = SIM_KEY_REAL, .default_text = "0.1", .min = 0, .is_min_exclusive = true, .max = 1e6,
        .help = "report drift while most of the newest passes of a kind lie on one side of their estimates by this "
                "fraction or more"),
    KEY(drift_window, .type = SIM_KEY_INT, .default_text = "32", .min = 1, .max = 4096, .unit = "passes",
        .help = "how many passes are the newest"),
};
#undef KEY

#define KEY(field, ...) \
    { .offset = offsetof(sim_truth_config, field), .name = #field, __VA_ARGS__ }
#define BIAS .type = SIM_KEY_REAL, .default_text = "1", .min = 0, .is_min_exclusive = true, .max = 1e6
#define CV .type = SIM_KEY_REAL, .default_text = "0", .min = 0, .max = 10
static const sim_key truth_keys[] = {
    KEY(source, .type = SIM_KEY_CHOICE, .default_text = "none", .choices = sim_truth_source_names,
        .help = "wall times that are observed: drawn around the estimates, or those of an FPM log"),
    KEY(path, .type = SIM_KEY_PATH, .default_text = "", .help = "recorded: the FPM log, plain, gzip or zstd"),
    KEY(feed, .type = SIM_KEY_CHOICE, .default_text = "match", .choices = feed_names,
        .help = "recorded: match = each simulated pass takes the time of the recorded passes most like it; sequence = "
                "recorded passes are learned one by one, beside the simulated ones"),
    KEY(out_of_range, .type = SIM_KEY_CHOICE, .default_text = "nearest", .choices = range_names,
        .help =
            "recorded: a pass outside of all recorded ones takes the time of the nearest, or its estimate, or ends the "
            "run"),
    KEY(prefill_bias, BIAS, .help = "synthetic: wall time / estimate of prefill passes"),
    KEY(decode_bias, BIAS, .help = "synthetic: the same of decode passes"),
    KEY(mixed_bias, BIAS, .help = "synthetic: the same of passes with both"),
    KEY(noise_cv, CV, .help = "synthetic: coefficient of variation of log-normal noise of mean 1"),
    KEY(outlier_probability, .type = SIM_KEY_REAL, .default_text = "0", .min = 0, .max = 1,
        .help = "synthetic: share of passes that are outliers"),
    KEY(outlier_factor, .type = SIM_KEY_REAL, .default_text = "10", .min = 0, .is_min_exclusive = true, .max = 1e6,
        .help = "synthetic: wall times of outliers are multiplied by this"),
    KEY(drift_per_hour, .type = SIM_KEY_REAL, .default_text = "0", .min = -1e6, .max = 1e6,
        .help = "synthetic: relative change per hour of virtual time"),
    KEY(steps, .type = SIM_KEY_CUSTOM, .default_text = "", .parse = parse_steps, .unit = "time:factor, ...",
        .help = "synthetic: factor from a virtual time on, until the next one"),
    KEY(worker_spread_cv, CV, .help = "synthetic: the same of a factor per worker that never changes"),
    { .name = "quantum",
      .offset = offsetof(sim_truth_config, quantum_ns),
      .type = SIM_KEY_DURATION,
      .default_text = "0",
      .min = 0,
      .max = 3.6e12,
      .help = "synthetic: wall times are whole multiples of this, at least one; 0 = exact" },
    KEY(seed, .type = SIM_KEY_INT, .default_text = "", .min = 0, .max = 9.2e18, .word = "", .word_value = -1,
        .help = "synthetic: seed of everything drawn; empty = the root seed"),
};
#undef KEY

#define COUNT(array) (sizeof(array) / sizeof *(array))
const sim_key_table sim_tuning_keys = { "tuning", "a model that learns while the trace replays", tuning_keys,
                                        COUNT(tuning_keys) };
const sim_key_table sim_truth_keys = { "truth", "the wall times that are observed", truth_keys, COUNT(truth_keys) };

// --- rules ------------------------------------------------------------------------------------------------------------

// A key of another source that does not stand at its default.
static sim_status check_idle_keys(const sim_config *config, const sim_truth_config *t, sim_error *error) {
    const struct {
        int source;
        bool is_set;
        const char *key;
    } rules[] = {
        { SIM_TRUTH_RECORDED, *t->path != '\0', "path" },
        { SIM_TRUTH_RECORDED, t->feed != SIM_FEED_MATCH, "feed" },
        { SIM_TRUTH_RECORDED, t->out_of_range != SIM_RANGE_NEAREST, "out_of_range" },
        { SIM_TRUTH_SYNTHETIC, t->prefill_bias != 1, "prefill_bias" },
        { SIM_TRUTH_SYNTHETIC, t->decode_bias != 1, "decode_bias" },
        { SIM_TRUTH_SYNTHETIC, t->mixed_bias != 1, "mixed_bias" },
        { SIM_TRUTH_SYNTHETIC, t->noise_cv != 0, "noise_cv" },
        { SIM_TRUTH_SYNTHETIC, t->outlier_probability != 0, "outlier_probability" },
        { SIM_TRUTH_SYNTHETIC, t->outlier_factor != 10, "outlier_factor" },
        { SIM_TRUTH_SYNTHETIC, t->drift_per_hour != 0, "drift_per_hour" },
        { SIM_TRUTH_SYNTHETIC, t->steps.n != 0, "steps" },
        { SIM_TRUTH_SYNTHETIC, t->worker_spread_cv != 0, "worker_spread_cv" },
        { SIM_TRUTH_SYNTHETIC, t->quantum_ns != 0, "quantum" },
        { SIM_TRUTH_SYNTHETIC, t->seed >= 0, "seed" },
    };
    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].is_set && rules[i].source != t->source)
            return sim_config_contradiction(config, error, "truth", rules[i].key,
                                            "truth.%s has no effect with source = %s (leave it out, or choose %s)",
                                            rules[i].key, sim_truth_source_names[t->source],
                                            sim_truth_source_names[rules[i].source]);
    return SIM_OK;
}

static sim_status check_tuning(const sim_config *config, const sim_tuning_config *tuning, const sim_truth_config *truth,
                               sim_error *error) {
    static const char hint[] = "needs wall times to observe: truth.source = synthetic or recorded";
    if (truth->source == SIM_TRUTH_NONE && tuning->mode == SIM_TUNING_ONLINE)
        return sim_config_contradiction(config, error, "tuning", "mode", "mode = online %s", hint);
    if (truth->source == SIM_TRUTH_NONE && tuning->clock == SIM_CLOCK_TRUTH)
        return sim_config_contradiction(config, error, "tuning", "clock", "clock = truth %s", hint);
    const uint64_t freeze = tuning->freeze_after.passes;
    if (tuning->mode == SIM_TUNING_ONLINE && freeze > 0 && freeze < (uint64_t)tuning->update_every)
        return sim_config_contradiction(config, error, "tuning", "freeze_after",
                                        "freeze_after comes before the first update_every = %lld passes are there to "
                                        "learn from",
                                        (long long)tuning->update_every);
    if (tuning->mode == SIM_TUNING_ONLINE) return SIM_OK;
    const struct {
        bool is_set;
        const char *key;
    } rules[] = {
        { tuning->scope != SIM_TUNING_POOL, "scope" },
        { tuning->update_every != 1, "update_every" },
        { tuning->freeze_after.passes || tuning->freeze_after.time_ns, "freeze_after" },
        { tuning->drift_threshold != 0.1, "drift_threshold" },
        { tuning->drift_window != 32, "drift_window" },
    };
    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].is_set)
            return sim_config_contradiction(config, error, "tuning", rules[i].key,
                                            "tuning.%s has no effect with mode = off (leave it out, or choose online)",
                                            rules[i].key);
    return SIM_OK;
}

static sim_status check_recorded(const sim_config *config, const sim_tuning_config *tuning,
                                 const sim_truth_config *truth, sim_error *error) {
    if (*truth->path == '\0')
        return sim_config_contradiction(config, error, "truth", "source",
                                        "source = recorded needs truth.path (an FPM log, as replay --fpm writes)");
    if (truth->feed == SIM_FEED_MATCH) return SIM_OK;
    const bool has_range = truth->out_of_range != SIM_RANGE_NEAREST;
    if (has_range)
        return sim_config_contradiction(config, error, "truth", "out_of_range",
                                        "truth.out_of_range has no effect with feed = sequence (nothing is matched)");
    if (tuning->mode != SIM_TUNING_ONLINE)
        return sim_config_contradiction(config, error, "truth", "feed",
                                        "feed = sequence needs tuning.mode = online (who would learn?)");
    if (tuning->clock == SIM_CLOCK_TRUTH)
        return sim_config_contradiction(config, error, "tuning", "clock",
                                        "clock = truth is not possible with feed = sequence, which says nothing of the "
                                        "simulated passes (choose feed = match)");
    if (tuning->scope == SIM_TUNING_WORKER)
        return sim_config_contradiction(config, error, "tuning", "scope",
                                        "scope = worker is not possible with feed = sequence (choose pool)");
    return SIM_OK;
}

sim_status sim_tuning_read(const sim_config *config, sim_tuning_config *tuning, sim_truth_config *truth,
                           sim_error *error) {
    sim_config_fill(config, &sim_tuning_keys, tuning);
    sim_config_fill(config, &sim_truth_keys, truth);
    sim_status status = check_idle_keys(config, truth, error);
    if (!status) status = check_tuning(config, tuning, truth, error);
    if (!status && truth->source == SIM_TRUTH_RECORDED) status = check_recorded(config, tuning, truth, error);
    return status;
}

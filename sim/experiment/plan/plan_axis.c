// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/plan/plan_axis.h"

#include <math.h>
#include <string.h>

#include "sim/experiment/settings.h"

static const sim_key *find_key(const char *name) {
    for (size_t t = 0; t < sim_settings_n_tables; t++) {
        const sim_key_table *table = sim_settings_tables[t];
        const size_t n = strlen(table->section);
        if (strncmp(name, table->section, n) != 0 || name[n] != '.') continue;
        for (size_t k = 0; k < table->n_keys; k++)
            if (strcmp(table->keys[k].name, name + n + 1) == 0) return &table->keys[k];
    }
    return NULL;
}

// Keys that say what is asked, not what is tried.
static bool is_of_the_question(const char *name) {
    static const char *const sections[] = { "plan.", "sla.", "report.", "sweep." };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strncmp(name, sections[i], strlen(sections[i])) == 0) return true;
    return strcmp(name, "load.seed") == 0;
}

sim_status sim_plan_check_key(const sim_config *config, const char *name, const sim_key **key, sim_error *error) {
    const sim_key *found = find_key(name);
    if (key) *key = found;
    if (!found) {
        sim_error why = { .code = SIM_OK };
        sim_config_check_name(config, name, "", 0, &why);
        return sim_error_set(error, SIM_USAGE, NULL, 0, "%s", why.message);
    }
    if (is_of_the_question(name))
        return sim_error_set(error, SIM_USAGE, NULL, 0, "%s is part of the question and cannot be varied", name);
    return SIM_OK;
}

static double rounded(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.5g", value); // a grid of numbers that people can read
    sim_parse_real(text, &value);
    return value;
}

static bool count_places(sim_plan_axis *axis, double resolution_frac) {
    double n;
    if (axis->is_integer) {
        n = axis->high - axis->low + 1;
    } else if (axis->low > 0) {
        n = ceil(log(axis->high / axis->low) / log1p(resolution_frac)) + 1;
    } else {
        n = axis->high > axis->low ? ceil(1 / resolution_frac) + 1 : 1;
    }
    if (!(n >= 1 && n <= 1e9)) return false;
    axis->n = (int64_t)n;
    return true;
}

sim_status sim_plan_axis_init(sim_plan_axis *axis, const sim_config *config, const char *name, double low, double high,
                              double resolution_frac, sim_error *error) {
    const sim_key *key;
    *axis = (sim_plan_axis){ .low = low, .high = high, .per_unit = 1 };
    const sim_status status = sim_plan_check_key(config, name, &key, error);
    if (status) return status;
    if (key->type != SIM_KEY_INT && key->type != SIM_KEY_REAL && key->type != SIM_KEY_MS)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "%s holds no number (only keys of type int, real or ms)", name);
    snprintf(axis->key, sizeof axis->key, "%s", name);
    axis->is_integer = key->type == SIM_KEY_INT;
    if (axis->is_integer && (low != floor(low) || high != floor(high)))
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "the range %g:%g does not begin and end at whole numbers, which %s counts in", low, high,
                             name);
    if (!count_places(axis, resolution_frac))
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "the range %g:%g of %s holds no value, or more than a thousand million", low, high, name);
    return SIM_OK;
}

double sim_plan_axis_value(const sim_plan_axis *axis, int64_t place) {
    const int64_t step = axis->is_falling ? axis->n - 1 - place : place;
    if (axis->is_integer) return axis->low + (double)step;
    if (step == 0) return axis->low;
    if (step == axis->n - 1) return axis->high;
    const double share = (double)step / (double)(axis->n - 1);
    if (axis->low > 0) return rounded(axis->low * pow(axis->high / axis->low, share));
    return rounded(axis->low + (axis->high - axis->low) * share);
}

bool sim_plan_axis_assign(const sim_plan_axis *axis, int64_t place, char *text, size_t size) {
    const double value = sim_plan_axis_value(axis, place) / axis->per_unit;
    char number[FPM_NUMBER_BYTES];
    fpm_format_number(number, value);
    const int n = snprintf(text, size, "%s=%s", axis->key, number);
    return n > 0 && (size_t)n < size;
}

sim_status sim_plan_assign(sim_config *config, const char *assignments, sim_error *error) {
    for (const char *at = assignments;;) {
        at += strspn(at, " \t");
        const size_t n = strcspn(at, " \t");
        if (n == 0) return SIM_OK;
        char word[256], name[256];
        if (n >= sizeof word || !memchr(at, '=', n))
            return sim_error_set(error, SIM_USAGE, NULL, 0,
                                 "\"%.*s\" is no assignment (write section.key=value, without blanks inside)",
                                 (int)(n < 100 ? n : 100), at);
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
        sim_status status = sim_plan_check_key(config, name, NULL, error);
        if (!status) status = sim_config_set(config, word, error);
        if (status && error) error->file[0] = '\0'; // "--set", which nobody has typed; the message names the key
        if (status) return status;
        at += n;
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tables of measurements as files made for one test, and a base configuration that can run their rows.
#ifndef TESTS_SUPPORT_MEASURED_FIXTURE_H
#define TESTS_SUPPORT_MEASURED_FIXTURE_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/experiment/accuracy_report.h"

// Defaults, and `sets` (NULL-terminated, may be NULL) as --set would give them.
static inline sim_config *measured_base(const char *const *sets) {
    sim_config *config;
    sim_error error = { 0 };
    cr_assert_eq(sim_config_new(&config, sim_settings_tables, sim_settings_n_tables, &error), SIM_OK);
    for (; sets && *sets; sets++) cr_assert_eq(sim_config_set(config, *sets, &error), SIM_OK, "%s", error.message);
    return config;
}

static inline sim_status measured_from_bytes(sim_measured **measured, const sim_config *known, const char *text,
                                             size_t n_bytes, sim_error *error) {
    char path[] = "/tmp/forepass-measured-XXXXXX";
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, n_bytes), (ssize_t)n_bytes);
    close(fd);
    *error = (sim_error){ 0 };
    const sim_status status = sim_measured_read(measured, path, known, error);
    unlink(path);
    return status;
}

static inline sim_measured *measured_from(const sim_config *known, const char *text) {
    sim_measured *measured;
    sim_error error;
    const sim_status status = measured_from_bytes(&measured, known, text, strlen(text), &error);
    cr_assert_eq(status, SIM_OK, "%s:%lld: %s", error.file, (long long)error.line, error.message);
    return measured;
}

#endif

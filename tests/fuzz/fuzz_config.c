// SPDX-License-Identifier: GPL-3.0-or-later
//
// The INI reader and the store on any bytes: as a file, and as the text of one --set. What is accepted must survive being
// written and loaded again.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/config_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static char *written(const sim_config *config) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out || !sim_config_write(config, out) || fclose(out) != 0) abort();
    return text;
}

static void check_round_trip(const sim_config *config) {
    sim_config *again = new_config();
    char *text = written(config);
    sim_error error = { 0 };
    if (load_text(again, text, &error) != SIM_OK) abort();
    char *text_again = written(again);
    if (strcmp(text, text_again) != 0) abort();
    free(text);
    free(text_again);
    sim_config_free(again);
}

static void check_error(sim_status status, const sim_error *error) {
    if (status != SIM_USAGE || !error->message[0] || !error->file[0]) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    sim_config *config = new_config();
    sim_error error = { 0 };
    const sim_status loaded = sim_config_load_text(config, (const char *)data, n_bytes, "fuzz.ini", &error);
    if (loaded == SIM_OK) {
        check_round_trip(config);
    } else {
        check_error(loaded, &error);
        if (error.line < 1) abort();
    }
    sim_config_free(config);

    char *assignment = malloc(n_bytes + 1);
    if (!assignment) return 0;
    if (n_bytes) memcpy(assignment, data, n_bytes);
    assignment[n_bytes] = '\0';
    config = new_config();
    const sim_status set = sim_config_set(config, assignment, &error);
    if (set == SIM_OK) {
        check_round_trip(config);
    } else {
        check_error(set, &error);
    }
    sim_config_free(config);
    free(assignment);
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// replay-oracle CONFIG [--set section.key=value]... [-o DIR]: the files `forepass replay CONFIG -o DIR --requests --fpm` would write, made by
// the naive simulator. Without -o, requests.csv goes to standard output.
#include <errno.h>
#include <gsl/gsl_errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/oracle/oracle.h"

typedef struct arguments {
    const char *config_path, *output;
    const char *const *sets;
    size_t n_sets;
} arguments;

static sim_status run(const arguments *given, oracle_texts *texts, sim_error *error) {
    sim_config *config;
    sim_status status = sim_config_new(&config, sim_settings_tables, sim_settings_n_tables, error);
    if (status) return status;
    status = sim_config_load(config, given->config_path, error);
    for (size_t i = 0; i < given->n_sets && !status; i++) status = sim_config_set(config, given->sets[i], error);
    sim_settings settings;
    if (!status) status = sim_settings_read(config, &settings, error);
    if (!status) status = oracle_run(config, &settings, texts, error);
    sim_config_free(config);
    return status;
}

static sim_status make_directory(const char *path, sim_error *error) {
    char part[4096];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return sim_error_set(error, SIM_IO, NULL, 0, "the path of the output directory is too long");
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0777) && errno != EEXIST) return sim_error_set(error, SIM_IO, part, 0, "%s", strerror(errno));
        *slash = '/';
    }
    if (mkdir(part, 0777) && errno != EEXIST) return sim_error_set(error, SIM_IO, part, 0, "%s", strerror(errno));
    return SIM_OK;
}

static sim_status write_file(const char *directory, const char *name, const char *text, size_t n_bytes,
                             sim_error *error) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "w");
    if (!out) return sim_error_set(error, SIM_IO, path, 0, "%s", strerror(errno));
    const bool is_short = fwrite(text, 1, n_bytes, out) != n_bytes;
    return fclose(out) || is_short ? sim_error_set(error, SIM_IO, path, 0, "%s", strerror(errno)) : SIM_OK;
}

static sim_status write_texts(const char *directory, const oracle_texts *texts, sim_error *error) {
    if (!directory) {
        const bool is_short = fwrite(texts->requests_csv, 1, texts->n_requests_csv, stdout) != texts->n_requests_csv;
        if (fflush(stdout) || is_short)
            return sim_error_set(error, SIM_IO, NULL, 0, "standard output cannot be written");
        return SIM_OK;
    }
    sim_status status = make_directory(directory, error);
    if (!status) status = write_file(directory, "requests.csv", texts->requests_csv, texts->n_requests_csv, error);
    if (!status) status = write_file(directory, "fpm.jsonl", texts->fpm_jsonl, texts->n_fpm_jsonl, error);
    return status;
}

// False: usage.
static bool read_words(int argc, char **argv, arguments *given, const char **sets) {
    given->sets = sets;
    for (int i = 1; i < argc; i++) {
        const bool has_next = i + 1 < argc;
        if (strcmp(argv[i], "--set") == 0 && has_next)
            sets[given->n_sets++] = argv[++i];
        else if (strncmp(argv[i], "--set=", 6) == 0)
            sets[given->n_sets++] = argv[i] + 6;
        else if ((strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0) && has_next)
            given->output = argv[++i];
        else if ((argv[i][0] != '-' || strcmp(argv[i], "-") == 0) && !given->config_path)
            given->config_path = argv[i];
        else
            return false;
    }
    return given->config_path != NULL;
}

static void tell(const sim_error *error) {
    fputs("replay-oracle: ", stderr);
    if (error->file[0]) fprintf(stderr, "%s:", error->file);
    if (error->line > 0) fprintf(stderr, "%lld:", (long long)error->line);
    fprintf(stderr, "%s%s\n", error->file[0] ? " " : "", error->message);
}

int main(int argc, char **argv) {
    gsl_set_error_handler_off();
    const char **sets = oracle_memory(NULL, (size_t)argc, sizeof *sets);
    arguments given = { .n_sets = 0 };
    if (!read_words(argc, argv, &given, sets)) {
        fputs("usage: replay-oracle CONFIG [--set section.key=value]... [-o DIR]\n", stderr);
        free(sets);
        return sim_status_exit(SIM_USAGE);
    }
    oracle_texts texts = { .requests_csv = NULL };
    sim_error error = { .line = 0 };
    sim_status status = run(&given, &texts, &error);
    if (!status) status = write_texts(given.output, &texts, &error);
    if (status) tell(&error);
    free(texts.requests_csv);
    free(texts.fpm_jsonl);
    free(sets);
    return sim_status_exit(status);
}

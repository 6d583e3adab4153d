// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/fingerprint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

typedef struct known_file {
    struct known_file *next;
    sim_fingerprint hash;
    char path[];
} known_file;

struct sim_file_hashes {
    known_file *first;
};

sim_status sim_file_hashes_new(sim_file_hashes **hashes, sim_error *error) {
    *hashes = calloc(1, sizeof **hashes);
    return *hashes ? SIM_OK : sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

void sim_file_hashes_free(sim_file_hashes *hashes) {
    while (hashes && hashes->first) {
        known_file *next = hashes->first->next;
        free(hashes->first);
        hashes->first = next;
    }
    free(hashes);
}

static sim_fingerprint conclude(const XXH3_state_t *state) {
    const XXH128_hash_t digest = XXH3_128bits_digest(state);
    sim_fingerprint hash;
    snprintf(hash.text, sizeof hash.text, "%016llx%016llx", (unsigned long long)digest.high64,
             (unsigned long long)digest.low64);
    return hash;
}

static sim_fingerprint hash_stream(FILE *in) {
    char bytes[1 << 16];
    size_t n;
    XXH3_state_t *state = XXH3_createState();
    sim_fingerprint hash = { "" };
    if (!state) return hash;
    XXH3_128bits_reset(state);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0) XXH3_128bits_update(state, bytes, n);
    if (!ferror(in)) hash = conclude(state);
    XXH3_freeState(state);
    return hash;
}

// Only files that can be read twice: a pipe would be drained.
static sim_fingerprint read_hash(const char *path) {
    struct stat what;
    sim_fingerprint hash = { "" };
    if (stat(path, &what) != 0 || !S_ISREG(what.st_mode)) return hash;
    FILE *in = fopen(path, "rbe");
    if (!in) return hash;
    hash = hash_stream(in);
    fclose(in);
    return hash;
}

sim_fingerprint sim_file_hash(sim_file_hashes *hashes, const char *path) {
    for (const known_file *at = hashes->first; at; at = at->next)
        if (strcmp(at->path, path) == 0) return at->hash;
    const sim_fingerprint hash = read_hash(path);
    known_file *made = malloc(sizeof *made + strlen(path) + 1);
    if (!made) return hash; // it will be hashed again
    made->next = hashes->first;
    made->hash = hash;
    strcpy(made->path, path);
    hashes->first = made;
    return hash;
}

typedef struct digester {
    XXH3_state_t *state;
    const char *except;
    sim_file_hashes *hashes;
} digester;

static void digest_text(digester *to, const char *text) { XXH3_128bits_update(to->state, text, strlen(text) + 1); }

static void digest_key(void *self, const char *section, const sim_key *key, const char *spelled) {
    digester *to = self;
    char name[SIM_SECTION_BYTES + 80];
    snprintf(name, sizeof name, "%s.%s", section, key->name);
    if (to->except && strcmp(name, to->except) == 0) return;
    const bool is_file = (key->type == SIM_KEY_PATH || key->type == SIM_KEY_NAMED) && spelled[0] == '/';
    const sim_fingerprint content = is_file ? sim_file_hash(to->hashes, spelled) : (sim_fingerprint){ "" };
    digest_text(to, name);
    digest_text(to, content.text[0] ? content.text : spelled);
}

sim_fingerprint sim_fingerprint_of(const sim_config *config, const sim_key_table *const *tables, size_t n_tables,
                                   const char *except, sim_file_hashes *hashes) {
    digester to = { XXH3_createState(), except, hashes };
    sim_fingerprint hash = { "" };
    if (!to.state) return hash;
    XXH3_128bits_reset(to.state);
    for (size_t t = 0; t < n_tables; t++) sim_config_visit(config, tables[t], digest_key, &to);
    hash = conclude(to.state);
    XXH3_freeState(to.state);
    return hash;
}

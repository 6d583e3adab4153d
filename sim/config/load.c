// SPDX-License-Identifier: GPL-3.0-or-later
//
// From files and the command line into the store.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/config/ini_reader.h"
#include "sim/config/nearest_name.h"
#include "sim/config/paths.h"
#include "sim/config/store.h"

enum { MAX_FILE_BYTES = 1 << 20 };

// One file being read, and the files whose includes led to it.
typedef struct reading {
    sim_config *config;
    sim_error *error;
    const char *file;             // name for messages; belongs to the configuration
    const char *beside;           // what relative paths are relative to; NULL: the working directory
    const struct reading *parent; // the file that includes this one
    size_t depth;
    uint32_t file_id;
    bool is_in_memory;
    bool has_section; // a section has begun: too late for an include
    dev_t device;     // identity, to find cycles
    ino_t inode;
} reading;

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

// Names live as long as the configuration, since entries point to them. Takes `name` over; NULL: no memory.
static const char *keep_name(sim_config *config, char *name) {
    char **files = name ? realloc(config->files, (config->n_files + 1) * sizeof *files) : NULL;
    if (!files) {
        free(name);
        return NULL;
    }
    config->files = files;
    return files[config->n_files++] = name;
}

// ---------------------------------------------------------------------------------------------------------------------
// Bytes of a file
// ---------------------------------------------------------------------------------------------------------------------

// NULL: errno says why; EFBIG: this is no configuration.
static char *read_all(FILE *in, size_t *n_bytes) {
    char *text = malloc(MAX_FILE_BYTES + 1);
    if (!text) return NULL;
    *n_bytes = fread(text, 1, MAX_FILE_BYTES + 1, in);
    if (!ferror(in) && *n_bytes <= MAX_FILE_BYTES) return text;
    const int why = ferror(in) ? errno : EFBIG;
    free(text);
    errno = why;
    return NULL;
}

static char *read_file(reading *file, size_t *n_bytes) {
    const bool is_stdin = strcmp(file->file, "<stdin>") == 0 && !file->beside;
    FILE *in = is_stdin ? stdin : fopen(file->file, "rbe");
    if (!in) return NULL;
    struct stat identity;
    char *text = NULL;
    if (fstat(fileno(in), &identity) == 0) {
        file->device = identity.st_dev;
        file->inode = identity.st_ino;
        text = read_all(in, n_bytes);
    }
    const int why = errno;
    if (!is_stdin) fclose(in);
    errno = why;
    return text;
}

// ---------------------------------------------------------------------------------------------------------------------
// What the text says
// ---------------------------------------------------------------------------------------------------------------------

static sim_status read_included(const reading *parent, const char *path, int64_t line);

static sim_status take_section(void *user, const char *section, int64_t line) {
    reading *file = user;
    file->has_section = true;
    if (sim_config_has_section(file->config, section)) return SIM_OK;
    return sim_config_unknown(file->config, section, "", file->file, line, file->error);
}

static sim_status take_include(reading *file, const char *path, int64_t line) {
    if (file->has_section) {
        return sim_error_set(file->error, SIM_USAGE, file->file, line,
                             "include stands inside a section (write it at the top, before the first section)");
    }
    if (file->is_in_memory) {
        return sim_error_set(file->error, SIM_USAGE, file->file, line, "a text in memory cannot include a file");
    }
    return read_included(file, path, line);
}

// A value that came by --set stays, but what it hides must be sound all the same.
static sim_status store_below_set(const sim_key_place *place, const char *value, const sim_value_source *source,
                                  sim_error *error) {
    const bool is_hidden = place->entry->text && place->entry->file_id == 0;
    if (!is_hidden) return sim_config_store(place, value, source, error);
    sim_config_entry ignored = { 0 };
    const sim_key_place aside = { place->table, place->key, &ignored };
    const sim_status status = sim_config_store(&aside, value, source, error);
    free(ignored.text);
    return status;
}

static sim_status take_value(void *user, const char *section, const char *name, const char *value, int64_t line) {
    reading *file = user;
    if (strcmp(name, "include") == 0) return take_include(file, value, line);
    if (!file->has_section) {
        return sim_error_set(file->error, SIM_USAGE, file->file, line,
                             "key %s stands in front of any section (only include may; write [section] above it)",
                             name);
    }
    sim_key_place place;
    const sim_value_source source = { file->file, file->beside, line, file->file_id };
    if (!sim_config_find(file->config, section, name, &place)) {
        const sim_key_table *open = sim_open_table(file->config, section, name);
        return open ? sim_open_store(file->config, open, name, value, &source, file->error)
                    : sim_config_unknown(file->config, section, name, file->file, line, file->error);
    }
    const sim_config_entry *entry = place.entry;
    if (entry->text && entry->file_id == file->file_id) {
        return sim_error_set(file->error, SIM_USAGE, file->file, line,
                             "duplicate key %s.%s, given in line %lld already (keep one of them)", section, name,
                             (long long)entry->line);
    }
    return store_below_set(&place, value, &source, file->error);
}

static sim_status read_text(reading *file, const char *text, size_t n_bytes) {
    file->file_id = ++file->config->n_file_ids;
    const sim_ini_handler handler = { file, take_section, take_value };
    return sim_ini_read(text, n_bytes, file->file, &handler, file->error);
}

static sim_status read_included(const reading *parent, const char *path, int64_t line) {
    sim_config *config = parent->config;
    if (*path == '\0' || strcmp(path, "-") == 0) {
        return sim_error_set(parent->error, SIM_USAGE, parent->file, line, "include needs the path of a file");
    }
    if (parent->depth + 1 > SIM_INCLUDE_DEPTH) {
        return sim_error_set(parent->error, SIM_USAGE, parent->file, line,
                             "includes are nested too deeply (%d is the most)", SIM_INCLUDE_DEPTH);
    }
    if (config->n_file_ids >= SIM_MAX_FILES) {
        return sim_error_set(parent->error, SIM_USAGE, parent->file, line,
                             "too many files are included (%d is the most)", SIM_MAX_FILES);
    }
    const char *name = keep_name(config, sim_path_beside(parent->beside ? parent->beside : "", path));
    if (!name) return no_memory(parent->error);
    reading file = { .config = config, .error = parent->error, .file = name, .beside = name, .parent = parent };
    file.depth = parent->depth + 1;
    size_t n_bytes;
    char *text = read_file(&file, &n_bytes);
    if (!text) {
        return sim_error_set(parent->error, SIM_USAGE, parent->file, line, "include %s cannot be read: %s", name,
                             strerror(errno));
    }
    sim_status status = SIM_OK;
    for (const reading *above = parent; above && status == SIM_OK; above = above->parent) {
        if (above->device != file.device || above->inode != file.inode) continue;
        status = sim_error_set(parent->error, SIM_USAGE, parent->file, line,
                               "include %s goes round in a circle (%s is being read)", name, above->file);
    }
    if (status == SIM_OK) status = read_text(&file, text, n_bytes);
    free(text);
    return status;
}

sim_status sim_config_load(sim_config *config, const char *path, sim_error *error) {
    const bool is_stdin = strcmp(path, "-") == 0;
    const char *name = keep_name(config, strdup(is_stdin ? "<stdin>" : path));
    if (!name) return no_memory(error);
    reading file = { .config = config, .error = error, .file = name, .beside = is_stdin ? NULL : name };
    size_t n_bytes;
    char *text = read_file(&file, &n_bytes);
    if (!text) {
        return sim_error_set(error, SIM_USAGE, name, 0, "the configuration cannot be read: %s", strerror(errno));
    }
    const sim_status status = read_text(&file, text, n_bytes);
    free(text);
    return status;
}

sim_status sim_config_load_text(sim_config *config, const char *text, size_t n_bytes, const char *name,
                                sim_error *error) {
    name = keep_name(config, strdup(name));
    if (!name) return no_memory(error);
    reading file = { .config = config, .error = error, .file = name, .is_in_memory = true };
    return read_text(&file, text, n_bytes);
}

// ---------------------------------------------------------------------------------------------------------------------
// --set
// ---------------------------------------------------------------------------------------------------------------------

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

// A copy of the n bytes without blanks around them.
static char *trimmed(const char *text, size_t n) {
    while (n && is_blank(*text)) text++, n--;
    while (n && is_blank(text[n - 1])) n--;
    return strndup(text, n);
}

// Length of the longest known section S with name = "S.key"; 0: none.
static size_t section_length(const sim_config *config, const char *name) {
    size_t longest = 0;
    for (size_t t = 0; t < config->n_tables; t++) {
        const size_t n = strlen(config->tables[t]->section);
        if (n > longest && strncmp(name, config->tables[t]->section, n) == 0 && name[n] == '.') longest = n;
    }
    return longest;
}

// A key without its section: name the sections that have it.
static sim_status no_section(const sim_config *config, const char *name, sim_error *error) {
    for (size_t t = 0; t < config->n_tables; t++) {
        for (size_t k = 0; k < config->tables[t]->n_keys; k++) {
            if (strcmp(config->tables[t]->keys[k].name, name) != 0) continue;
            return sim_error_set(error, SIM_USAGE, "--set", 0, "key %s has no section (did you mean %s.%s?)", name,
                                 config->tables[t]->section, name);
        }
    }
    return sim_error_set(error, SIM_USAGE, "--set", 0, "\"%s\" names no key (write --set section.key=value)", name);
}

static sim_status set_named(sim_config *config, char *name, const char *value, sim_error *error) {
    char place_name[128];
    snprintf(place_name, sizeof place_name, "--set %.100s", name);
    size_t n_section = section_length(config, name);
    const bool is_known = n_section > 0;
    if (!is_known) n_section = strcspn(name, ".");
    if (name[n_section] == '\0') return no_section(config, name, error);
    name[n_section] = '\0';
    const char *key = name + n_section + 1;
    sim_key_place place;
    const bool is_key = is_known && sim_config_find(config, name, key, &place);
    const sim_key_table *open = is_known ? sim_open_table(config, name, key) : NULL;
    if (!is_key && !open) return sim_config_unknown(config, name, key, place_name, 0, error);
    const char *kept = keep_name(config, strdup(place_name));
    if (!kept) return no_memory(error);
    const sim_value_source source = { kept, NULL, 0, 0 };
    return is_key ? sim_config_store(&place, value, &source, error)
                  : sim_open_store(config, open, key, value, &source, error);
}

sim_status sim_config_set(sim_config *config, const char *assignment, sim_error *error) {
    const char *equals = strchr(assignment, '=');
    if (!equals) {
        return sim_error_set(error, SIM_USAGE, "--set", 0, "\"%s\" has no \"=\" (write --set section.key=value)",
                             assignment);
    }
    char *name = trimmed(assignment, (size_t)(equals - assignment));
    char *value = trimmed(equals + 1, strlen(equals + 1));
    const sim_status status = name && value ? set_named(config, name, value, error) : no_memory(error);
    free(name);
    free(value);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows of a table
// ---------------------------------------------------------------------------------------------------------------------

// Find section.key without cutting the name; sections are few and short.
bool sim_config_find_named(const sim_config *config, const char *name, sim_key_place *place) {
    char section[SIM_SECTION_BYTES + 1];
    const size_t n_section = section_length(config, name);
    if (n_section == 0) return false;
    snprintf(section, sizeof section, "%.*s", (int)n_section, name);
    return sim_config_find(config, section, name + n_section + 1, place);
}

sim_status sim_config_set_at(sim_config *config, const char *name, const char *value, const char *file, int64_t line,
                             sim_error *error) {
    sim_key_place place;
    if (!sim_config_find_named(config, name, &place)) return sim_config_check_name(config, name, file, line, error);
    const sim_value_source source = { file, file, line, UINT32_MAX }; // no reading of a file has this number
    return store_below_set(&place, value, &source, error);
}

sim_status sim_config_check_name(const sim_config *config, const char *name, const char *file, int64_t line,
                                 sim_error *error) {
    sim_key_place place;
    if (sim_config_find_named(config, name, &place)) return SIM_OK;
    char candidates[2][SIM_SECTION_BYTES + 80] = { "", "" };
    sim_nearest nearest = { 0 };
    int free_candidate = 0;
    for (size_t t = 0; t < config->n_tables; t++) {
        for (size_t k = 0; k < config->tables[t]->n_keys; k++) {
            char *candidate = candidates[free_candidate];
            snprintf(candidate, sizeof candidates[0], "%s.%s", config->tables[t]->section,
                     config->tables[t]->keys[k].name);
            sim_nearest_consider(&nearest, name, candidate);
            if (nearest.name == candidate) free_candidate = !free_candidate; // keep it
        }
    }
    if (nearest.name)
        return sim_error_set(error, SIM_BAD_DATA, file, line, "\"%s\" is no key (did you mean %s?)", name,
                             nearest.name);
    return sim_error_set(error, SIM_BAD_DATA, file, line, "\"%s\" is no key (see forepass list keys)", name);
}

bool sim_config_is_fixed(const sim_config *config, const char *name) {
    sim_key_place place;
    return sim_config_find_named(config, name, &place) && place.entry->text && place.entry->file_id == 0;
}

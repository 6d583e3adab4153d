// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/space.h"

#include <stdlib.h>
#include <string.h>

#include "sim/experiment/sweep/expressions.h"
#include "sim/experiment/sweep/layouts.h"

typedef struct dimension {
    size_t first_key; // its keys stand behind each other
    sim_domain domain;
    sim_expression *when; // NULL: always
    const char *file;
    int64_t line;
} dimension;

typedef struct derived { // a key that follows from others
    size_t key;
    sim_expression *value;
    const char *file;
    int64_t line;
} derived;

typedef struct constraint {
    const char *name, *text;
    sim_expression *holds;
} constraint;

struct sim_space {
    const sim_config *config;
    const sim_key_table **fingerprinted; // all tables but those about experiments
    size_t n_fingerprinted;
    sim_file_hashes *hashes;
    sim_expressions *expressions;
    char **keys;
    size_t n_keys;
    dimension *dimensions;
    size_t n_dimensions;
    derived *derived;
    size_t n_derived;
    constraint *constraints;
    size_t n_constraints;
};

static const char constraint_prefix[] = "constraint.";

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

// Room for one more element behind `n`; false: no memory.
#define grow(array, n) grow_bytes((void **)&(array), ((n) + 1) * sizeof *(array))
static bool grow_bytes(void **array, size_t n_bytes) {
    void *more = realloc(*array, n_bytes);
    if (more) *array = more;
    return more;
}

// --- keys ------------------------------------------------------------------------------------------------------------

sim_status sim_space_add_key(sim_space *space, const char *name, const char *file, int64_t line, sim_error *error) {
    const sim_status status = sim_config_check_name(space->config, name, file, line, error);
    if (status) return error ? error->code = SIM_USAGE : SIM_USAGE;
    if (strncmp(name, "sweep.", 6) == 0 || strncmp(name, "plan.", 5) == 0)
        return sim_error_set(error, SIM_USAGE, file, line, "%s says how to experiment and cannot be varied itself",
                             name);
    if (sim_config_is_fixed(space->config, name))
        return sim_error_set(error, SIM_USAGE, file, line,
                             "%s is varied here and fixed by --set or --seed (vary it by --set sweep.%s=...)", name,
                             name);
    for (size_t i = 0; i < space->n_keys; i++)
        if (strcmp(space->keys[i], name) == 0)
            return sim_error_set(error, SIM_USAGE, file, line, "%s is varied twice (keep one of them)", name);
    char *kept = strdup(name);
    if (!kept || !grow(space->keys, space->n_keys)) {
        free(kept);
        return no_memory(error);
    }
    space->keys[space->n_keys++] = kept;
    return SIM_OK;
}

// The keys of "a & b", in order.
static sim_status add_keys(sim_space *space, const sim_open_value *entry, size_t *n_added, sim_error *error) {
    char names[200];
    snprintf(names, sizeof names, "%s", entry->name);
    char *save = NULL;
    *n_added = 0;
    for (char *name = strtok_r(names, "& \t", &save); name; name = strtok_r(NULL, "& \t", &save)) {
        const sim_status status = sim_space_add_key(space, name, entry->file, entry->line, error);
        if (status) return status;
        ++*n_added;
    }
    return SIM_OK;
}

// --- what [sweep] says -----------------------------------------------------------------------------------------------

// "VALUES when CONDITION"
static sim_status take_condition(sim_space *space, const sim_open_value *entry, char *text, dimension *made,
                                 sim_error *error) {
    char *when = strstr(text, " when ");
    if (!when) return SIM_OK;
    *when = '\0';
    return sim_expression_new(&made->when, space->expressions, when + strlen(" when "), entry->file, entry->line,
                              error);
}

// Every value must be one of its key, whatever the other keys are.
static sim_status check_values(const sim_space *space, const dimension *made, sim_error *error) {
    sim_config *scratch;
    const sim_domain *domain = &made->domain;
    sim_status status = sim_config_copy(&scratch, space->config, error);
    if (status) return status;
    const size_t n = domain->is_continuous ? 2 : domain->n_values;
    for (size_t i = 0; i < n * domain->n_keys && !status; i++) {
        char text[SIM_DOMAIN_BYTES];
        const size_t key = i % domain->n_keys;
        sim_domain_value(domain, key, ((double)(i / domain->n_keys) + 0.5) / (double)n, text);
        status = sim_config_set_at(scratch, space->keys[made->first_key + key], text, made->file, made->line, error);
    }
    sim_config_free(scratch);
    return status;
}

static sim_status add_dimension(sim_space *space, const sim_open_value *entry, char *text, sim_error *error) {
    char spelled[SIM_CANONICAL_BYTES];
    size_t n_keys;
    if (!grow(space->dimensions, space->n_dimensions)) return no_memory(error);
    dimension *made = &space->dimensions[space->n_dimensions++];
    *made = (dimension){ .first_key = space->n_keys, .file = entry->file, .line = entry->line };
    sim_status status = add_keys(space, entry, &n_keys, error);
    if (!status) status = take_condition(space, entry, text, made, error);
    if (status) return status;
    const sim_key *key = sim_config_spell(space->config, space->keys[made->first_key], spelled);
    const sim_domain_place place = { entry->name, entry->file, entry->line, key && key->type == SIM_KEY_INT };
    status = sim_domain_parse(&made->domain, text, n_keys, &place, error);
    return status ? status : check_values(space, made, error);
}

// "expr(EXPRESSION)"
static sim_status add_derived(sim_space *space, const sim_open_value *entry, char *text, sim_error *error) {
    if (!grow(space->derived, space->n_derived)) return no_memory(error);
    derived *made = &space->derived[space->n_derived];
    *made = (derived){ .key = space->n_keys, .file = entry->file, .line = entry->line };
    sim_status status = sim_space_add_key(space, entry->name, entry->file, entry->line, error);
    if (status) return status;
    space->n_derived++;
    text[strlen(text) - 1] = '\0';
    return sim_expression_new(&made->value, space->expressions, text + strlen("expr("), entry->file, entry->line,
                              error);
}

static sim_status add_constraint(sim_space *space, const sim_open_value *entry, sim_error *error) {
    if (strcmp(entry->name, constraint_prefix) == 0)
        return sim_error_set(error, SIM_USAGE, entry->file, entry->line,
                             "a constraint needs a name (write constraint.NAME = %s)", entry->text);
    if (!grow(space->constraints, space->n_constraints)) return no_memory(error);
    constraint *made = &space->constraints[space->n_constraints++];
    *made = (constraint){ entry->name, entry->text, NULL };
    return sim_expression_new(&made->holds, space->expressions, entry->text, entry->file, entry->line, error);
}

static sim_status take_entry(sim_space *space, const sim_open_value *entry, bool is_list, sim_error *error) {
    char text[256];
    if (strncmp(entry->name, constraint_prefix, strlen(constraint_prefix)) == 0)
        return add_constraint(space, entry, error);
    snprintf(text, sizeof text, "%s", entry->text);
    const size_t n = strlen(text);
    const bool is_derived = n > 6 && strncmp(text, "expr(", 5) == 0 && text[n - 1] == ')';
    if (is_derived) return add_derived(space, entry, text, error);
    if (is_list)
        return sim_error_set(error, SIM_USAGE, entry->file, entry->line,
                             "sweep.%s: method = list takes its points from sweep.points alone (leave this out)",
                             entry->name);
    return add_dimension(space, entry, text, error);
}

static sim_status add_layouts(sim_space *space, const sim_sweep_config *sweep, sim_error *error) {
    if (!sweep->layouts) return SIM_OK;
    if (!grow(space->dimensions, space->n_dimensions)) return no_memory(error);
    dimension *made = &space->dimensions[space->n_dimensions++];
    *made = (dimension){ .first_key = space->n_keys };
    sim_status status = SIM_OK;
    for (size_t i = 0; i < SIM_LAYOUT_KEYS && !status; i++)
        status = sim_space_add_key(space, sim_layout_keys[i], NULL, 0, error);
    return status ? status : sim_layouts(&made->domain, space->config, sweep->gpus, error);
}

static bool is_about_experiments(const sim_key_table *table) {
    return strcmp(table->section, "sweep") == 0 || strcmp(table->section, "plan") == 0;
}

static sim_status choose_tables(sim_space *space, const sim_key_table *const *tables, size_t n_tables,
                                sim_error *error) {
    space->fingerprinted = calloc(n_tables, sizeof *space->fingerprinted);
    if (!space->fingerprinted) return no_memory(error);
    for (size_t t = 0; t < n_tables; t++)
        if (!is_about_experiments(tables[t])) space->fingerprinted[space->n_fingerprinted++] = tables[t];
    return SIM_OK;
}

// Conditions are asked before computed values are there, both from top to bottom: what one names must be known by then.
static sim_status too_late(const char *key, const char *named, const char *file, int64_t line, sim_error *error) {
    if (strcmp(key, named) == 0)
        return sim_error_set(error, SIM_USAGE, file, line, "%s depends on itself (name other keys)", key);
    return sim_error_set(error, SIM_USAGE, file, line,
                         "%s depends on %s, which is not known yet (conditions come before computed values, each from "
                         "top to bottom)",
                         key, named);
}

static sim_status check_condition(const sim_space *space, size_t d, sim_error *error) {
    const dimension *of = &space->dimensions[d];
    const char *key = space->keys[of->first_key];
    for (size_t later = d; later < space->n_dimensions; later++) {
        const dimension *other = &space->dimensions[later];
        for (size_t k = other->first_key; other->when && k < other->first_key + other->domain.n_keys; k++)
            if (sim_expression_names(of->when, space->keys[k]))
                return too_late(key, space->keys[k], of->file, of->line, error);
    }
    for (size_t i = 0; i < space->n_derived; i++)
        if (sim_expression_names(of->when, space->keys[space->derived[i].key]))
            return too_late(key, space->keys[space->derived[i].key], of->file, of->line, error);
    return SIM_OK;
}

static sim_status check_order(const sim_space *space, sim_error *error) {
    sim_status status = SIM_OK;
    for (size_t d = 0; d < space->n_dimensions && !status; d++)
        if (space->dimensions[d].when) status = check_condition(space, d, error);
    for (size_t i = 0; i < space->n_derived && !status; i++) {
        const derived *of = &space->derived[i];
        for (size_t later = i; later < space->n_derived && !status; later++) {
            const char *named = space->keys[space->derived[later].key];
            if (sim_expression_names(of->value, named))
                status = too_late(space->keys[of->key], named, of->file, of->line, error);
        }
    }
    return status;
}

static sim_status read_space(sim_space *space, const sim_sweep_config *sweep, const sim_key_table *const *tables,
                             size_t n_tables, sim_error *error) {
    const sim_config *config = space->config;
    const bool is_list = sweep->method == SIM_SWEEP_LIST;
    sim_status status = choose_tables(space, tables, n_tables, error);
    if (!status) status = sim_file_hashes_new(&space->hashes, error);
    if (!status)
        status = sim_expressions_new(&space->expressions, config, space->fingerprinted, space->n_fingerprinted, error);
    if (!status) status = add_layouts(space, sweep, error);
    for (size_t i = 0; i < sim_config_n_open(config, "sweep") && !status; i++) {
        const sim_open_value entry = sim_config_open(config, "sweep", i);
        status = take_entry(space, &entry, is_list, error);
    }
    if (!status) status = check_order(space, error);
    if (status || is_list || space->n_dimensions > 0) return status;
    return sim_config_contradiction(
        config, error, "sweep", "method",
        "[sweep] varies nothing (add a key and its values, such as cluster.replicas = 1, 2, "
        "4)");
}

sim_status sim_space_new(sim_space **space, const sim_config *config, const sim_sweep_config *sweep,
                         const sim_key_table *const *tables, size_t n_tables, sim_error *error) {
    sim_space *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    made->config = config;
    const sim_status status = read_space(made, sweep, tables, n_tables, error);
    if (status) {
        sim_space_free(made);
        return status;
    }
    *space = made;
    return SIM_OK;
}

void sim_space_free(sim_space *space) {
    if (!space) return;
    for (size_t i = 0; i < space->n_dimensions; i++) {
        sim_expression_free(space->dimensions[i].when);
        sim_domain_clear(&space->dimensions[i].domain);
    }
    for (size_t i = 0; i < space->n_derived; i++) sim_expression_free(space->derived[i].value);
    for (size_t i = 0; i < space->n_constraints; i++) sim_expression_free(space->constraints[i].holds);
    for (size_t i = 0; i < space->n_keys; i++) free(space->keys[i]);
    free(space->dimensions);
    free(space->derived);
    free(space->constraints);
    free(space->keys);
    free(space->fingerprinted);
    sim_expressions_free(space->expressions);
    sim_file_hashes_free(space->hashes);
    free(space);
}

size_t sim_space_n_keys(const sim_space *space) { return space->n_keys; }
const char *sim_space_key(const sim_space *space, size_t key) { return space->keys[key]; }
size_t sim_space_n_dimensions(const sim_space *space) { return space->n_dimensions; }
const sim_domain *sim_space_domain(const sim_space *space, size_t dimension_index) {
    return &space->dimensions[dimension_index].domain;
}
size_t sim_space_n_values(const sim_space *space, size_t dimension_index) {
    return space->dimensions[dimension_index].domain.n_values;
}
sim_domain_place sim_space_place(const sim_space *space, size_t dimension_index) {
    const dimension *of = &space->dimensions[dimension_index];
    return (sim_domain_place){ .name = space->keys[of->first_key], .file = of->file, .line = of->line };
}

// --- a point ---------------------------------------------------------------------------------------------------------

// A point being made: its configuration and the values of expressions keep up with what has been set.
typedef struct making {
    sim_space *space;
    sim_config *config;
    sim_point *point;
    sim_error *error;
} making;

static bool has_expressions(const sim_space *space) {
    for (size_t i = 0; i < space->n_dimensions; i++)
        if (space->dimensions[i].when) return true;
    return space->n_derived > 0 || space->n_constraints > 0;
}

static sim_status keep_path(const making *in, size_t key) {
    char spelled[SIM_CANONICAL_BYTES];
    const sim_key *of = sim_config_spell(in->config, in->space->keys[key], spelled);
    const bool is_path = of->type == SIM_KEY_PATH || of->type == SIM_KEY_NAMED;
    if (!is_path || strcmp(spelled, in->point->values[key]) == 0) return SIM_OK;
    in->point->absolute[key] = strdup(spelled);
    return in->point->absolute[key] ? SIM_OK : no_memory(in->error);
}

static sim_status set_key(const making *in, size_t key, const char *text, const char *file, int64_t line) {
    char *kept = strdup(text);
    if (!kept) return no_memory(in->error);
    in->point->values[key] = kept;
    sim_status status = sim_config_set_at(in->config, in->space->keys[key], text, file, line, in->error);
    if (!status) status = keep_path(in, key);
    if (!status && has_expressions(in->space))
        status = sim_expressions_set(in->space->expressions, in->config, in->space->keys[key], in->error);
    return status;
}

static sim_status set_dimension(const making *in, const dimension *of, double position) {
    sim_status status = SIM_OK;
    for (size_t k = 0; k < of->domain.n_keys && !status; k++) {
        char text[SIM_DOMAIN_BYTES];
        sim_domain_value(&of->domain, k, position, text);
        status = set_key(in, of->first_key + k, text, of->file, of->line);
    }
    return status;
}

// Those without a condition first, so that a condition may name any of them; then the others in their order.
static sim_status set_dimensions(const making *in, const double *position) {
    const sim_space *space = in->space;
    sim_status status = SIM_OK;
    for (size_t d = 0; d < space->n_dimensions && !status; d++)
        if (!space->dimensions[d].when) status = set_dimension(in, &space->dimensions[d], position[d]);
    for (size_t d = 0; d < space->n_dimensions && !status; d++) {
        bool holds = false;
        if (!space->dimensions[d].when) continue;
        status = sim_expression_holds(space->dimensions[d].when, &holds, in->error);
        if (!status && holds) status = set_dimension(in, &space->dimensions[d], position[d]);
    }
    return status;
}

// A value that comes out as none of its key makes the point infeasible.
static sim_status set_derived(const making *in) {
    for (size_t i = 0; i < in->space->n_derived && !in->point->reason; i++) {
        char text[SIM_EXPRESSION_BYTES];
        const derived *of = &in->space->derived[i];
        sim_error why;
        const making own = { in->space, in->config, in->point, &why };
        sim_status status = sim_expression_text(of->value, text, &why);
        if (!status) status = set_key(&own, of->key, text, of->file, of->line);
        if (status && status != SIM_USAGE)
            return sim_error_set(in->error, status, why.file, why.line, "%s", why.message);
        if (status && !(in->point->reason = strdup(why.message))) return no_memory(in->error);
    }
    return SIM_OK;
}

static sim_status check_constraints(const making *in) {
    for (size_t i = 0; i < in->space->n_constraints && !in->point->reason; i++) {
        bool holds;
        const constraint *of = &in->space->constraints[i];
        const sim_status status = sim_expression_holds(of->holds, &holds, in->error);
        if (status) return status;
        if (!holds && asprintf(&in->point->reason, "%s: %s", of->name, of->text) < 0) return no_memory(in->error);
    }
    return SIM_OK;
}

static sim_status begin_point(making *in, sim_space *space, sim_point *point, sim_error *error) {
    *point = (sim_point){ .values = calloc(space->n_keys + 1, sizeof *point->values),
                          .absolute = calloc(space->n_keys + 1, sizeof *point->absolute) };
    *in = (making){ space, NULL, point, error };
    if (!point->values || !point->absolute) return no_memory(error);
    sim_status status = sim_config_copy(&in->config, space->config, error);
    for (size_t k = 0; k < space->n_keys && !status && has_expressions(space); k++)
        status = sim_expressions_set(space->expressions, in->config, space->keys[k], error);
    return status;
}

static void fingerprint(const making *in) {
    const sim_space *space = in->space;
    char spelled[SIM_CANONICAL_BYTES];
    in->point->hash = sim_fingerprint_of(in->config, space->fingerprinted, space->n_fingerprinted, NULL, space->hashes);
    sim_config_spell(in->config, "workload.source", spelled);
    if (strcmp(spelled, "trace") != 0) return;
    sim_config_spell(in->config, "workload.path", spelled);
    in->point->trace_hash = sim_file_hash(space->hashes, spelled);
}

static sim_status end_point(making *in, sim_status status) {
    sim_space *space = in->space;
    if (!status) status = set_derived(in);
    if (!status) status = check_constraints(in);
    if (!status) fingerprint(in);
    sim_config_free(in->config);
    if (status) sim_point_clear(in->point, space->n_keys);
    return status;
}

sim_status sim_space_point(sim_space *space, const double *position, sim_point *point, sim_error *error) {
    making in;
    sim_status status = begin_point(&in, space, point, error);
    if (!status) status = set_dimensions(&in, position);
    return end_point(&in, status);
}

sim_status sim_space_row(sim_space *space, const char *const *values, const char *file, int64_t line, sim_point *point,
                         sim_error *error) {
    making in;
    sim_status status = begin_point(&in, space, point, error);
    for (size_t k = 0; k < space->n_keys && !status; k++)
        if (values[k] && values[k][0]) status = set_key(&in, k, values[k], file, line);
    return end_point(&in, status);
}

void sim_point_clear(sim_point *point, size_t n_keys) {
    for (size_t k = 0; point->values && k < n_keys; k++) free(point->values[k]);
    for (size_t k = 0; point->absolute && k < n_keys; k++) free(point->absolute[k]);
    free(point->values);
    free(point->absolute);
    free(point->reason);
    *point = (sim_point){ .values = NULL };
}

const char *sim_point_setting(const sim_point *point, size_t key) {
    return point->absolute && point->absolute[key] ? point->absolute[key] : point->values[key];
}

sim_status sim_space_config(const sim_space *space, const sim_point *point, sim_config **config, sim_error *error) {
    sim_status status = sim_config_copy(config, space->config, error);
    for (size_t k = 0; k < space->n_keys && !status; k++) {
        const char *setting = sim_point_setting(point, k);
        if (setting) status = sim_config_set_at(*config, space->keys[k], setting, "(sweep)", 0, error);
    }
    if (!status) return SIM_OK;
    sim_config_free(*config);
    *config = NULL;
    return status;
}

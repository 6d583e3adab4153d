// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/expressions.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "perfmodel/perfmodel.h"

struct sim_expressions {
    const sim_config *config; // for names
    sqlite3 *db;
    char from[2048]; // all tables, for FROM
};

struct sim_expression {
    sim_expressions *all;
    sqlite3_stmt *statement;
    char *text;
    const char *file;
    int64_t line;
};

static sim_status internal(const sim_expressions *all, sim_error *error) {
    return sim_error_set(error, SIM_INTERNAL, NULL, 0, "expressions: %s", sqlite3_errmsg(all->db));
}

// --- tables ----------------------------------------------------------------------------------------------------------

// A statement made of a format of sqlite3_mprintf, run once.
static sim_status execute(sim_expressions *all, char *sql, sim_error *error) {
    if (!sql) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const int code = sqlite3_exec(all->db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return code == SQLITE_OK ? SIM_OK : internal(all, error);
}

// Names without quotes in the expression are columns: a choice is one that holds its own name.
typedef struct choices {
    char names[4096]; // a list of columns, quoted
    size_t n;
} choices;

static void add_choice(choices *all, const char *name) {
    char column[96];
    snprintf(column, sizeof column, "'%s' AS \"%s\"", name, name);
    const char *found = strstr(all->names, column);
    const size_t n = strlen(column);
    if (found || all->n + n + 2 >= sizeof all->names) return;
    all->n += (size_t)snprintf(all->names + all->n, sizeof all->names - all->n, "%s%s", all->n ? ", " : "", column);
}

static void collect_choices(const sim_key_table *table, choices *all) {
    for (size_t k = 0; k < table->n_keys; k++) {
        const sim_key *key = &table->keys[k];
        for (size_t c = 0; key->type == SIM_KEY_CHOICE && key->choices[c]; c++)
            if (key->choices[c][0]) add_choice(all, key->choices[c]);
        if (key->word && key->word[0]) add_choice(all, key->word);
    }
}

// Tables of one section make one table: the later ones add their columns.
static sim_status declare_table(sim_expressions *all, const sim_key_table *table, bool is_first, sim_error *error) {
    sim_status status = SIM_OK;
    if (is_first) {
        status = execute(all,
                         sqlite3_mprintf("CREATE TABLE \"%w\"(\"-\" INTEGER); INSERT INTO \"%w\" VALUES (NULL)",
                                         table->section, table->section),
                         error);
        const size_t n = strlen(all->from);
        snprintf(all->from + n, sizeof all->from - n, ", \"%s\"", table->section);
    }
    for (size_t k = 0; k < table->n_keys && !status; k++)
        status = execute(
            all, sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN \"%w\"", table->section, table->keys[k].name), error);
    return status;
}

static void bind_spelled(sqlite3_stmt *statement, const sim_key *key, const char *spelled) {
    char *end = NULL;
    const double number = strtod(spelled, &end);
    const bool is_number = end != spelled && (*end == '\0' || strcmp(end, "ns") == 0);
    if (key->type == SIM_KEY_BOOL)
        sqlite3_bind_int(statement, 1, strcmp(spelled, "true") == 0);
    else if (key->type == SIM_KEY_INT && is_number)
        sqlite3_bind_int64(statement, 1, strtoll(spelled, NULL, 10));
    else if (key->type == SIM_KEY_DURATION && is_number)
        sqlite3_bind_double(statement, 1, number / 1e6);
    else if ((key->type == SIM_KEY_REAL || key->type == SIM_KEY_MS) && is_number)
        sqlite3_bind_double(statement, 1, number);
    else
        sqlite3_bind_text(statement, 1, spelled, -1, SQLITE_TRANSIENT);
}

static sim_status update(sim_expressions *all, const char *section, const sim_key *key, const char *spelled,
                         sim_error *error) {
    char *sql = sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = ?", section, key->name);
    sqlite3_stmt *statement = NULL;
    if (!sql) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const int code = sqlite3_prepare_v2(all->db, sql, -1, &statement, NULL);
    sqlite3_free(sql);
    if (code != SQLITE_OK) return internal(all, error);
    bind_spelled(statement, key, spelled);
    sqlite3_step(statement);
    return sqlite3_finalize(statement) == SQLITE_OK ? SIM_OK : internal(all, error);
}

sim_status sim_expressions_set(sim_expressions *all, const sim_config *config, const char *name, sim_error *error) {
    char spelled[SIM_CANONICAL_BYTES], section[SIM_SECTION_BYTES + 1];
    const sim_key *key = sim_config_spell(config, name, spelled);
    if (!key) return sim_error_set(error, SIM_INTERNAL, NULL, 0, "%s is no key", name);
    snprintf(section, sizeof section, "%.*s", (int)(strlen(name) - strlen(key->name) - 1), name);
    return update(all, section, key, spelled, error);
}

typedef struct filler {
    sim_expressions *all;
    sim_status status;
    sim_error *error;
} filler;

static void fill_key(void *self, const char *section, const sim_key *key, const char *spelled) {
    filler *to = self;
    if (!to->status) to->status = update(to->all, section, key, spelled, to->error);
}

static sim_status declare(sim_expressions *all, const sim_config *config, const sim_key_table *const *tables,
                          size_t n_tables, sim_error *error) {
    choices words = { "", 0 };
    filler to = { all, SIM_OK, error };
    for (size_t t = 0; t < n_tables && !to.status; t++) {
        bool is_first = true;
        for (size_t before = 0; before < t; before++)
            if (strcmp(tables[before]->section, tables[t]->section) == 0) is_first = false;
        collect_choices(tables[t], &words);
        to.status = declare_table(all, tables[t], is_first, error);
        if (!to.status) sim_config_visit(config, tables[t], fill_key, &to);
    }
    if (to.status) return to.status;
    return execute(all,
                   sqlite3_mprintf("CREATE VIEW \"words of choices\" AS SELECT %s; CREATE VIEW \"all gpus\" AS SELECT "
                                   "cluster.replicas * parallel.tensor * parallel.pipeline * parallel.data AS gpus "
                                   "FROM cluster, parallel",
                                   words.names),
                   error);
}

enum { MOST_BYTES = 1 << 20 }; // of a value

sim_status sim_expressions_new(sim_expressions **expressions, const sim_config *config,
                               const sim_key_table *const *tables, size_t n_tables, sim_error *error) {
    sim_expressions *made = calloc(1, sizeof *made);
    if (!made) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    made->config = config;
    snprintf(made->from, sizeof made->from, "\"words of choices\", \"all gpus\"");
    sim_status status =
        sqlite3_open_v2(":memory:", &made->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)
            ? internal(made, error)
            : declare(made, config, tables, n_tables, error);
    if (status) {
        sim_expressions_free(made);
        return status;
    }
    sqlite3_limit(made->db, SQLITE_LIMIT_LENGTH, MOST_BYTES);
    *expressions = made;
    return SIM_OK;
}

void sim_expressions_free(sim_expressions *expressions) {
    if (!expressions) return;
    sqlite3_close(expressions->db);
    free(expressions);
}

// --- one expression --------------------------------------------------------------------------------------------------

static sim_status refuse(const sim_expression *in, const char *what, sim_error *error) {
    return sim_error_set(error, SIM_USAGE, in->file, in->line,
                         "\"%s\" is no expression: %s (keys are section.key; write %s)", in->text, what,
                         "parallel.tensor * cluster.replicas <= 16, or engine.backend = vllm");
}

static bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool goes_on(char c) { return begins_name(c) || (c >= '0' && c <= '9') || c == '.'; }

// Bytes of the word, number, quoted text or single character at the front of a text that is not empty.
static size_t token_bytes(const char *at) {
    size_t n = 1;
    if (*at == '\'' || *at == '"') {
        const char *close = strchr(at + 1, *at);
        return close ? (size_t)(close - at) + 1 : strlen(at);
    }
    if (goes_on(*at))
        while (goes_on(at[n])) n++;
    return n;
}

bool sim_expression_names(const sim_expression *expression, const char *key) {
    const size_t n_key = strlen(key);
    size_t n;
    for (const char *at = expression->text; *at; at += n) {
        n = token_bytes(at);
        if (n == n_key && strncmp(at, key, n) == 0) return true;
    }
    return false;
}

// A name with a dot is a key and is quoted, since some of them are words of SQL; a quoted text and all else stays.
static sim_status quote_keys(const sim_expression *made, sqlite3_str *out, sim_error *error) {
    const char *at = made->text;
    while (*at) {
        const size_t n = token_bytes(at);
        char name[160];
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (begins_name(*at) && strchr(name, '.')) {
            const sim_status status = sim_config_check_name(made->all->config, name, made->file, made->line, error);
            if (status) return error ? error->code = SIM_USAGE : SIM_USAGE;
            const char *key = strrchr(name, '.');
            sqlite3_str_appendf(out, "\"%.*w\".\"%w\"", (int)(key - name), name, key + 1);
        } else {
            sqlite3_str_append(out, at, (int)n);
        }
        at += n;
    }
    return SIM_OK;
}

// What a function gives must follow from the point alone, or a resumed sweep would be another one.
static const char *const functions[] = { "abs",    "ceil",   "ceiling", "floor",    "trunc",  "round",
                                         "sign",   "mod",    "pow",     "power",    "sqrt",   "exp",
                                         "ln",     "log",    "log10",   "log2",     "min",    "max",
                                         "iif",    "ifnull", "nullif",  "coalesce", "like",   "glob",
                                         "length", "instr",  "lower",   "upper",    "substr", "substring",
                                         "trim",   "ltrim",  "rtrim",   "replace",  "printf", "format" };

typedef struct permission {
    int n_queries;
    char denied[120]; // why; "" = nothing was
} permission;

static int deny(permission *of, const char *what, const char *name) {
    snprintf(of->denied, sizeof of->denied, "%s%s", what, name);
    return SQLITE_DENY;
}

// One query over the tables of keys, in which an expression may calculate but neither ask further nor call what changes by itself. For sqlite3_set_authorizer.
static int permit(void *self, int action, const char *table, const char *name, const char *database, const char *view) {
    permission *of = self;
    (void)table, (void)database;
    if (action == SQLITE_READ) return SQLITE_OK;
    if (action == SQLITE_SELECT && (view || ++of->n_queries == 1)) return SQLITE_OK;
    if (action != SQLITE_FUNCTION) return deny(of, "it asks a database", "");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcasecmp(name, functions[i]) == 0) return SQLITE_OK;
    return deny(of, "it cannot use the function ", name);
}

// The text stands between parentheses of its own, so that nothing but one expression fits.
static sim_status prepare(sim_expression *made, sim_error *error) {
    const char *tail = "";
    sqlite3_str *text = sqlite3_str_new(made->all->db);
    sqlite3_str_appendall(text, "SELECT (");
    const sim_status status = quote_keys(made, text, error);
    sqlite3_str_appendf(text, ") FROM %s", made->all->from);
    char *sql = sqlite3_str_finish(text);
    if (status) {
        sqlite3_free(sql);
        return status;
    }
    if (!sql) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    permission asked = { 0, "" };
    sqlite3_set_authorizer(made->all->db, permit, &asked);
    const int code = sqlite3_prepare_v2(made->all->db, sql, -1, &made->statement, &tail);
    sqlite3_set_authorizer(made->all->db, NULL, NULL);
    const bool is_one = code == SQLITE_OK && made->statement && *tail == '\0' &&
                        sqlite3_column_count(made->statement) == 1 && sqlite3_stmt_readonly(made->statement);
    sqlite3_free(sql);
    if (is_one) return SIM_OK;
    if (asked.denied[0]) return refuse(made, asked.denied, error);
    return refuse(made, code == SQLITE_OK ? "it is more than one" : sqlite3_errmsg(made->all->db), error);
}

sim_status sim_expression_new(sim_expression **expression, sim_expressions *expressions, const char *text,
                              const char *file, int64_t line, sim_error *error) {
    sim_expression *made = calloc(1, sizeof *made);
    if (made) *made = (sim_expression){ .all = expressions, .text = strdup(text), .file = file, .line = line };
    if (!made || !made->text) {
        sim_expression_free(made);
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    const sim_status status = prepare(made, error);
    if (status) {
        sim_expression_free(made);
        return status;
    }
    *expression = made;
    return SIM_OK;
}

void sim_expression_free(sim_expression *expression) {
    if (!expression) return;
    sqlite3_finalize(expression->statement);
    free(expression->text);
    free(expression);
}

static sim_status step(sim_expression *expression, sim_error *error) {
    sqlite3_reset(expression->statement);
    if (sqlite3_step(expression->statement) == SQLITE_ROW) return SIM_OK;
    return refuse(expression, sqlite3_errmsg(expression->all->db), error);
}

sim_status sim_expression_text(sim_expression *expression, char text[SIM_EXPRESSION_BYTES], sim_error *error) {
    const sim_status status = step(expression, error);
    text[0] = '\0';
    if (status) return status;
    const int type = sqlite3_column_type(expression->statement, 0);
    if (type == SQLITE_FLOAT) {
        const double value = sqlite3_column_double(expression->statement, 0);
        if (isfinite(value)) fpm_format_number(text, value);
    } else if (type != SQLITE_NULL) {
        snprintf(text, SIM_EXPRESSION_BYTES, "%s", (const char *)sqlite3_column_text(expression->statement, 0));
    }
    sqlite3_reset(expression->statement);
    if (text[0]) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, expression->file, expression->line, "\"%s\" comes to %s", expression->text,
                         type == SQLITE_FLOAT  ? "no finite number"
                         : type == SQLITE_NULL ? "nothing (is there a division by zero?)"
                                               : "an empty text");
}

sim_status sim_expression_holds(sim_expression *expression, bool *holds, sim_error *error) {
    const sim_status status = step(expression, error);
    *holds = false;
    if (status) return status;
    *holds = sqlite3_column_double(expression->statement, 0) != 0;
    sqlite3_reset(expression->statement);
    return SIM_OK;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/results_db.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "perfmodel/perfmodel.h"
#include "sim/experiment/sweep/results_schema.h"

struct sim_results {
    sqlite3 *db;
    char *path; // for messages
    int lock;   // descriptor that holds the lock between processes; -1 = none
};

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

static sim_status failed(const sim_results *results, sim_error *error) {
    const int code = sqlite3_errcode(results->db);
    const bool is_no_database = code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
    return sim_error_set(error, is_no_database ? SIM_BAD_DATA : SIM_IO, results->path, 0, "%s",
                         sqlite3_errmsg(results->db));
}

static sim_status execute(sim_results *results, const char *sql, sim_error *error) {
    return sqlite3_exec(results->db, sql, NULL, NULL, NULL) == SQLITE_OK ? SIM_OK : failed(results, error);
}

// Takes a text of sqlite3_mprintf over.
static sim_status execute_made(sim_results *results, char *sql, sim_error *error) {
    if (!sql) return no_memory(error);
    const sim_status status = execute(results, sql, error);
    sqlite3_free(sql);
    return status;
}

// --- open ------------------------------------------------------------------------------------------------------------

// A lock of flock(2), which SQLite's own locks do not touch; it goes with the process, however that ends. The descriptor stays open as long as the
// database: closing any descriptor of a file drops SQLite's locks on it.
static sim_status take_lock(sim_results *results, sim_error *error) {
    results->lock = open(results->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (results->lock < 0)
        return sim_error_set(error, SIM_IO, results->path, 0, "the database cannot be opened: %s", strerror(errno));
    if (flock(results->lock, LOCK_EX | LOCK_NB) == 0) return SIM_OK;
    return sim_error_set(error, SIM_IO, results->path, 0,
                         "another process is writing this database (wait for it, or choose another -o)");
}

static sim_status take_count(void *self, const sim_results_row *row, sim_error *error) {
    (void)error;
    *(int *)self = row->texts[0] ? atoi(row->texts[0]) : 0;
    return SIM_OK;
}

// A new database gets its tables; another's must be of this layout.
static sim_status check_schema(sim_results *results, sim_error *error) {
    int n_tables = 0, schema = 0;
    sim_status status = sim_results_query(results, "SELECT count(*) FROM sqlite_schema", take_count, &n_tables, error);
    if (status) return status;
    if (n_tables == 0) return execute_made(results, sim_results_schema(), error);
    status = sim_results_query(results, "SELECT value FROM meta WHERE key = 'schema'", take_count, &schema, NULL);
    if (!status && schema == SIM_RESULTS_SCHEMA) return SIM_OK;
    return sim_error_set(error, SIM_BAD_DATA, results->path, 0,
                         "this is no database of forepass, or one of another "
                         "version's layout (%d is this one's)",
                         SIM_RESULTS_SCHEMA);
}

static sim_status open_database(sim_results *results, const char *path, sim_error *error) {
    results->lock = -1;
    results->path = strdup(path ? path : ":memory:");
    if (!results->path) return no_memory(error);
    sim_status status = path ? take_lock(results, error) : SIM_OK;
    if (status) return status;
    if (sqlite3_open_v2(results->path, &results->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
        return results->db ? failed(results, error) : no_memory(error);
    sqlite3_busy_timeout(results->db, 10000); // a reader may hold it for a moment
    status =
        execute(results, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON", error);
    return status ? status : check_schema(results, error);
}

sim_status sim_results_open(sim_results **results, const char *path, sim_error *error) {
    sim_results *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    const sim_status status = open_database(made, path, error);
    if (status) {
        sim_results_close(made);
        return status;
    }
    *results = made;
    return SIM_OK;
}

void sim_results_close(sim_results *results) {
    if (!results) return;
    sqlite3_close(results->db);
    if (results->lock >= 0) close(results->lock);
    free(results->path);
    free(results);
}

sim_status sim_results_open_to_read(sim_results **results, const char *path, sim_error *error) {
    sim_results *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    *made = (sim_results){ .path = strdup(path), .lock = -1 };
    sim_status status = made->path ? SIM_OK : no_memory(error);
    if (!status && sqlite3_open_v2(path, &made->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        status = made->db ? failed(made, error) : no_memory(error);
    if (!status) status = check_schema(made, error);
    if (status) {
        sim_results_close(made);
        return status;
    }
    *results = made;
    return SIM_OK;
}

sim_status sim_results_remove(const char *path, sim_error *error) {
    static const char *const suffixes[] = { "", "-wal", "-shm" };
    sim_results locked = { .path = strdup(path), .lock = -1 };
    sim_status status = locked.path ? take_lock(&locked, error) : no_memory(error);
    for (size_t i = 0; i < 3 && !status; i++) {
        char name[4200];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        if (unlink(name) != 0 && errno != ENOENT)
            status = sim_error_set(error, SIM_IO, name, 0, "it cannot be removed: %s", strerror(errno));
    }
    if (locked.lock >= 0) close(locked.lock);
    free(locked.path);
    return status;
}

// --- write -----------------------------------------------------------------------------------------------------------

sim_status sim_results_transaction(sim_results *results, bool begins, sim_error *error) {
    return execute(results, begins ? "BEGIN IMMEDIATE" : "COMMIT", error);
}

sim_status sim_results_begin(sim_results *results, const sim_experiment *experiment, sim_error *error) {
    sim_status status = execute(results, "DELETE FROM design; DELETE FROM experiment", error);
    char *objectives = sim_results_objectives(experiment->objectives);
    if (!status && objectives)
        status = execute_made(results,
                              sqlite3_mprintf("INSERT INTO experiment(method, objectives, version, config) "
                                              "VALUES (%Q, %Q, %Q, %Q)",
                                              experiment->method, objectives, experiment->version, experiment->config),
                              error);
    else if (!status)
        status = no_memory(error);
    sqlite3_free(objectives);
    return status ? status : execute_made(results, sim_results_views(experiment), error);
}

sim_status sim_results_add_point(sim_results *results, size_t position, const char *hash, const char *keys,
                                 sim_error *error) {
    return execute_made(results,
                        sqlite3_mprintf("INSERT OR REPLACE INTO point(hash, keys) VALUES (%Q, %Q);"
                                        "INSERT INTO design(position, point) VALUES (%lld, %Q)",
                                        hash, keys, (long long)position, hash),
                        error);
}

sim_status sim_results_has(sim_results *results, const char *hash, uint32_t repeat, const char *version,
                           bool takes_stopped, bool *is_there, sim_error *error) {
    int n = 0;
    char *sql = sqlite3_mprintf("SELECT count(*) FROM run WHERE point = %Q AND repeat = %u AND version = %Q AND (%d "
                                "OR status <> 'stopped')",
                                hash, repeat, version, (int)takes_stopped);
    if (!sql) return no_memory(error);
    const sim_status status = sim_results_query(results, sql, take_count, &n, error);
    sqlite3_free(sql);
    *is_there = n > 0;
    return status;
}

sim_status sim_results_put(sim_results *results, const sim_result *result, const char *version, sim_error *error) {
    char *sql = sim_results_insert();
    sqlite3_stmt *statement = NULL;
    if (!sql) return no_memory(error);
    const int code = sqlite3_prepare_v2(results->db, sql, -1, &statement, NULL);
    sqlite3_free(sql);
    if (code != SQLITE_OK) return failed(results, error);
    sqlite3_bind_text(statement, 1, result->point, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, result->repeat);
    sqlite3_bind_int64(statement, 3, (sqlite3_int64)result->seed);
    sqlite3_bind_text(statement, 4, version, -1, SQLITE_STATIC);
    if (result->trace_hash[0]) sqlite3_bind_text(statement, 5, result->trace_hash, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 6, result->status, -1, SQLITE_STATIC);
    if (result->reason[0]) sqlite3_bind_text(statement, 7, result->reason, -1, SQLITE_STATIC);
    if (result->summary) sqlite3_bind_text(statement, 8, result->summary, -1, SQLITE_STATIC);
    sqlite3_bind_double(statement, 9, result->cpu_s);
    sqlite3_step(statement);
    return sqlite3_finalize(statement) == SQLITE_OK ? SIM_OK : failed(results, error);
}

// --- read ------------------------------------------------------------------------------------------------------------

enum { MAX_COLUMNS = 256 };
typedef struct columns {
    const char *names[MAX_COLUMNS], *texts[MAX_COLUMNS];
    bool is_number[MAX_COLUMNS];
    char numbers[MAX_COLUMNS][FPM_NUMBER_BYTES];
} columns;

static void read_column(sqlite3_stmt *statement, int i, columns *to) {
    const int type = sqlite3_column_type(statement, i);
    to->names[i] = sqlite3_column_name(statement, i);
    to->is_number[i] = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    if (type == SQLITE_FLOAT && isfinite(sqlite3_column_double(statement, i))) {
        fpm_format_number(to->numbers[i], sqlite3_column_double(statement, i));
        to->texts[i] = to->numbers[i];
    } else {
        to->texts[i] = (const char *)sqlite3_column_text(statement, i);
    }
}

static sim_status give_rows(sim_results *results, sqlite3_stmt *statement, sim_results_take *take, void *self,
                            sim_error *error) {
    columns read;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const int n = sqlite3_column_count(statement) < MAX_COLUMNS ? sqlite3_column_count(statement) : MAX_COLUMNS;
        for (int i = 0; i < n; i++) read_column(statement, i, &read);
        const sim_results_row row = { (size_t)n, read.names, read.texts, read.is_number };
        const sim_status status = take(self, &row, error);
        if (status) return status;
    }
    return code == SQLITE_DONE ? SIM_OK : failed(results, error);
}

sim_status sim_results_query(sim_results *results, const char *sql, sim_results_take *take, void *self,
                             sim_error *error) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(results->db, sql, -1, &statement, NULL) != SQLITE_OK) return failed(results, error);
    const sim_status status = give_rows(results, statement, take, self, error);
    sqlite3_finalize(statement);
    return status;
}

// --- merge -----------------------------------------------------------------------------------------------------------

static sim_status count(sim_results *results, const char *sql, int *n, sim_error *error) {
    return sim_results_query(results, sql, take_count, n, error);
}

static sim_status merge_attached(sim_results *results, const char *path, sim_error *error) {
    int schema = 0, n_here = 0, n_other = 0, n_differing = 0;
    sim_status status = count(results, "SELECT value FROM other.meta WHERE key = 'schema'", &schema, NULL);
    if (status || schema != SIM_RESULTS_SCHEMA)
        return sim_error_set(error, SIM_BAD_DATA, path, 0, "this is no database of forepass, or one of another layout");
    status = count(results, "SELECT count(*) FROM experiment", &n_here, error);
    if (!status && n_here)
        status = count(results,
                       "SELECT count(*) FROM other.experiment o, experiment e WHERE o.method <> e.method OR "
                       "o.objectives <> e.objectives OR o.version <> e.version OR "
                       "(SELECT count(*) FROM other.design) <> (SELECT count(*) FROM design)",
                       &n_other, error);
    if (!status && n_other)
        status = sim_error_set(error, SIM_BAD_DATA, path, 0,
                               "it is of another experiment than the first one "
                               "(merge the shards of one sweep)");
    if (!status)
        status =
            count(results,
                  "SELECT count(*) FROM other.run o JOIN run r USING (point, repeat) WHERE o.status <> r.status OR "
                  "json_remove(o.summary, '$.wall_time_ms') <> json_remove(r.summary, '$.wall_time_ms')",
                  &n_differing, error);
    if (!status && n_differing)
        status = sim_error_set(error, SIM_BAD_DATA, path, 0,
                               "%d of its runs differ from those of the same point in "
                               "another database",
                               n_differing);
    if (status) return status;
    return execute(results,
                   "INSERT OR IGNORE INTO experiment SELECT * FROM other.experiment;"
                   "INSERT OR IGNORE INTO point SELECT * FROM other.point;"
                   "INSERT OR IGNORE INTO design SELECT * FROM other.design;"
                   "INSERT OR IGNORE INTO run SELECT * FROM other.run",
                   error);
}

// Views cannot be copied as rows: their text can.
static sim_status copy_view(void *self, const sim_results_row *row, sim_error *error) {
    return execute(self, row->texts[0], error);
}

sim_status sim_results_merge(sim_results *results, const char *path, sim_error *error) {
    int n_views = 0;
    if (access(path, R_OK) != 0) return sim_error_set(error, SIM_IO, path, 0, "%s", strerror(errno));
    char *attach = sqlite3_mprintf("ATTACH %Q AS other", path);
    sim_status status = execute_made(results, attach, error);
    if (status) {
        if (error) snprintf(error->file, sizeof error->file, "%s", path);
        return status;
    }
    status = execute(results, "BEGIN IMMEDIATE", error);
    if (!status) status = merge_attached(results, path, error);
    if (!status)
        status = count(results, "SELECT count(*) FROM main.sqlite_schema WHERE type = 'view'", &n_views, error);
    if (!status && n_views == 0)
        status = sim_results_query(results, "SELECT sql FROM other.sqlite_schema WHERE type = 'view'", copy_view,
                                   results, error);
    const sim_status ended = execute(results, status ? "ROLLBACK" : "COMMIT", status ? NULL : error);
    execute(results, "DETACH other", NULL);
    return status ? status : ended;
}

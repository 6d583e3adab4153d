// SPDX-License-Identifier: GPL-3.0-or-later
//
// Records of a CSV file by RFC 4180: commas, fields in double quotes may hold commas, doubled quotes and line ends. No
// other delimiter is guessed. Blanks around an unquoted field are not part of it (spreadsheets and people put them
// there); inside quotes they are.
#ifndef SIM_WORKLOAD_CSV_ROW_H
#define SIM_WORKLOAD_CSV_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmodel/line_reader.h"
#include "sim/config/error.h"

typedef struct sim_csv_field {
    const char *text; // blanks taken off, quotes resolved
    size_t n_bytes;
    bool is_quoted;
    bool had_blanks; // around it
} sim_csv_field;

typedef struct sim_csv_row {
    sim_csv_field *fields; // live until the next call
    size_t n_fields, capacity;
    char *joined; // a record of several lines
    size_t joined_capacity;
    char *plain; // fields whose quotes were resolved
    size_t plain_capacity;
} sim_csv_row;

// Split the record that begins with line `first`, reading further lines while a quote is open (1 MiB at most). NULL when
// well; else a static complaint about this record, with the lines it took consumed. What is no fault of the record (a
// failing reader, no memory) also ends up in *status and *error.
const char *sim_csv_row_read(sim_csv_row *row, const fpm_line *first, fpm_line_reader *lines, fpm_status *status,
                             fpm_error *error);
void sim_csv_row_clear(sim_csv_row *row);
// The same with every complaint as an error at `path` and the line of the record: NUL bytes, lines that end in CR alone, quotes that do not close are SIM_BAD_DATA.
sim_status sim_csv_record_read(sim_csv_row *row, const fpm_line *first, fpm_line_reader *lines, const char *path,
                               sim_error *error);

// An unquoted or quoted field as a whole number; false when it is anything else or does not fit.
bool sim_csv_field_u64(const sim_csv_field *field, uint64_t *value);

// Index of the column with this name in a header row, -1 without. `is_exact` says whether letter case and blanks agree.
// *n_found counts columns of that name.
int sim_csv_find_column(const sim_csv_row *header, const char *name, bool *is_exact, int *n_found);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// CSV files with a header of known columns, in any order: every column once, all that are not optional, none besides. Every mistake has file and line.
#ifndef SIM_DEPLOYMENT_CSV_TABLE_H
#define SIM_DEPLOYMENT_CSV_TABLE_H

#include "perfmodel/line_reader.h"
#include "sim/config/error.h"

typedef enum sim_csv_type {
    SIM_CSV_COUNT,  // a whole number, 0 to 2^32 - 1
    SIM_CSV_SIZE,   // the same, 1 or more
    SIM_CSV_NUMBER, // above 0
    SIM_CSV_TEXT    // at most 31 bytes
} sim_csv_type;

typedef struct sim_csv_column {
    const char *name;
    sim_csv_type type;
    bool is_optional;
    const char *default_text; // of an optional column that the file does not have
    double default_number;
} sim_csv_column;

enum { SIM_CSV_COLUMNS = 16, SIM_CSV_TEXT_BYTES = 32 };
typedef struct sim_csv_values { // by the order of the columns asked for
    double numbers[SIM_CSV_COLUMNS];
    char texts[SIM_CSV_COLUMNS][SIM_CSV_TEXT_BYTES];
    int64_t line;
} sim_csv_values;

// Called for every record; anything but SIM_OK ends the reading. `path` is for its messages.
typedef sim_status (*sim_csv_take)(void *context, const sim_csv_values *values, const char *path, sim_error *error);

// Read `lines` to their end. SIM_BAD_DATA with the line, SIM_IO, SIM_NO_MEMORY, or what `take` returns. At most SIM_CSV_COLUMNS columns.
sim_status sim_csv_table_read(fpm_line_reader *lines, const sim_csv_column *columns, size_t n_columns,
                              sim_csv_take take, void *context, sim_error *error);

// Errors of the forward-pass library about a file: FPM_IO and FPM_NO_MEMORY keep their kind, all else is SIM_BAD_DATA.
sim_status sim_csv_from_fpm(const fpm_error *source, const char *path, sim_error *error);

#endif

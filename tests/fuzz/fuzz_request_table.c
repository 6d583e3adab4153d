// SPDX-License-Identifier: GPL-3.0-or-later
//
// The reader of request records on any bytes, as our own requests.csv and as the log of a real server; and that of summary.json. What is refused is refused
// with a reason, what is accepted holds what its header promises.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/report/request_table.h"
#include "sim/report/summary_figures.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void read_as(const uint8_t *data, size_t n_bytes, bool is_own) {
    fpm_line_reader *lines;
    fpm_error fault;
    sim_error error = { .code = SIM_OK };
    sim_request_table table;
    if (fpm_line_reader_open_memory(&lines, (const char *)data, n_bytes, "fuzz.csv", 0, &fault)) return;
    const char *const conditions[] = { "status=completed" };
    const sim_row_filter filter = { conditions, 1 };
    const bool is_filtered = !is_own && n_bytes % 2;
    const sim_status status = sim_request_table_read(&table, lines, is_own, is_filtered ? &filter : NULL, &error);
    fpm_line_reader_free(lines);
    if (status) {
        if (!error.message[0]) abort();
        return;
    }
    if (table.n_rows == 0) abort();
    for (size_t i = 0; i < table.n_rows; i++)
        for (int k = 0; k < SIM_LATENCIES; k++)
            if (table.rows[i].ms[k] < 0 || isinf(table.rows[i].ms[k])) abort();
    sim_request_table_clear(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    sim_summary_figures figures;
    sim_error error = { .code = SIM_OK };
    read_as(data, n_bytes, true);
    read_as(data, n_bytes, false);
    if (!sim_summary_figures_parse(&figures, (const char *)data, n_bytes, "fuzz.json", &error))
        sim_summary_figures_clear(&figures);
    else if (!error.message[0])
        abort();
    return 0;
}

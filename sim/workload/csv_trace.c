// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/csv_trace.h"

#include <string.h>

#include "sim/workload/timestamp.h"

static bool read_record(sim_trace_input *input, sim_csv_trace *trace, const fpm_line *line) {
    if (line->has_nul) return sim_trace_refuse(input, SIM_DROP_SYNTAX, 0, "the line holds NUL bytes (damaged file?)");
    const char *complaint = sim_csv_row_read(&trace->row, line, input->lines, &input->failed, &input->error);
    return complaint ? sim_trace_refuse(input, SIM_DROP_SYNTAX, 0, "%s", complaint) : true;
}

bool sim_csv_trace_read_header(sim_trace_input *input, sim_csv_trace *trace, const fpm_line *line) {
    if (line->n_bytes > 0 && memchr(line->text, '\r', line->n_bytes))
        return sim_trace_refuse(input, SIM_DROP_SYNTAX, 0,
                                "the lines end in CR alone (convert them to LF: tr '\\r' '\\n')");
    if (!read_record(input, trace, line)) return false;
    trace->n_fields = trace->row.n_fields;
    return true;
}

bool sim_csv_trace_read_row(sim_trace_input *input, sim_csv_trace *trace, const fpm_line *line) {
    if (!read_record(input, trace, line)) return false;
    if (trace->row.n_fields == trace->n_fields) return true;
    return sim_trace_refuse(input, SIM_DROP_FIELD_COUNT, 0, "the row has %zu fields, the header %zu",
                            trace->row.n_fields, trace->n_fields);
}

bool sim_csv_trace_stamp(sim_trace_input *input, const sim_csv_trace *trace, int column, sim_trace_row *out) {
    const sim_csv_field *field = &trace->row.fields[column];
    sim_stamp stamp;
    const char *complaint = field->n_bytes == 0 ? "the timestamp is missing"
                                                : sim_stamp_parse(field->text, field->n_bytes, input->unit, &stamp);
    if (complaint) return sim_trace_refuse(input, SIM_DROP_BAD_TIMESTAMP, 0, "%s", complaint);
    out->has_stamp = true;
    out->stamp_ns = stamp.ns;
    out->stamp_is_fractional = stamp.is_fractional;
    return true;
}

bool sim_csv_trace_count(sim_trace_input *input, const sim_csv_trace *trace, int column, const char *name,
                         uint64_t *value) {
    const sim_csv_field *field = &trace->row.fields[column];
    if (sim_csv_field_u64(field, value)) return true;
    return sim_trace_refuse(input, SIM_DROP_BAD_LENGTH, 0, "%s is \"%.*s\" (a whole number is wanted)", name,
                            field->n_bytes > 40 ? 40 : (int)field->n_bytes, field->text);
}

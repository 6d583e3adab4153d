// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a trace of the format csv. The first byte chooses which columns are named and how, the rest is the file.
#include "sim/workload/workload.h"
#include "tests/support/trace_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    if (n_bytes < 1) return 0;
    sim_workload_config settings = { .source = SIM_SOURCE_TRACE, .path = "fuzz" };
    settings.csv = (sim_csv_config){ .input_tokens = "in", .output_tokens = "out" };
    if (data[0] & 1) settings.csv.arrival = "at";
    if (data[0] & 2) settings.csv.session = "s";
    settings.rebase = data[0] >> 2 & 1;
    settings.csv.unit = (data[0] >> 3 & 7) % 5;
    settings.limit = data[0] >> 6;
    fuzz_text((const char *)data + 1, n_bytes - 1, settings);
    return 0;
}

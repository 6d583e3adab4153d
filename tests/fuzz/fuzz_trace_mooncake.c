// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a trace of the format mooncake (or whatever auto takes them for).
#include "sim/workload/workload.h"
#include "tests/support/trace_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) { return fuzz_trace(data, n_bytes, 1); }

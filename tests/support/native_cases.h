// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef TESTS_SUPPORT_NATIVE_CASES_H
#define TESTS_SUPPORT_NATIVE_CASES_H

#include "tests/support/native_deployment.h"

// Deployments of every kind of attention, feed-forward, layout and format.
// The last one has factors that take operations down to the bound of the hardware.
enum { NATIVE_CASES = 10, NATIVE_BOUND_CASE = NATIVE_CASES - 1, NATIVE_CASE_SETS = 10 };
static const char *const native_cases[NATIVE_CASES][NATIVE_CASE_SETS] = {
    { NATIVE_CONFIGS, "model.name=llama-3.1-8b", "system.name=h100_sxm" },
    { NATIVE_CONFIGS, "model.name=llama-3.1-8b", "system.name=a100_pcie", "parallel.tensor=2",
      "engine.backend=trtllm" },
    { NATIVE_CONFIGS, "model.name=qwen3-32b", "system.name=h200_sxm", "parallel.tensor=4", "model.weights=fp8",
      "model.kv_cache=fp8" },
    { NATIVE_CONFIGS, "model.name=llama-2-70b", "system.name=a100_sxm", "parallel.tensor=4", "parallel.pipeline=2",
      "perfmodel.calibration=none" },
    { NATIVE_CONFIGS, "model.name=qwen3-235b-a22b", "system.name=h200_sxm", "parallel.tensor=4", "parallel.expert=4",
      "model.weights=fp8_block" },
    { NATIVE_CONFIGS, "model.name=deepseek-v3", "system.name=h200_sxm", "parallel.data=8", "parallel.expert=8",
      "model.weights=fp8_block", "engine.backend=sglang" },
    { NATIVE_CONFIGS, "model.name=deepseek-v3.2", "system.name=b200_sxm", "parallel.tensor=8", "model.weights=nvfp4",
      "engine.backend=sglang" },
    { NATIVE_CONFIGS, "model.name=gpt-oss-20b", "system.name=rtx_4090", "model.moe_weights=mxfp4" },
    { NATIVE_CONFIGS, "model.name=qwen3.5-397b-a17b", "system.name=b200_sxm", "parallel.tensor=8",
      "model.weights=fp8" },
    { NATIVE_CONFIGS, "model.name=mixtral-8x7b", "system.name=mi300x", "parallel.tensor=2", "parallel.data=2",
      "calibration.kernel_floor=0.1", "calibration.collective_latency=0.2", "calibration.moe_bf16=0.3" },
};

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a model file, a system file, the config.json of a checkpoint and ModelOpt's formats. What is accepted passes the checks of the forward-pass
// library, and its memory can be planned.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/deployment/hf_config.h"
#include "sim/deployment/system_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void must(int is_so) {
    if (!is_so) abort();
}

static void check_model(const sim_model_file *file) {
    static const fpm_quantisation formats = { FPM_FP8, FPM_MXFP4, FPM_BF16, false };
    static const fpm_memory_options options = { FPM_VLLM, 0.9, 16, 8192, 256 };
    const fpm_system system = { .name = "s", .memory_bytes = 1e11 };
    const fpm_architecture *a = &file->architecture;
    must(fpm_architecture_check(a, NULL) == FPM_OK);
    const double all = fpm_architecture_parameters(a);
    must(isfinite(all) && all > 0 && fpm_architecture_active_parameters(a) <= all);
    for (int64_t tensor = 1; tensor <= 8; tensor *= 2) {
        const fpm_layout layout = { tensor, 1, 1, 1, a->n_moe_layers > 0 ? tensor : 1 };
        fpm_memory_budget budget;
        fpm_error error = { .code = FPM_OK };
        if (fpm_layout_check(&layout, a, &error) != FPM_OK) continue;
        if (fpm_memory_plan(&budget, a, &system, &layout, &formats, &options, &error) == FPM_OK)
            must(budget.kv_blocks > 0 && budget.kv_bytes > 0);
        else
            must(error.message[0] != '\0');
    }
}

static void check_error(sim_status status, const sim_error *error) {
    must(status == SIM_USAGE && error->message[0] && error->file[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    const char *text = (const char *)data;
    sim_model_file model;
    sim_system_file system;
    sim_declared_formats formats;
    sim_error error = { .code = SIM_OK };
    sim_status status = sim_model_file_parse(&model, text, n_bytes, "fuzz.ini", &error);
    if (status == SIM_OK)
        check_model(&model);
    else
        check_error(status, &error);
    status = sim_hf_config_parse(&model, text, n_bytes, "fuzz/config.json", &error);
    if (status == SIM_OK)
        check_model(&model);
    else
        check_error(status, &error);
    status = sim_system_file_parse(&system, text, n_bytes, "fuzz.ini", &error);
    if (status == SIM_OK)
        must(fpm_system_check(&system.system, NULL) == FPM_OK);
    else
        check_error(status, &error);
    status = sim_hf_formats_parse(&formats, text, n_bytes, "fuzz.json", &error);
    if (status != SIM_OK) check_error(status, &error);
    return 0;
}

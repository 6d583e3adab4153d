// SPDX-License-Identifier: GPL-3.0-or-later
//
// The models and systems that come with the program.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/deployment/model_file.h"
#include "sim/deployment/system_file.h"

static const char data_dir[] = SOURCE_DIR "/configs";

static fpm_architecture named(const char *name) {
    char path[SIM_DATA_PATH_BYTES];
    sim_model_file file;
    sim_error error = { 0 };
    cr_assert(sim_data_find(data_dir, "models", name, path), "%s", name);
    cr_assert_eq(sim_model_file_load(&file, path, &error), SIM_OK, "%s", error.message);
    return file.architecture;
}

Test(model_files, every_file_is_sound_and_says_where_it_is_from) {
    sim_data_list list;
    sim_error error = { 0 };
    cr_assert_eq(sim_data_list_read(&list, data_dir, "models", &error), SIM_OK);
    cr_expect_geq(list.n_files, 31);
    for (size_t i = 0; i < list.n_files; i++) {
        sim_model_file file;
        cr_expect_eq(sim_model_file_load(&file, list.files[i].path, &error), SIM_OK, "%s: %s", list.files[i].name,
                     error.message);
        cr_expect_str_eq(file.architecture.name, list.files[i].name);
        cr_expect(*file.source && *file.published, "%s", list.files[i].name);
    }
    sim_data_list_clear(&list);
}

// Totals as published, in 1e9; kimi-k2 counted from the shapes of its checkpoint (its report says 1040 with all layers MoE).
Test(model_files, parameters_are_the_published_ones_within_a_hundredth) {
    static const struct {
        const char *name;
        double total, active; // 0: not told
    } published[] = {
        { "llama-3.1-8b", 8.03, 0 },
        { "llama-3.1-70b", 70.6, 0 },
        { "llama-3.1-405b", 405.9, 0 },
        { "llama-2-7b", 6.74, 0 },
        { "llama-2-70b", 69.0, 0 },
        { "qwen3-0.6b", 0.596, 0 },
        { "qwen3-1.7b", 1.72, 0 },
        { "qwen3-8b", 8.19, 0 },
        { "qwen3-14b", 14.8, 0 },
        { "qwen3-32b", 32.8, 0 },
        { "qwen3-30b-a3b", 30.5, 3.3 },
        { "qwen3-235b-a22b", 235, 22.1 },
        { "qwen3-coder-480b", 480, 35.4 },
        { "qwen3.5-27b", 27, 0 },
        { "qwen3.5-397b-a17b", 397, 17.3 },
        { "qwen2.5-7b", 7.62, 0 },
        { "mixtral-8x7b", 46.7, 12.9 },
        { "mixtral-8x22b", 141, 39.1 },
        { "deepseek-v3", 671, 37.5 },
        { "deepseek-r1", 671, 37.5 },
        { "deepseek-v3.2", 671.9, 0 },
        { "kimi-k2", 1026, 32.9 },
        { "kimi-k2.5", 1026, 32.9 },
        { "gpt-oss-20b", 20.9, 0 },
        { "gpt-oss-120b", 116.8, 0 },
        { "minimax-m2.5", 229, 0 },
        { "glm-5", 744, 0 },
        { "mistral-nemo-12b", 12.2, 0 },
        { "yi-34b", 34.4, 0 },
        { "llama-4-scout", 107.8, 17.2 },
        { "llama-4-maverick", 400.7, 17.2 },
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const fpm_architecture a = named(published[i].name);
        const double total = fpm_architecture_parameters(&a) / 1e9,
                     active = fpm_architecture_active_parameters(&a) / 1e9;
        cr_expect_lt(fabs(total / published[i].total - 1), 0.01, "%s: %g", a.name, total);
        if (published[i].active > 0)
            cr_expect_lt(fabs(active / published[i].active - 1), 0.02, "%s: %g active", a.name, active);
    }
}

#define SHARED(name) SHARED_DIR "/models/" name "_config.json"

static bool is_same(const fpm_architecture *a, const fpm_architecture *b) {
    static const size_t counts[] = {
#define AT(field) offsetof(fpm_architecture, field)
        AT(n_layers),
        AT(hidden),
        AT(vocab),
        AT(max_context_tokens),
        AT(n_mtp_layers),
        AT(n_heads),
        AT(n_kv_heads),
        AT(head_dim),
        AT(n_window_layers),
        AT(window_tokens),
        AT(q_rank),
        AT(kv_rank),
        AT(nope_dim),
        AT(rope_dim),
        AT(value_dim),
        AT(index_heads),
        AT(index_dim),
        AT(index_topk),
        AT(n_linear_layers),
        AT(linear_key_heads),
        AT(linear_key_dim),
        AT(linear_value_heads),
        AT(linear_value_dim),
        AT(linear_conv_width),
        AT(intermediate),
        AT(n_moe_layers),
        AT(n_experts),
        AT(experts_per_token),
        AT(expert_intermediate),
        AT(shared_intermediate),
#undef AT
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (memcmp((const char *)a + counts[i], (const char *)b + counts[i], sizeof(int64_t)) != 0) return false;
    return a->attention == b->attention && a->ties_embeddings == b->ties_embeddings &&
           a->has_qk_norm == b->has_qk_norm && a->has_output_gate == b->has_output_gate &&
           a->has_ungated_ffn == b->has_ungated_ffn;
}

Test(model_files, a_config_json_gives_the_same_struct_as_the_file_of_its_model) {
    static const struct {
        const char *path, *name;
    } pairs[] = {
        { SHARED("MiniMaxAI--MiniMax-M2.5"), "minimax-m2.5" },
        { SHARED("Qwen--Qwen3-0.6B"), "qwen3-0.6b" },
        { SHARED("Qwen--Qwen3-1.7B"), "qwen3-1.7b" },
        { SHARED("Qwen--Qwen3-235B-A22B-FP8"), "qwen3-235b-a22b" },
        { SHARED("Qwen--Qwen3-235B-A22B"), "qwen3-235b-a22b" },
        { SHARED("Qwen--Qwen3-30B-A3B-FP8"), "qwen3-30b-a3b" },
        { SHARED("Qwen--Qwen3-30B-A3B"), "qwen3-30b-a3b" },
        { SHARED("Qwen--Qwen3-32B-FP8"), "qwen3-32b" },
        { SHARED("Qwen--Qwen3-32B"), "qwen3-32b" },
        { SHARED("Qwen--Qwen3-8B"), "qwen3-8b" },
        { SHARED("Qwen--Qwen3-Coder-480B-A35B-Instruct"), "qwen3-coder-480b" },
        { SHARED("Qwen--Qwen3.5-27B"), "qwen3.5-27b" },
        { SHARED("Qwen--Qwen3.5-397B-A17B"), "qwen3.5-397b-a17b" },
        { SHARED("deepseek-ai--DeepSeek-R1"), "deepseek-r1" },
        { SHARED("deepseek-ai--DeepSeek-V3.2"), "deepseek-v3.2" },
        { SHARED("deepseek-ai--DeepSeek-V3"), "deepseek-v3" },
        { SHARED("meta-llama--Llama-4-Maverick-17B-128E-Instruct"), "llama-4-maverick" },
        { SHARED("meta-llama--Llama-4-Scout-17B-16E-Instruct"), "llama-4-scout" },
        { SHARED("meta-llama--Meta-Llama-3.1-405B"), "llama-3.1-405b" },
        { SHARED("meta-llama--Meta-Llama-3.1-70B"), "llama-3.1-70b" },
        { SHARED("meta-llama--Meta-Llama-3.1-8B"), "llama-3.1-8b" },
        { SHARED("mistralai--Mixtral-8x22B-v0.1"), "mixtral-8x22b" },
        { SHARED("mistralai--Mixtral-8x7B-v0.1"), "mixtral-8x7b" },
        { SHARED("moonshotai--Kimi-K2-Instruct"), "kimi-k2" },
        { SHARED("moonshotai--Kimi-K2.5"), "kimi-k2.5" },
        { SHARED("nvidia--GLM-5-NVFP4"), "glm-5" },
        { SHARED("nvidia--Kimi-K2.5-NVFP4"), "kimi-k2.5" },
        { SHARED("nvidia--Llama-3.1-70B-Instruct-FP8"), "llama-3.1-70b" },
        { SHARED("nvidia--MiniMax-M2.5-NVFP4"), "minimax-m2.5" },
        { SHARED("nvidia--Qwen3.5-397B-A17B-NVFP4"), "qwen3.5-397b-a17b" },
        { SHARED("openai--gpt-oss-120b"), "gpt-oss-120b" },
        { SHARED("openai--gpt-oss-20b"), "gpt-oss-20b" },
        { SHARED("zai-org--GLM-5-FP8"), "glm-5" },
        { SHARED("zai-org--GLM-5"), "glm-5" },
    };
    if (access(pairs[0].path, R_OK)) {
        fprintf(stderr, "SKIPPED: %s is not there\n", pairs[0].path);
        cr_skip_test("no configs");
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        sim_model_file file;
        sim_error error = { 0 };
        cr_assert_eq(sim_model_file_load(&file, pairs[i].path, &error), SIM_OK, "%s: %s", error.file, error.message);
        fpm_architecture a = named(pairs[i].name);
        cr_expect(is_same(&file.architecture, &a), "%s differs from %s", pairs[i].path, pairs[i].name);
    }
}

Test(model_files, published_names_are_found_whatever_their_case) {
    sim_model_file file = { .published = "a/B-1, c/D , e" };
    cr_expect(sim_model_file_publishes(&file, "a/b-1"));
    cr_expect(sim_model_file_publishes(&file, "E"));
    cr_expect_not(sim_model_file_publishes(&file, "a/b"));
    cr_expect_not(sim_model_file_publishes(&file, ""));
    cr_expect_not(sim_model_file_publishes(&file, ", "));
}

Test(model_files, every_system_is_sound) {
    sim_data_list list;
    sim_error error = { 0 };
    cr_assert_eq(sim_data_list_read(&list, data_dir, "systems", &error), SIM_OK);
    cr_expect_geq(list.n_files, 15);
    for (size_t i = 0; i < list.n_files; i++) {
        sim_system_file file;
        cr_expect_eq(sim_system_file_load(&file, list.files[i].path, &error), SIM_OK, "%s: %s", list.files[i].name,
                     error.message);
        cr_expect_str_eq(file.system.name, list.files[i].name);
        cr_expect(*file.source && *file.operators && file.system.power_w > 0, "%s", list.files[i].name);
        cr_expect_lt(file.system.reserved_bytes, 0.02 * file.system.memory_bytes);
    }
    sim_data_list_clear(&list);
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// From [model], [system] and [parallel] to structs, sequences and KV blocks.
#include "sim/deployment/deployment.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/failing_malloc.h"

enum { MAX_SETS = 12 };

typedef struct outcome {
    sim_config *config;
    sim_deployment deployment;
    sim_engine_config engine;
    sim_kv_cache_config kv_cache;
    sim_status status;
    sim_error error;
} outcome;

static void resolve(outcome *o) {
    sim_parallel_config parallel;
    sim_config_fill(o->config, &sim_parallel_keys, &parallel);
    sim_config_fill(o->config, &sim_engine_keys, &o->engine);
    sim_config_fill(o->config, &sim_kv_cache_keys, &o->kv_cache);
    o->status = sim_engine_check(o->config, &o->engine, &o->kv_cache, &o->error);
    if (!o->status) o->status = sim_deployment_load(&o->deployment, o->config, &parallel, o->engine.backend, &o->error);
    if (!o->status) o->status = sim_deployment_size(&o->deployment, o->config, &o->engine, &o->kv_cache, &o->error);
}

static void configure(outcome *o, const char *const *sets) {
    static const sim_key_table *const tables[] = { &sim_data_keys,     &sim_model_keys,  &sim_system_keys,
                                                   &sim_parallel_keys, &sim_engine_keys, &sim_kv_cache_keys };
    *o = (outcome){ .status = SIM_OK };
    cr_assert_eq(sim_config_new(&o->config, tables, sizeof tables / sizeof *tables, &o->error), SIM_OK);
    for (; *sets; sets++) cr_assert_eq(sim_config_set(o->config, *sets, &o->error), SIM_OK, "%s", o->error.message);
}

static outcome deploy(const char *const *sets) {
    outcome o;
    configure(&o, sets);
    resolve(&o);
    return o;
}

#define ON_H100 "data.dir=" SOURCE_DIR "/configs", "system.name=h100_sxm"

// What vLLM 0.15 reports on an H100 of 80 GB with its defaults (16 tokens a block, 8192 batched tokens, 256 sequences, 0.9 of the memory).
Test(deployment, kv_blocks_are_those_of_vllm_within_a_hundredth) {
    static const struct {
        const char *model, *tensor;
        double blocks;
    } measured[] = {
        { "model.name=llama-2-7b", "parallel.tensor=1", 7463 },
        { "model.name=mistral-nemo-12b", "parallel.tensor=1", 19251 },
        { "model.name=qwen2.5-7b", "parallel.tensor=1", 65368 },
        { "model.name=yi-34b", "parallel.tensor=2", 20793 },
    };
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        outcome o = deploy((const char *[]){ ON_H100, measured[i].model, measured[i].tensor, NULL });
        cr_assert_eq(o.status, SIM_OK, "%s", o.error.message);
        cr_expect_float_eq((double)o.kv_cache.num_blocks / measured[i].blocks, 1, 0.01, "%s: %lld", measured[i].model,
                           (long long)o.kv_cache.num_blocks);
        cr_expect(o.deployment.has_budget);
        sim_config_free(o.config);
    }
}

Test(deployment, what_is_wrong_is_placed_at_its_key) {
    static const struct {
        const char *sets[MAX_SETS];
        const char *file, *message;
    } cases[] = {
        { { ON_H100, "model.name=lama-3.1-8b" },
          "--set model.name",
          "unknown model lama-3.1-8b (did you mean llama-3.1-8b?)" },
        { { ON_H100, "model.name=gpt2" }, "--set model.name", "unknown model gpt2 (see forepass list models" },
        { { "system.name=h100" }, "--set system.name", "unknown system h100 (did you mean h100_pcie, h100_sxm?)" },
        { { "model.name=/none.ini" }, "--set model.name", "/none.ini cannot be read: No such file" },
        { { "system.name=/none.ini" }, "--set system.name", "/none.ini cannot be read: No such file" },
        { { "data.dir=/none" }, "--set data.dir", "/none is no directory" },
        { { "model.weights=fp8" }, "--set model.weights", "model.weights has no effect without model.name" },
        { { "model.activations=bf16" }, "--set model.activations", "has no effect without model.name" },
        { { ON_H100, "model.name=qwen3-8b", "parallel.tensor=5" }, "--set parallel.tensor", "does not divide the 32" },
        { { ON_H100, "model.name=qwen3-8b", "parallel.pipeline=37" },
          "--set parallel.pipeline",
          "exceeds the 36 layers" },
        { { ON_H100, "model.name=qwen3-30b-a3b", "parallel.tensor=4", "parallel.expert=8" },
          "--set parallel.expert",
          "(with expert = 4, moe_tensor = 1)" },
        { { ON_H100, "model.name=qwen3-8b", "model.weights=nvfp4" }, "--set model.weights", "it has bf16, fp8, int8" },
        { { ON_H100, "model.name=qwen3-30b-a3b", "model.weights=fp8", "model.moe_weights=nvfp4" },
          "--set model.moe_weights",
          "moe_weights = nvfp4 needs fp4" },
        { { ON_H100, "model.name=llama-3.1-70b" }, "--set model.name", "(try tensor >= 2)" },
        { { ON_H100, "model.name=qwen3-8b", "engine.max_model_len=40961" },
          "--set engine.max_model_len",
          "max_model_len = 40961 exceeds the context of qwen3-8b (at most 40960)" },
        { { "engine.max_num_seqs=1" }, "", "kv_cache.num_blocks = auto needs model.name and system.name" },
        { { ON_H100, "kv_cache.num_blocks=auto" }, "--set kv_cache.num_blocks", "auto needs model.name (or give" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome o = deploy(cases[i].sets);
        cr_expect_eq(o.status, SIM_USAGE, "%zu", i);
        cr_expect_str_eq(o.error.file, cases[i].file, "%zu: %s", i, o.error.file);
        cr_expect(strstr(o.error.message, cases[i].message), "%zu: %s", i, o.error.message);
        sim_config_free(o.config);
    }
}

Test(deployment, the_multiplication_follows_from_format_and_gpu) {
    static const struct {
        const char *system, *model, *formats, *activations;
        bool in_16bit;
    } cases[] = {
        { "h100_sxm", "gpt-oss-20b", "model.moe_weights=mxfp4", "auto", true },
        { "b200_sxm", "gpt-oss-20b", "model.moe_weights=mxfp4", "auto", false },
        { "b200_sxm", "gpt-oss-20b", "model.moe_weights=mxfp4", "bf16", true },
        { "h100_sxm", "gpt-oss-20b", "model.moe_weights=mxfp4", "quantised", false },
        { "b200_sxm", "qwen3-30b-a3b", "model.moe_weights=int4", "auto", true },
        { "h100_sxm", "qwen3-8b", "model.weights=fp8", "auto", false },
        { "a100_sxm", "qwen3-8b", "model.weights=fp8", "bf16", true },
        { "h100_sxm", "qwen3-8b", "model.moe_weights=int4", "auto", false }, // it has no experts
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char system[64], model[64], activations[64];
        snprintf(system, sizeof system, "system.name=%s", cases[i].system);
        snprintf(model, sizeof model, "model.name=%s", cases[i].model);
        snprintf(activations, sizeof activations, "model.activations=%s", cases[i].activations);
        outcome o = deploy((const char *[]){ system, model, cases[i].formats, activations, NULL });
        cr_assert_eq(o.status, SIM_OK, "%zu: %s", i, o.error.message);
        cr_expect_eq(o.deployment.quantisation.has_16bit_activations, cases[i].in_16bit, "%zu", i);
        sim_config_free(o.config);
    }
}

Test(deployment, a_model_limits_sequences_and_its_experts_take_the_ranks_that_are_left) {
    outcome o = deploy((const char *[]){ ON_H100, "model.name=Qwen/Qwen3-30B-A3B-FP8", "model.weights=fp8",
                                         "parallel.tensor=4", "parallel.data=2", "parallel.expert=2", NULL });
    cr_assert_eq(o.status, SIM_OK, "%s", o.error.message);
    cr_expect_str_eq(o.deployment.architecture.name, "qwen3-30b-a3b", "by its published name");
    cr_expect_eq(o.engine.max_model_len, 40960);
    cr_expect_eq(o.deployment.layout.moe_tensor, 4);
    cr_expect_eq(o.deployment.quantisation.moe_weights, FPM_FP8, "as the weights");
    cr_expect_str_eq(o.deployment.operators, "h100_sxm");
    sim_config_free(o.config);
    o = deploy((const char *[]){ "kv_cache.num_blocks=10", "parallel.tensor=3", NULL });
    cr_assert_eq(o.status, SIM_OK, "without a model a layout is only a number of GPUs: %s", o.error.message);
    cr_expect_eq(o.engine.max_model_len, 0);
    cr_expect_eq(o.kv_cache.num_blocks, 10);
    sim_config_free(o.config);
}

Test(deployment, sglang_has_a_share_of_its_own) {
    outcome o = deploy((const char *[]){ ON_H100, "model.name=qwen3-8b", "engine.backend=sglang", NULL });
    cr_assert_eq(o.status, SIM_OK, "%s", o.error.message);
    cr_expect_eq(o.kv_cache.memory_fraction, 0.88);
    cr_expect_eq(o.kv_cache.num_blocks, o.deployment.budget.kv_tokens, "pages of one token");
    sim_config_free(o.config);
}

// A checkpoint as downloaded: a directory with config.json and hf_quant_config.json.
static void write_file(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    cr_assert(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

Test(deployment, a_checkpoint_says_its_formats_and_the_user_has_the_last_word) {
    char directory[] = "/tmp/deployment-XXXXXX", config[64], formats[64], set[80];
    cr_assert(mkdtemp(directory));
    snprintf(config, sizeof config, "%s/config.json", directory);
    snprintf(formats, sizeof formats, "%s/hf_quant_config.json", directory);
    snprintf(set, sizeof set, "model.name=%s", directory);
    write_file(config, "{\"architectures\": [\"LlamaForCausalLM\"], \"num_hidden_layers\": 4, \"hidden_size\": 64, "
                       "\"vocab_size\": 100, \"num_attention_heads\": 4, \"intermediate_size\": 128}");
    write_file(formats, "{\"quantization\": {\"quant_algo\": \"FP8\", \"kv_cache_quant_algo\": \"FP8\"}}");
    outcome o = deploy((const char *[]){ ON_H100, set, NULL });
    cr_assert_eq(o.status, SIM_OK, "%s", o.error.message);
    cr_expect_eq(o.deployment.quantisation.weights, FPM_FP8);
    cr_expect_eq(o.deployment.quantisation.kv_cache, FPM_FP8);
    cr_expect(strstr(o.deployment.note, "as its checkpoint declares: weights fp8, KV cache fp8"), "%s",
              o.deployment.note);
    sim_config_free(o.config);
    o = deploy((const char *[]){ ON_H100, set, "model.weights=bf16", "model.kv_cache=bf16", NULL });
    cr_expect_eq(o.deployment.quantisation.weights, FPM_BF16);
    cr_expect_eq(o.deployment.quantisation.kv_cache, FPM_BF16);
    cr_expect_str_eq(o.deployment.note, "");
    sim_config_free(o.config);
    write_file(formats, "{\"quantization\": {\"quant_algo\": \"W2A2\"}}");
    o = deploy((const char *[]){ ON_H100, set, NULL });
    cr_expect_eq(o.status, SIM_USAGE);
    cr_expect(strstr(o.error.message, "its way of quantising, W2A2, is not known (give model.weights)"));
    sim_config_free(o.config);
    write_file(formats, "{");
    o = deploy((const char *[]){ ON_H100, set, NULL });
    cr_expect_eq(o.status, SIM_USAGE);
    cr_expect_str_eq(o.error.file, formats);
    sim_config_free(o.config);
    unlink(config);
    unlink(formats);
    rmdir(directory);
}

Test(deployment, the_directory_of_the_user_comes_before_the_environment_and_that_before_ours) {
    char first[] = "/tmp/deployment-XXXXXX", second[] = "/tmp/deployment-XXXXXX";
    char folders[2][64], files[2][80], path[SIM_DATA_PATH_BYTES];
    cr_assert(mkdtemp(first) && mkdtemp(second));
    const char *const places[] = { first, second };
    for (int i = 0; i < 2; i++) {
        snprintf(folders[i], sizeof folders[i], "%s/models", places[i]);
        snprintf(files[i], sizeof files[i], "%s/qwen3-8b.ini", folders[i]);
        cr_assert_eq(mkdir(folders[i], 0700), 0);
        write_file(files[i], "");
    }
    setenv("FOREPASS_DATA", second, 1);
    cr_expect(sim_data_find(first, "models", "qwen3-8b", path));
    cr_expect_str_eq(path, files[0]);
    cr_expect(sim_data_find("", "models", "qwen3-8b", path));
    cr_expect_str_eq(path, files[1]);
    unsetenv("FOREPASS_DATA");
    cr_expect(sim_data_find("", "models", "qwen3-8b", path));
    cr_expect(strstr(path, "/configs/models/qwen3-8b.ini"), "%s", path);
    cr_expect_not(sim_data_find("", "models", "../models/qwen3-8b", path));
    sim_data_list list;
    cr_assert_eq(sim_data_list_read(&list, first, "models", NULL), SIM_OK);
    size_t n_found = 0;
    for (size_t i = 0; i < list.n_files; i++)
        if (strcmp(list.files[i].name, "qwen3-8b") == 0) n_found += strcmp(list.files[i].path, files[0]) == 0 ? 1 : 100;
    cr_expect_eq(n_found, 1, "each name once, from the first place");
    sim_data_list_clear(&list);
    for (int i = 0; i < 2; i++) {
        unlink(files[i]);
        rmdir(folders[i]);
        rmdir(places[i]);
    }
}

Test(deployment, names_come_from_paths) {
    static const char *const cases[][2] = {
        { "/a/b/qwen3-8b.ini", "qwen3-8b" },
        { "/a/My-Model/config.json", "My-Model" },
        { "/a/x_config.json", "x_config" },
        { "config.json", "config" },
        { "/config.json", "config" },
        { "plain", "plain" },
        { "/a/.ini", ".ini" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[FPM_NAME_BYTES];
        sim_data_name(cases[i][0], name);
        cr_expect_str_eq(name, cases[i][1], "%s: %s", cases[i][0], name);
    }
}

Test(deployment, every_allocation_may_fail) {
    char path[] = "/tmp/deployment-XXXXXX.json", set[64];
    const int made = mkstemps(path, 5);
    cr_assert_geq(made, 0);
    close(made);
    write_file(path, "{\"architectures\": [\"LlamaForCausalLM\"], \"num_hidden_layers\": 4, \"hidden_size\": 64, "
                     "\"vocab_size\": 100, \"num_attention_heads\": 4, \"intermediate_size\": 128}");
    snprintf(set, sizeof set, "model.name=%s", path);
    const char *const models[] = { "model.name=qwen3-8b", set, "model.name=qwen3-9b" };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const sim_status wanted = i == 2 ? SIM_USAGE : SIM_OK; // the last one is unknown
        for (long n = 0; n < 5000; n++) {
            outcome o;
            configure(&o, (const char *[]){ ON_H100, models[i], NULL });
            const long n_before = n_live;
            n_left = n;
            has_failed = false;
            resolve(&o);
            n_left = -1;
            cr_assert_eq(n_live, n_before, "allocation %ld of %s leaks %ld blocks", n, models[i], n_live - n_before);
            if (!has_failed) cr_assert_eq(o.status, wanted, "%s", o.error.message);
            if (has_failed && i < 2) cr_assert_neq(o.status, SIM_OK, "allocation %ld of %s", n, models[i]);
            sim_config_free(o.config);
            if (!has_failed) break;
        }
    }
    unlink(path);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/hf_config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static sim_status parse(const char *text, sim_model_file *file, sim_error *error) {
    return sim_hf_config_parse(file, text, strlen(text), "m/config.json", error);
}

#define SMALL                                                                                          \
    "\"num_hidden_layers\": 4, \"hidden_size\": 64, \"vocab_size\": 100, \"num_attention_heads\": 4, " \
    "\"num_key_value_heads\": 2, \"intermediate_size\": 128"
#define LLAMA(more) "{\"architectures\": [\"LlamaForCausalLM\"], " SMALL more "}"

Test(hf_config, what_is_missing_has_the_default_of_the_library) {
    sim_model_file file;
    sim_error error = { 0 };
    cr_assert_eq(parse(LLAMA(""), &file, &error), SIM_OK, "%s", error.message);
    cr_expect_str_eq(file.architecture.name, "m");
    cr_expect_eq(file.architecture.head_dim, 16);
    cr_expect_eq(file.architecture.n_kv_heads, 2);
    cr_expect_eq(file.architecture.max_context_tokens, 0);
    cr_expect_not(file.architecture.ties_embeddings);
    cr_expect_not(file.formats.is_declared);
    cr_assert_eq(
        parse(LLAMA(", \"head_dim\": 32, \"tie_word_embeddings\": true, \"num_key_value_heads\": null"), &file, &error),
        SIM_OK, "%s", error.message);
    cr_expect_eq(file.architecture.head_dim, 32);
    cr_expect(file.architecture.ties_embeddings);
}

Test(hf_config, windows_are_those_of_the_family) {
    static const struct {
        const char *text;
        int64_t n_layers, window;
    } cases[] = {
        { LLAMA(", \"sliding_window\": 8"), 4, 8 },
        { LLAMA(", \"sliding_window\": null"), 0, 0 },
        { LLAMA(", \"sliding_window\": 8, \"use_sliding_window\": false"), 0, 0 },
        { LLAMA(", \"sliding_window\": 8, \"use_sliding_window\": true, \"max_window_layers\": 3"), 1, 8 },
        { LLAMA(", \"sliding_window\": 8, \"use_sliding_window\": true, \"max_window_layers\": 9"), 0, 0 },
        { LLAMA(", \"sliding_window\": 8, \"layer_types\": [\"sliding_attention\", 1, \"full_attention\", "
                "\"sliding_attention\"]"),
          2, 8 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_model_file file;
        sim_error error = { 0 };
        cr_assert_eq(parse(cases[i].text, &file, &error), SIM_OK, "%zu: %s", i, error.message);
        cr_expect_eq(file.architecture.n_window_layers, cases[i].n_layers, "%zu", i);
        cr_expect_eq(file.architecture.window_tokens, cases[i].window, "%zu", i);
    }
}

Test(hf_config, what_is_wrong_is_said) {
    static const struct {
        const char *text;
        int line;
        const char *message;
    } cases[] = {
        { "{\n\"a\": 1,\n", 2, "this is not JSON" },
        { "[1]", 1, "the document is no JSON object" },
        { "", 1, "this is not JSON" },
        { "{}", 0, "\"architectures\" is missing (this is no config.json of a model)" },
        { "{\"architectures\": [7]}", 0, "\"architectures\" is missing" },
        { "{\"architectures\": [\"LlamaForCausalML\"]}", 0,
          "the architecture LlamaForCausalML is not known (the nearest known one is LlamaForCausalLM)" },
        { "{\"architectures\": [\"MambaForCausalLM_9\"]}", 0, "the architecture MambaForCausalLM_9 is not known" },
        { "{\"architectures\": [\"LlamaForCausalLM\"]}", 0, "\"num_hidden_layers\" is missing" },
        { "{\"architectures\": [\"LlamaForCausalLM\"], \"num_hidden_layers\": 1.5}", 0,
          "\"num_hidden_layers\" is no count" },
        { "{\"architectures\": [\"LlamaForCausalLM\"], \"num_hidden_layers\": \"4\"}", 0,
          "\"num_hidden_layers\" is no count" },
        { LLAMA(", \"head_dim\": 0"), 0, "model m: head_dim = 0 is out of range" },
        { "{\"architectures\": [\"Qwen3MoeForCausalLM\"], \"decoder_sparse_step\": 2, " SMALL "}", 0,
          "\"decoder_sparse_step\" differs from 1" },
        { "{\"architectures\": [\"Llama4ForCausalLM\"], \"interleave_moe_layer_step\": 0, " SMALL "}", 0,
          "\"interleave_moe_layer_step\" is out of range" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_model_file file;
        sim_error error = { 0 };
        cr_expect_eq(parse(cases[i].text, &file, &error), SIM_USAGE, "%zu", i);
        cr_expect_str_eq(error.file, "m/config.json", "%zu", i);
        cr_expect_eq(error.line, cases[i].line, "%zu: line %lld", i, (long long)error.line);
        cr_expect(strstr(error.message, cases[i].message), "%zu: %s", i, error.message);
    }
}

Test(hf_config, declared_formats_are_read_in_every_dialect) {
    static const struct {
        const char *text;
        fpm_precision weights, moe_weights, kv_cache;
    } cases[] = {
        { "\"quant_method\": \"fp8\"", FPM_FP8, FPM_FP8, FPM_BF16 },
        { "\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]", FPM_FP8_BLOCK, FPM_FP8_BLOCK, FPM_BF16 },
        { "\"quant_method\": \"fp8\", \"modules_to_not_convert\": [\"lm_head\", \"layers.0.self_attn.q_norm\", "
          "\"layers.0.self_attn.indexer.wk\"]",
          FPM_FP8, FPM_FP8, FPM_BF16 },
        { "\"quant_method\": \"mxfp4\", \"modules_to_not_convert\": [\"model.layers.*.self_attn\"]", FPM_BF16,
          FPM_MXFP4, FPM_BF16 },
        { "\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\", \"kv_cache_scheme\": {\"num_bits\": 8}",
          FPM_NVFP4, FPM_NVFP4, FPM_FP8 },
        { "\"quant_algo\": \"NVFP4\", \"exclude_modules\": [\"layers.0.linear_attn*\"]", FPM_BF16, FPM_NVFP4,
          FPM_BF16 },
        { "\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": {\"weights\": {\"num_bits\": 4, "
          "\"type\": \"int\"}}}, \"ignore\": [\"re:.*self_attn.*\"]",
          FPM_BF16, FPM_INT4, FPM_BF16 },
        { "\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"g\": {\"weights\": {\"num_bits\": 8, "
          "\"type\": "
          "\"float\", \"strategy\": \"block\"}}}",
          FPM_FP8_BLOCK, FPM_FP8_BLOCK, FPM_BF16 },
        { "\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"g\": {\"weights\": {\"num_bits\": 8, "
          "\"type\": "
          "\"int\"}}}",
          FPM_INT8, FPM_INT8, FPM_BF16 },
        { "\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"g\": {\"weights\": {\"num_bits\": 4, "
          "\"type\": "
          "\"float\", \"group_size\": 16}}}",
          FPM_NVFP4, FPM_NVFP4, FPM_BF16 },
        { "\"quant_method\": \"awq\", \"bits\": 4", FPM_INT4, FPM_INT4, FPM_BF16 },
        { "\"quant_method\": \"gptq\", \"bits\": 8", FPM_INT8, FPM_INT8, FPM_BF16 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, LLAMA(", \"quantization_config\": {%s}"), cases[i].text);
        sim_model_file file;
        sim_error error = { 0 };
        cr_assert_eq(parse(text, &file, &error), SIM_OK, "%zu: %s", i, error.message);
        cr_expect(file.formats.is_declared && !*file.formats.unknown, "%zu", i);
        cr_expect_eq(file.formats.weights, cases[i].weights, "%zu", i);
        cr_expect_eq(file.formats.moe_weights, cases[i].moe_weights, "%zu", i);
        cr_expect_eq(file.formats.kv_cache, cases[i].kv_cache, "%zu", i);
    }
    static const char *const unknown[][2] = {
        { "\"quant_method\": \"magic\"", "magic" },
        { "\"quant_algo\": \"W2A2\"", "W2A2" },
        { "\"quant_method\": \"awq\", \"bits\": 3", "awq" },
        { "\"quant_method\": \"compressed-tensors\"", "compressed-tensors" },
        { "", "of no name" },
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char text[1024];
        snprintf(text, sizeof text, LLAMA(", \"quantization_config\": {%s}"), unknown[i][0]);
        sim_model_file file;
        cr_assert_eq(parse(text, &file, NULL), SIM_OK);
        cr_expect_str_eq(file.formats.unknown, unknown[i][1]);
    }
}

Test(hf_config, model_opt_keeps_the_formats_in_a_file_of_its_own) {
    sim_declared_formats formats = { 0 };
    sim_error error = { 0 };
    static const char well[] = "{\"quantization\": {\"quant_algo\": \"FP8\", \"kv_cache_quant_algo\": \"FP8\"}}";
    cr_assert_eq(sim_hf_formats_parse(&formats, well, strlen(well), "q", &error), SIM_OK, "%s", error.message);
    cr_expect_eq(formats.weights, FPM_FP8);
    cr_expect_eq(formats.kv_cache, FPM_FP8);
    cr_expect_eq(sim_hf_formats_parse(&formats, "{}", 2, "q", &error), SIM_USAGE);
    cr_expect(strstr(error.message, "no \"quantization\" object"));
    cr_expect_eq(sim_hf_formats_parse(&formats, "{", 1, "q", &error), SIM_USAGE);
}

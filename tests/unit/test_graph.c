// SPDX-License-Identifier: GPL-3.0-or-later
//
// The operators of known models, by hand.
#include "perfmodel/native/graph.h"

#include <criterion/criterion.h>
#include <math.h>

#include "tests/support/native_cases.h"

static native_case *deploy(const char *const *sets) {
    sim_error error = { 0 };
    native_case *c = native_case_new(sets, &error);
    cr_assert(c, "%s", error.message);
    return c;
}

static const fpm_operation *find(const fpm_graph *graph, const char *name) {
    for (size_t i = 0; i < graph->n_operations; i++)
        if (strcmp(graph->operations[i].name, name) == 0) return &graph->operations[i];
    return NULL;
}

typedef struct product {
    const char *name;
    double count, n, k;
    fpm_driver driver;
} product;

static void expect_products(const fpm_graph *graph, const product *products, size_t n) {
    size_t n_products = 0;
    for (size_t i = 0; i < graph->n_operations; i++) n_products += graph->operations[i].kind == FPM_OPERATION_GEMM;
    cr_expect_eq(n_products, n);
    for (size_t i = 0; i < n; i++) {
        const fpm_operation *o = find(graph, products[i].name);
        cr_assert(o && o->kind == FPM_OPERATION_GEMM, "%s", products[i].name);
        cr_expect(o->count == products[i].count && o->shape.gemm.n == products[i].n &&
                      o->shape.gemm.k == products[i].k && o->driver == products[i].driver,
                  "%s: %g times %g x %g", o->name, o->count, o->shape.gemm.n, o->shape.gemm.k);
    }
}

static void expect_collective(const fpm_graph *graph, const char *name, double count, fpm_collective collective,
                              double ranks, double bytes) {
    const fpm_operation *o = find(graph, name);
    cr_assert(o && o->kind == FPM_OPERATION_COLLECTIVE, "%s", name);
    cr_expect(o->count == count && o->shape.collective.collective == collective && o->shape.collective.ranks == ranks &&
                  o->shape.collective.bytes_per_token == bytes,
              "%s: %g of %g ranks, %g bytes", name, o->count, o->shape.collective.ranks,
              o->shape.collective.bytes_per_token);
}

#define PRODUCTS(array) array, sizeof array / sizeof *array

// llama-3.1-8b: 32 layers, hidden 4096, 32 heads and 8 key heads of 128, feed-forward 14336, vocabulary 128256.
Test(graph, llama_on_one_gpu_and_on_two) {
    static const product one[] = {
        { "qkv_proj", 32, (32 + 2 * 8) * 128, 4096, FPM_DRIVER_TOKENS },
        { "o_proj", 32, 4096, 4096, FPM_DRIVER_TOKENS },
        { "gate_up_proj", 32, 2 * 14336, 4096, FPM_DRIVER_TOKENS },
        { "down_proj", 32, 4096, 14336, FPM_DRIVER_TOKENS },
        { "lm_head", 1, 128256, 4096, FPM_DRIVER_ROWS },
    };
    static const product two[] = {
        { "qkv_proj", 32, (16 + 2 * 4) * 128, 4096, FPM_DRIVER_TOKENS },
        { "o_proj", 32, 4096, 2048, FPM_DRIVER_TOKENS },
        { "gate_up_proj", 32, 14336, 4096, FPM_DRIVER_TOKENS },
        { "down_proj", 32, 4096, 7168, FPM_DRIVER_TOKENS },
        { "lm_head", 1, 64128, 4096, FPM_DRIVER_ROWS },
    };
    native_case *c =
        deploy((const char *[]){ NATIVE_CONFIGS, "model.name=llama-3.1-8b", "system.name=h100_sxm", NULL });
    expect_products(&c->graph, PRODUCTS(one));
    for (size_t i = 0; i < c->graph.n_operations; i++)
        cr_expect_neq(c->graph.operations[i].kind, FPM_OPERATION_COLLECTIVE); // nobody to talk to
    native_case_free(c);
    c = deploy((const char *[]){ NATIVE_CONFIGS, "model.name=llama-3.1-8b", "system.name=h100_sxm", "parallel.tensor=2",
                                 NULL });
    expect_products(&c->graph, PRODUCTS(two));
    expect_collective(&c->graph, "embedding_all_reduce", 1, FPM_ALL_REDUCE, 2, 2 * 4096);
    expect_collective(&c->graph, "attention_all_reduce", 32, FPM_ALL_REDUCE, 2, 2 * 4096);
    expect_collective(&c->graph, "ffn_all_reduce", 32, FPM_ALL_REDUCE, 2, 2 * 4096);
    expect_collective(&c->graph, "logits_gather", 1, FPM_ALL_GATHER, 2, 2 * 128256);
    native_case_free(c);
}

// qwen3-235b-a22b: 94 layers, hidden 4096, 64 heads and 4 key heads of 128, 128 experts of 1536, 8 a token.
Test(graph, experts_within_a_tensor_group) {
    static const product products[] = {
        { "qkv_proj", 94, (16 + 2 * 1) * 128, 4096, FPM_DRIVER_TOKENS },
        { "o_proj", 94, 4096, 16 * 128, FPM_DRIVER_TOKENS },
        { "router", 94, 128, 4096, FPM_DRIVER_TOKENS },
        { "lm_head", 1, 151936 / 4, 4096, FPM_DRIVER_ROWS },
    };
    native_case *c =
        deploy((const char *[]){ NATIVE_CONFIGS, "model.name=qwen3-235b-a22b", "system.name=h200_sxm",
                                 "parallel.tensor=4", "parallel.expert=4", "model.weights=fp8_block", NULL });
    expect_products(&c->graph, PRODUCTS(products));
    expect_collective(&c->graph, "expert_all_reduce", 94, FPM_ALL_REDUCE, 4, 2 * 4096);
    const fpm_operation *experts = find(&c->graph, "experts");
    cr_assert(experts && experts->kind == FPM_OPERATION_MOE);
    const fpm_moe_shape *moe = &experts->shape.moe.shape;
    cr_expect(experts->count == 94 && experts->shape.moe.weights == FPM_FP8_BLOCK && moe->hidden == 4096 &&
              moe->intermediate == 1536 && moe->n_experts == 128 && moe->experts_per_token == 8 && moe->tensor == 1 &&
              moe->expert == 4 && moe->imbalance > 1 && moe->imbalance < 4);
    cr_expect_eq(find(&c->graph, "router")->shape.gemm.weights, FPM_BF16);
    cr_expect_null(find(&c->graph, "gate_up_proj")); // no dense layers, no shared experts
    cr_expect_null(find(&c->graph, "shared_gate_up_proj"));
    native_case_free(c);
}

// deepseek-v3: 61 layers, hidden 7168, 128 heads, q 1536, kv 512, nope 128, rope 64, value 128; 3 dense layers of 18432, 58 of 256 experts of 2048 and a
// shared one. Data parallel: every rank has whole attention; experts are spread, their tokens gathered and scattered.
Test(graph, latent_attention_with_data_parallel_experts) {
    static const product products[] = {
        { "qkv_a_proj", 61, 1536 + 512 + 64, 7168, FPM_DRIVER_TOKENS },
        { "q_b_proj", 61, 128 * 192, 1536, FPM_DRIVER_TOKENS },
        { "kv_b_proj", 61, 128 * 256, 512, FPM_DRIVER_PREFILL_TOKENS },
        { "o_proj", 61, 7168, 128 * 128, FPM_DRIVER_TOKENS },
        { "gate_up_proj", 3, 2 * 18432, 7168, FPM_DRIVER_TOKENS },
        { "down_proj", 3, 7168, 18432, FPM_DRIVER_TOKENS },
        { "shared_gate_up_proj", 58, 2 * 2048, 7168, FPM_DRIVER_TOKENS },
        { "shared_down_proj", 58, 7168, 2048, FPM_DRIVER_TOKENS },
        { "router", 58, 256, 7168, FPM_DRIVER_TOKENS },
        { "lm_head", 1, 129280, 7168, FPM_DRIVER_ROWS },
    };
    native_case *c = deploy(native_cases[5]);
    expect_products(&c->graph, PRODUCTS(products));
    expect_collective(&c->graph, "expert_gather", 58, FPM_ALL_GATHER, 8, 2 * 7168);
    expect_collective(&c->graph, "expert_scatter", 58, FPM_REDUCE_SCATTER, 8, 2 * 7168);
    cr_expect_eq(find(&c->graph, "experts")->driver, FPM_DRIVER_SHARED_TOKENS);
    cr_expect_eq(find(&c->graph, "latent_attention_prefill")->count, 61);
    cr_expect_eq(find(&c->graph, "latent_attention_decode")->term, FPM_TERM_LATENT_DECODE);
    native_case_free(c);
}

// gpt-oss-20b: half of the layers see 128 tokens. qwen3.5-397b: three layers of four are gated delta nets.
Test(graph, layers_of_two_kinds_of_attention) {
    native_case *c = deploy(native_cases[7]);
    cr_expect_eq(find(&c->graph, "attention_decode")->count, 12);
    cr_expect_eq(find(&c->graph, "window_attention_decode")->count, 12);
    cr_expect_eq(find(&c->graph, "window_attention_decode")->shape.attention.window_tokens, 128);
    native_case_free(c);
    c = deploy(native_cases[8]);
    const double n_layers = (double)c->native.architecture.n_layers;
    cr_expect_eq(find(&c->graph, "gated_delta_decode")->count, n_layers * 3 / 4);
    cr_expect_eq(find(&c->graph, "attention_decode")->count, n_layers / 4);
    native_case_free(c);
}

// Without norms and embedding, every parameter stands in one matrix product: 2 FLOPs and 2 bytes each.
Test(graph, products_have_the_parameters_of_the_model) {
    static const char *const models[] = { "llama-3.1-8b", "llama-2-70b", "qwen3-32b", "qwen2.5-7b", "yi-34b" };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char name[64];
        snprintf(name, sizeof name, "model.name=%s", models[i]);
        native_case *c = deploy((const char *[]){ NATIVE_CONFIGS, name, "system.name=b200_sxm", NULL });
        double weights = 0;
        for (size_t o = 0; o < c->graph.n_operations; o++)
            if (c->graph.operations[o].kind == FPM_OPERATION_GEMM)
                weights += c->graph.operations[o].count * c->graph.operations[o].shape.gemm.n *
                           c->graph.operations[o].shape.gemm.k;
        const fpm_architecture *a = &c->native.architecture;
        const double parameters =
            fpm_architecture_parameters(a) - (a->ties_embeddings ? 0 : (double)(a->vocab * a->hidden));
        cr_expect_float_eq(weights / parameters, 1, 1e-3, "%s: %g of %g", models[i], weights, parameters);
        native_case_free(c);
    }
}

// One layer's share of the hardware, 32 decodes with 1000 tokens of context: FLOPs over the peak, bytes over the bandwidth.
Test(graph, flops_and_bytes_of_llama_by_hand) {
    native_case *c =
        deploy((const char *[]){ NATIVE_CONFIGS, "model.name=llama-3.1-8b", "system.name=h100_sxm", NULL });
    const fpm_metrics pass = native_pass(0, 0, 0, 32, 32000);
    const fpm_batch batch = fpm_batch_of(&pass);
    const double peak = c->native.system.flops_per_s[FPM_ARITHMETIC_BF16] / 1e3,
                 bandwidth = c->native.system.memory_bytes_per_s / 1e3;
    const struct {
        const char *name;
        double flops, bytes;
    } wanted[] = {
        { "qkv_proj", 2.0 * 32 * 6144 * 4096, 2.0 * (6144 * 4096 + 32 * 4096 + 32 * 6144) },
        { "down_proj", 2.0 * 32 * 4096 * 14336, 2.0 * (4096 * 14336 + 32 * 14336 + 32 * 4096) },
        // scores and values: 2 x 2 x 32 heads x 128 a pair; keys and values of 8 heads, query and output of 32
        { "attention_decode", 4.0 * 32 * 128 * 32000, 2.0 * 2 * 8 * 128 * 32000 + 2.0 * 2 * 32 * 128 * 32 },
        { "attention_norm", 0, 2.0 * 4 * 4096 * 32 },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const fpm_price price = fpm_operation_price(find(&c->graph, wanted[i].name), &c->prices.operators, &batch);
        cr_expect_float_eq(price.peak_compute_ms, 32 * wanted[i].flops / peak, 1e-9, "%s: %g", wanted[i].name,
                           price.peak_compute_ms);
        cr_expect_float_eq(price.peak_memory_ms, 32 * wanted[i].bytes / bandwidth, 1e-9, "%s: %g", wanted[i].name,
                           price.peak_memory_ms);
        cr_expect_eq(price.bound_ms, fmax(price.peak_compute_ms, price.peak_memory_ms));
    }
    native_case_free(c);
}

Test(graph, constants_are_paid_per_pass_and_per_layer_of_a_kind) {
    native_case *c = deploy(native_cases[5]); // latent, experts, tensor = 1
    const double *times = c->graph.constants;
    cr_expect_eq(times[FPM_TERM_PASS], 1);
    cr_expect_eq(times[FPM_TERM_LAYER], 61);
    cr_expect_eq(times[FPM_TERM_MOE_LAYER], 58);
    cr_expect_eq(times[FPM_TERM_LATENT_LAYER], 61);
    cr_expect_eq(times[FPM_TERM_SPARSE_LAYER], 0);
    cr_expect_eq(times[FPM_TERM_TENSOR_LAYER], 0);
    cr_expect_eq(times[FPM_TERM_LINEAR_LAYER], 0);
    cr_expect_eq(times[FPM_TERM_PREFILL_PASS], 1);
    cr_expect_eq(times[FPM_TERM_PREFILL_LAYER], 61);
    cr_expect_eq(times[FPM_TERM_REQUEST] + times[FPM_TERM_PROMPT], 0); // by the batch, not by the graph
    native_case_free(c);
    c = deploy(native_cases[6]); // sparse, tensor = 8
    cr_expect_eq(c->graph.constants[FPM_TERM_SPARSE_LAYER], 61);
    cr_expect_eq(c->graph.constants[FPM_TERM_TENSOR_LAYER], 61);
    native_case_free(c);
}

Test(graph, a_pipeline_sends_between_its_stages) {
    native_case *c = deploy(native_cases[3]);
    const fpm_operation *send = find(&c->graph, "pipeline_send");
    cr_assert(send && send->kind == FPM_OPERATION_SEND);
    cr_expect_eq(send->count, 1);
    cr_expect_eq(send->shape.bytes_per_token, 2 * 8192);
    native_case_free(c);
}

Test(graph, a_window_cuts_the_sums_of_attention) {
    const fpm_batch batch = { .prefill_tokens = 100,
                              .n_prefills = 2,
                              .prefill_pairs = 42500,
                              .prefill_kv_tokens = 900,
                              .n_decodes = 3,
                              .decode_kv_tokens = 3000 };
    fpm_attention_sums s = fpm_batch_attention(&batch, FPM_DRIVER_PREFILL_ATTENTION, 0);
    cr_expect(s.pairs == 42500 && s.kv_tokens == 900 && s.tokens == 100 && s.requests == 2);
    s = fpm_batch_attention(&batch, FPM_DRIVER_PREFILL_ATTENTION, 50);
    cr_expect(s.pairs == 5000 && s.kv_tokens == 200 && s.tokens == 100); // 100 queries x 50; the fresh ones and 2 x 50
    s = fpm_batch_attention(&batch, FPM_DRIVER_PREFILL_ATTENTION, 425);
    // two of 50 after 400: 25 queries see 400 to 425, the other 25 see 425
    cr_expect_float_eq(s.pairs, 2 * (25 * 412.5 + 25 * 425), 1e-9);
    s = fpm_batch_attention(&batch, FPM_DRIVER_DECODE_ATTENTION, 0);
    cr_expect(s.pairs == 3000 && s.kv_tokens == 3000 && s.tokens == 3 && s.requests == 3);
    s = fpm_batch_attention(&batch, FPM_DRIVER_DECODE_ATTENTION, 64);
    cr_expect(s.pairs == 192 && s.kv_tokens == 192);
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// What must hold for every shipped model on every shipped system that it fits: no pass beats the hardware, more work never takes less time, and a prompt in
// chunks never takes less time than in one piece.
#include <criterion/criterion.h>
#include <math.h>

#include "sim/deployment/data_files.h"
#include "tests/support/dice.h"
#include "tests/support/native_deployment.h"

enum { MAX_TENSOR = 8, N_BATCHES = 12 };
static const double SLACK = 1 - 2e-4; // straight lines between the knots of the plan

// ---------------------------------------------------------------------------------------------------------------------
// Deployments
// ---------------------------------------------------------------------------------------------------------------------

static bool fits(const native_case *c) {
    const fpm_memory_options options = { c->native.backend, 0.9, 16, 8192, 256 };
    fpm_memory_budget budget;
    return fpm_memory_plan(&budget, &c->native.architecture, &c->native.system, &c->native.layout,
                           &c->native.quantisation, &options, NULL) == FPM_OK;
}

// Kernels alone: what the engine adds to a pass would hide what splitting it saves.
#define NO_OVERHEAD                                                                                              \
    "calibration.pass_us=0", "calibration.request_us=0", "calibration.layer_us=0", "calibration.moe_layer_us=0", \
        "calibration.latent_layer_us=0", "calibration.sparse_layer_us=0", "calibration.linear_layer_us=0",       \
        "calibration.tensor_layer_us=0", "calibration.prefill_pass_us=0", "calibration.prefill_layer_us=0",      \
        "calibration.prompt_us=0"

static native_case *deploy_sets(char (*sets)[96], bool is_data_parallel, bool has_overhead) {
    sim_error error;
    const char *expert = is_data_parallel ? sets[5] : sets[4]; // else the same again
    return has_overhead ? native_case_new((const char *[]){ NATIVE_CONFIGS, sets[0], sets[1], sets[2], sets[3], sets[4],
                                                            expert, NULL },
                                          &error)
                        : native_case_new((const char *[]){ NATIVE_CONFIGS, sets[0], sets[1], sets[2], sets[3], sets[4],
                                                            expert, NO_OVERHEAD, NULL },
                                          &error);
}

// The smallest tensor that fits, in a random format and backend, with or without data parallelism over the experts; NULL: none does.
static native_case *deploy(const char *model, const char *system) {
    static const char *const weights[] = { "bf16", "bf16", "fp8", "fp8_block", "nvfp4", "mxfp4", "int4", "int8" };
    static const char *const backends[] = { "vllm", "sglang", "trtllm" };
    const uint64_t format = dice(8), is_data_parallel = dice(2), has_overhead = dice(2);
    for (int tensor = 1; tensor <= MAX_TENSOR; tensor *= 2) {
        char sets[6][96];
        snprintf(sets[0], sizeof sets[0], "model.name=%s", model);
        snprintf(sets[1], sizeof sets[1], "system.name=%s", system);
        snprintf(sets[2], sizeof sets[2], "model.weights=%s", weights[format]);
        snprintf(sets[3], sizeof sets[3], "engine.backend=%s", backends[dice(3)]);
        snprintf(sets[4], sizeof sets[4], "parallel.%s=%d", is_data_parallel ? "data" : "tensor", tensor);
        snprintf(sets[5], sizeof sets[5], "parallel.expert=%d", is_data_parallel ? tensor : 1);
        native_case *c = deploy_sets(sets, is_data_parallel, has_overhead);
        if (c && fits(c)) return c;
        native_case_free(c);
    }
    return NULL;
}

typedef void (*property)(const native_case *c, const char *name);

static void on_every_pair(property check, uint64_t seed) {
    sim_data_list models = { 0 }, systems = { 0 };
    sim_error error;
    const char *first = getenv("FOREPASS_SEED");
    dice_state = seed + (first ? strtoull(first, NULL, 10) : 0);
    cr_assert_eq(sim_data_list_read(&models, SOURCE_DIR "/configs", "models", &error), SIM_OK);
    cr_assert_eq(sim_data_list_read(&systems, SOURCE_DIR "/configs", "systems", &error), SIM_OK);
    size_t n_checked = 0;
    for (size_t m = 0; m < models.n_files; m++)
        for (size_t s = 0; s < systems.n_files; s++) {
            native_case *c = deploy(models.files[m].name, systems.files[s].name);
            if (!c) continue;
            char name[200];
            snprintf(name, sizeof name, "%s on %s, tensor %lld, data %lld, %s", models.files[m].name,
                     systems.files[s].name, (long long)c->native.layout.tensor, (long long)c->native.layout.data,
                     fpm_precision_name(c->native.quantisation.weights));
            check(c, name);
            native_case_free(c);
            n_checked++;
        }
    cr_expect_gt(n_checked, models.n_files * systems.n_files / 3, "only %zu pairs", n_checked);
    sim_data_list_clear(&models);
    sim_data_list_clear(&systems);
}

static uint32_t count_up_to(uint64_t octaves) { return (uint32_t)dice(UINT64_C(1) << dice(octaves + 1)); }

static fpm_metrics draw_pass(void) {
    const uint64_t kind = 1 + dice(3);
    const uint32_t prompts = kind & 1 ? 1 + (uint32_t)dice(4) : 0, decodes = kind & 2 ? 1 + count_up_to(10) : 0;
    const uint32_t tokens = prompts ? prompts + count_up_to(14) : 0, past = prompts ? count_up_to(16) : 0;
    return native_pass(prompts, tokens, past, decodes, decodes * count_up_to(14));
}

// ---------------------------------------------------------------------------------------------------------------------
// The hardware
// ---------------------------------------------------------------------------------------------------------------------

static double peak_flops_per_s(const native_case *c, fpm_precision weights) {
    static const fpm_arithmetic arithmetic[FPM_PRECISIONS] = {
        [FPM_BF16] = FPM_ARITHMETIC_BF16, [FPM_FP8] = FPM_ARITHMETIC_FP8,   [FPM_FP8_BLOCK] = FPM_ARITHMETIC_FP8,
        [FPM_MXFP4] = FPM_ARITHMETIC_FP8, [FPM_NVFP4] = FPM_ARITHMETIC_FP4, [FPM_INT8] = FPM_ARITHMETIC_INT8,
        [FPM_INT4] = FPM_ARITHMETIC_BF16
    };
    const double *peaks = c->native.system.flops_per_s;
    return c->native.quantisation.has_16bit_activations ? peaks[FPM_ARITHMETIC_BF16]
                                                        : fmax(peaks[FPM_ARITHMETIC_BF16], peaks[arithmetic[weights]]);
}

// Without a look at the operators: the layers' weights that one token meets, once through the memory of the ranks that share them; 2 FLOPs of each
// and token, over all GPUs of a stage; the cache of every decode, once.
static double floor_ms(const native_case *c, const fpm_metrics *pass) {
    const fpm_architecture *a = &c->native.architecture;
    const fpm_layout *l = &c->native.layout;
    const fpm_quantisation *q = &c->native.quantisation;
    const double tables = (a->ties_embeddings ? 1.0 : 2.0) * (double)(a->vocab * a->hidden);
    const double weights =
        0.98 * (fpm_architecture_active_parameters(a) - tables); // norms and the like are no products
    const double bytes = weights * fmin(fpm_precision_bytes(q->weights), fpm_precision_bytes(q->moe_weights));
    const double gpus = (double)(l->tensor * l->data), tokens = fpm_batch_of(pass).tokens;
    const double peak = fmax(peak_flops_per_s(c, q->weights), peak_flops_per_s(c, q->moe_weights));
    double kv_bytes = 0;
    if (a->n_window_layers == 0 && a->n_linear_layers == 0 && a->attention != FPM_ATTENTION_SPARSE)
        kv_bytes = (double)pass->scheduled.sum_decode_kv_tokens *
                   fpm_kv_bytes_per_token(a, &(fpm_layout){ l->tensor, 1, l->data, l->expert, l->moe_tensor }, q);
    const double memory_ms = 1e3 * (bytes / gpus + kv_bytes) / c->native.system.memory_bytes_per_s;
    const double compute_ms = 1e3 * 2 * weights * tokens * (double)l->data / gpus / peak;
    return fmax(memory_ms, compute_ms);
}

static void expect_above_the_hardware(const native_case *c, const char *name) {
    static fpm_explanation e;
    for (int i = 0; i < N_BATCHES; i++) {
        const fpm_metrics pass = draw_pass();
        fpm_batch batch = fpm_batch_of(&pass);
        batch.shared_tokens = batch.tokens * (double)c->native.layout.data;
        fpm_explain(&e, &c->graph, &c->prices.operators, c->prices.has_curves, &c->calibration, &batch);
        const double ms = native_case_ms(c, &pass), floor = floor_ms(c, &pass);
        cr_expect(ms >= SLACK * e.bound_ms, "%s: %g ms, operators cannot beat %g", name, ms, e.bound_ms);
        cr_expect(ms >= SLACK * floor, "%s: %g ms, the hardware cannot beat %g (%u + %u tokens)", name, ms, floor,
                  pass.scheduled.sum_prefill_tokens, pass.scheduled.num_decode_requests);
    }
}

Test(native_properties, no_pass_beats_the_hardware, .timeout = 120) { on_every_pair(expect_above_the_hardware, 1); }

// ---------------------------------------------------------------------------------------------------------------------
// Growth
// ---------------------------------------------------------------------------------------------------------------------

static void expect_growth(const native_case *c, const char *name) {
    static const char *const arguments[] = { "prefill tokens", "prefill kv tokens", "decodes", "decode kv tokens" };
    for (int i = 0; i < N_BATCHES; i++) {
        const fpm_metrics pass = draw_pass();
        const double ms = native_case_ms(c, &pass);
        for (int argument = 0; argument < 4; argument++) {
            fpm_metrics more = pass;
            uint32_t *fields[] = { &more.scheduled.sum_prefill_tokens, &more.scheduled.sum_prefill_kv_tokens,
                                   &more.scheduled.num_decode_requests, &more.scheduled.sum_decode_kv_tokens };
            if ((argument < 2 ? pass.scheduled.num_prefill_requests : pass.scheduled.num_decode_requests) == 0)
                continue;
            *fields[argument] += dice(2) ? 1 : 1 + count_up_to(14);
            const double more_ms = native_case_ms(c, &more);
            cr_expect(more_ms >= ms, "%s: more %s, %u, take %.12g ms instead of %.12g", name, arguments[argument],
                      *fields[argument], more_ms, ms);
        }
    }
}

Test(native_properties, more_tokens_requests_or_context_never_take_less_time, .timeout = 120) {
    on_every_pair(expect_growth, 2);
}

static fpm_metrics chunk(uint32_t tokens, uint32_t past, bool ends) {
    fpm_metrics pass = native_pass(1, tokens, past, 0, 0);
    pass.moments = (fpm_moments){ .sum_prefill_attention = (double)tokens * ((double)past + 0.5 * (double)tokens),
                                  .max_context_tokens = past + tokens,
                                  .num_finished_prompts = ends,
                                  .is_present = true };
    return pass;
}

static void expect_chunks_to_cost(const native_case *c, const char *name) {
    for (int i = 0; i < N_BATCHES; i++) {
        const uint32_t prompt = 2 + count_up_to(16), past = (uint32_t)dice(2) * count_up_to(14),
                       size = 1 + (uint32_t)dice(prompt);
        const fpm_metrics whole = chunk(prompt, past, true);
        double chunks_ms = 0;
        for (uint32_t done = 0, n = 0; done < prompt && n < 1000; n++) {
            const uint32_t tokens = prompt - done < size || n == 999 ? prompt - done : size;
            const fpm_metrics part = chunk(tokens, past + done, done + tokens == prompt);
            chunks_ms += native_case_ms(c, &part);
            done += tokens;
        }
        const double ms = native_case_ms(c, &whole);
        cr_expect(chunks_ms >= SLACK * ms, "%s: %u tokens after %u by %u take %g ms, in one piece %g", name, prompt,
                  past, size, chunks_ms, ms);
    }
}

Test(native_properties, chunks_of_a_prompt_never_take_less_time_than_the_whole, .timeout = 120) {
    on_every_pair(expect_chunks_to_cost, 3);
}

static void expect_neighbours_to_cost(const native_case *c, const char *name) {
    fpm_metrics ranks[MAX_TENSOR];
    const size_t n = (size_t)c->native.layout.data;
    double ms = 0;
    for (size_t i = 0; i < n; i++) ranks[i] = fpm_metrics_idle();
    for (size_t i = 0; i < n; i++) {
        double more_ms = -1;
        ranks[i] = draw_pass();
        cr_assert_eq(fpm_estimate_ms(c->estimator, ranks, n, &more_ms, NULL), FPM_OK);
        cr_expect(more_ms >= ms, "%s: a %zuth busy rank takes %g ms instead of %g", name, i + 1, more_ms, ms);
        ms = more_ms;
    }
}

Test(native_properties, work_on_another_rank_never_makes_a_pass_shorter, .timeout = 120) {
    on_every_pair(expect_neighbours_to_cost, 4);
}

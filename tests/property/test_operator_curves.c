// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every shipped curve, through the system files that name it, over the shapes that the shipped models have under tensor and expert parallelism: prices
// grow with every dimension, stay above the bound of the hardware and have no cliffs. Shapes are drawn at random from a fixed seed.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/deployment/data_files.h"
#include "sim/deployment/model_file.h"
#include "sim/deployment/operator_curves.h"
#include "sim/deployment/system_file.h"

#define CONFIGS SOURCE_DIR "/configs"
enum { MAX_MODELS = 64, MAX_SYSTEMS = 64, N_SHAPES = 40 };
static const double step = 1.05, cliff = 1.25;

typedef struct world {
    fpm_architecture models[MAX_MODELS];
    size_t n_models;
    sim_system_file systems[MAX_SYSTEMS];
    size_t n_systems;
    uint64_t seed;
} world;

static uint64_t draw(world *w, uint64_t n) { // splitmix64
    uint64_t z = w->seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % n;
}

static double draw_between(world *w, double low, double high) {
    return floor(low * pow(high / low, (double)draw(w, 1u << 20) / (1u << 20)));
}

static world *new_world(void) {
    world *w = calloc(1, sizeof *w);
    w->seed = 20261201;
    sim_data_list list;
    sim_error error = { 0 };
    cr_assert_eq(sim_data_list_read(&list, CONFIGS, "models", &error), SIM_OK, "%s", error.message);
    for (size_t i = 0; i < list.n_files && w->n_models < MAX_MODELS; i++) {
        sim_model_file file;
        cr_assert_eq(sim_model_file_load(&file, list.files[i].path, &error), SIM_OK, "%s", error.message);
        w->models[w->n_models++] = file.architecture;
    }
    sim_data_list_clear(&list);
    cr_assert_eq(sim_data_list_read(&list, CONFIGS, "systems", &error), SIM_OK, "%s", error.message);
    for (size_t i = 0; i < list.n_files && w->n_systems < MAX_SYSTEMS; i++)
        cr_assert_eq(sim_system_file_load(&w->systems[w->n_systems++], list.files[i].path, &error), SIM_OK, "%s",
                     error.message);
    sim_data_list_clear(&list);
    cr_assert(w->n_models > 10 && w->n_systems > 8);
    return w;
}

static void load(fpm_operators *operators, const sim_system_file *file, fpm_backend backend) {
    sim_error error = { 0 };
    bool is_measured;
    cr_assert_eq(sim_system_curves_load(operators, &is_measured, CONFIGS, &file->system, file->operators,
                                        file->collectives, backend, &error),
                 SIM_OK, "%s", error.message);
}

// ---------------------------------------------------------------------------------------------------------------------
// One dimension of one shape, walked along in steps of a twentieth
// ---------------------------------------------------------------------------------------------------------------------

typedef struct shape shape;
typedef fpm_price (*price_fn)(const shape *of, const fpm_operators *operators, double size);
struct shape {
    char name[200];
    price_fn price;
    double from, to;
    fpm_precision weights;
    bool is_16bit;
    double n, k; // gemm
    fpm_moe_shape moe;
    fpm_collective collective;
    double ranks;
    fpm_attention_form form;
    double requests, fresh, past; // attention; the one that is walked along is left out
};

static void walk(const shape *of, const fpm_operators *operators) {
    double before = 0;
    for (double size = of->from; size <= of->to; size *= step) {
        const fpm_price price = of->price(of, operators, size);
        const char *system = operators->system->name;
        const int backend = (int)operators->backend;
        cr_assert(isfinite(price.ms) && price.ms > 0, "%s %d %s at %g: %g", system, backend, of->name, size, price.ms);
        cr_assert(price.ms >= price.bound_ms * (1 - 1e-9), "%s %d %s at %g: %g below the bound %g", system, backend,
                  of->name, size, price.ms, price.bound_ms);
        cr_assert(price.ms >= before * (1 - 1e-9), "%s %d %s at %g: %g falls from %g", system, backend, of->name, size,
                  price.ms, before);
        cr_assert(before <= 0 || price.ms <= before * cliff, "%s %d %s at %g: %g leaps from %g", system, backend,
                  of->name, size, price.ms, before);
        before = price.ms;
    }
}

static void everywhere(void (*draw_shape)(world *w, const fpm_operators *operators, shape *of)) {
    world *w = new_world();
    fpm_operators *operators = malloc(sizeof *operators);
    for (size_t i = 0; i < w->n_systems; i++) {
        for (int backend = 0; backend < FPM_BACKENDS; backend++) {
            load(operators, &w->systems[i], (fpm_backend)backend);
            for (int n = 0; n < N_SHAPES; n++) {
                shape of = { .name = "" };
                draw_shape(w, operators, &of);
                walk(&of, operators);
            }
        }
    }
    free(operators);
    free(w);
}

static const fpm_architecture *draw_model(world *w) { return &w->models[draw(w, w->n_models)]; }
static double draw_ranks(world *w) { return (double)(1u << draw(w, 4)); }
static double share(double whole, double ranks) { return ceil(whole / ranks); }

static fpm_precision draw_precision(world *w, bool *is_16bit) {
    const fpm_precision precision = (fpm_precision)draw(w, FPM_PRECISIONS);
    *is_16bit = precision != FPM_BF16 && draw(w, 2);
    return precision;
}

// ---------------------------------------------------------------------------------------------------------------------
// Matrix products and experts
// ---------------------------------------------------------------------------------------------------------------------

static fpm_price price_gemm(const shape *of, const fpm_operators *operators, double m) {
    return fpm_gemm_price(operators, of->weights, of->is_16bit, m, of->n, of->k);
}

static void draw_gemm(world *w, const fpm_operators *operators, shape *of) {
    (void)operators;
    const fpm_architecture *a = draw_model(w);
    const double tensor = draw_ranks(w), h = (double)a->hidden;
    const double heads = (double)a->n_heads, dim = (double)(a->head_dim ? a->head_dim : a->value_dim);
    const double ffn = (double)(a->intermediate ? a->intermediate : a->expert_intermediate);
    const double shapes[5][2] = { { share((heads + 2 * (double)a->n_kv_heads) * dim, tensor), h },
                                  { h, share(heads * dim, tensor) },
                                  { share(2 * ffn, tensor), h },
                                  { h, share(ffn, tensor) },
                                  { share((double)a->vocab, tensor), h } };
    const size_t which = draw(w, 5);
    of->price = price_gemm;
    of->weights = draw_precision(w, &of->is_16bit);
    of->n = shapes[which][0];
    of->k = shapes[which][1];
    of->from = 1;
    of->to = 16384;
    snprintf(of->name, sizeof of->name, "gemm %s%s n %g k %g, m", fpm_precision_name(of->weights),
             of->is_16bit ? "_a16" : "", of->n, of->k);
}

Test(operator_curves, matrix_products_grow_smoothly_with_rows_and_stay_above_the_bound) { everywhere(draw_gemm); }

static fpm_price price_moe(const shape *of, const fpm_operators *operators, double tokens) {
    return fpm_moe_price(operators, of->weights, of->is_16bit, &of->moe, tokens);
}

static void draw_moe(world *w, const fpm_operators *operators, shape *of) {
    (void)operators;
    const fpm_architecture *a;
    do a = draw_model(w);
    while (a->n_experts == 0);
    const bool cuts_experts = draw(w, 2);
    of->price = price_moe;
    of->weights = draw_precision(w, &of->is_16bit);
    of->moe = (fpm_moe_shape){ .hidden = (double)a->hidden,
                               .intermediate = (double)a->expert_intermediate,
                               .n_experts = (double)a->n_experts,
                               .experts_per_token = (double)a->experts_per_token,
                               .tensor = cuts_experts ? draw_ranks(w) : 1,
                               .expert = cuts_experts ? 1 : draw_ranks(w),
                               .skew = (double)draw(w, 13) / 10 };
    of->moe.imbalance = fpm_moe_imbalance(&of->moe);
    of->from = 1;
    of->to = 65536;
    snprintf(of->name, sizeof of->name, "moe %s %s%s tensor %g expert %g skew %g, tokens", a->name,
             fpm_precision_name(of->weights), of->is_16bit ? "_a16" : "", of->moe.tensor, of->moe.expert, of->moe.skew);
}

Test(operator_curves, experts_grow_smoothly_with_tokens_and_stay_above_the_bound) { everywhere(draw_moe); }

static fpm_price price_collective(const shape *of, const fpm_operators *operators, double bytes) {
    return fpm_collective_price(operators, of->collective, of->ranks, bytes);
}

static void draw_collective(world *w, const fpm_operators *operators, shape *of) {
    (void)operators;
    of->price = price_collective;
    of->collective = (fpm_collective)draw(w, FPM_COLLECTIVES);
    of->ranks = 2 * draw_ranks(w);
    of->from = 256;
    of->to = 2e9;
    snprintf(of->name, sizeof of->name, "collective %d of %g ranks, bytes", (int)of->collective, of->ranks);
}

Test(operator_curves, collectives_grow_smoothly_with_bytes_and_stay_above_the_bound) { everywhere(draw_collective); }

// ---------------------------------------------------------------------------------------------------------------------
// Attention
// ---------------------------------------------------------------------------------------------------------------------

static fpm_price price_prefill(const shape *of, double requests, double fresh, double past) {
    const fpm_attention_sums sums = { .pairs = requests * fresh * (past + fresh / 2),
                                      .kv_tokens = requests * (past + fresh),
                                      .tokens = requests * fresh,
                                      .requests = requests };
    return fpm_attention_price(&of->form, &sums);
}
static fpm_price price_prefill_fresh(const shape *of, const fpm_operators *operators, double fresh) {
    (void)operators;
    return price_prefill(of, of->requests, fresh, of->past);
}
static fpm_price price_prefill_past(const shape *of, const fpm_operators *operators, double past) {
    (void)operators;
    return price_prefill(of, of->requests, of->fresh, past);
}
static fpm_price price_prefill_requests(const shape *of, const fpm_operators *operators, double requests) {
    (void)operators;
    return price_prefill(of, requests, of->fresh, of->past);
}

static fpm_price price_decode(const shape *of, double requests, double context) {
    const fpm_attention_sums sums = {
        .pairs = requests * context, .kv_tokens = requests * context, .tokens = requests, .requests = requests
    };
    return fpm_attention_price(&of->form, &sums);
}
static fpm_price price_decode_context(const shape *of, const fpm_operators *operators, double context) {
    (void)operators;
    return price_decode(of, of->requests, context);
}
static fpm_price price_decode_requests(const shape *of, const fpm_operators *operators, double requests) {
    (void)operators;
    return price_decode(of, requests, of->past);
}

static fpm_attention_form draw_form(world *w, const fpm_operators *operators, bool is_prefill, char name[100]) {
    const fpm_architecture *a = draw_model(w);
    const double tensor = draw_ranks(w);
    const fpm_precision kv_cache = draw(w, 2) ? FPM_FP8 : FPM_BF16;
    if (a->attention == FPM_ATTENTION_GROUPED) {
        const fpm_attention_shape grouped = { .n_heads = share((double)a->n_heads, tensor),
                                              .n_kv_heads = share((double)a->n_kv_heads, tensor),
                                              .head_dim = (double)a->head_dim,
                                              .kv_cache = kv_cache,
                                              .has_16bit_scores = draw(w, 2),
                                              .has_window = draw(w, 2) };
        snprintf(name, 100, "%s/%g %s%s", a->name, tensor, fpm_precision_name(kv_cache),
                 grouped.has_window ? " window" : "");
        return is_prefill ? fpm_attention_prefill_form(operators, &grouped)
                          : fpm_attention_decode_form(operators, &grouped);
    }
    const fpm_latent_shape latent = { .n_heads = share((double)a->n_heads, tensor),
                                      .kv_rank = (double)a->kv_rank,
                                      .nope_dim = (double)a->nope_dim,
                                      .rope_dim = (double)a->rope_dim,
                                      .value_dim = (double)a->value_dim,
                                      .kv_cache = kv_cache };
    snprintf(name, 100, "%s/%g %s", a->name, tensor, fpm_precision_name(kv_cache));
    return is_prefill ? fpm_latent_prefill_form(operators, &latent) : fpm_latent_decode_form(operators, &latent);
}

static void draw_prefill(world *w, const fpm_operators *operators, shape *of) {
    static const price_fn prices[] = { price_prefill_fresh, price_prefill_past, price_prefill_requests };
    static const double largest[] = { 131072, 131072, 512 };
    char name[100];
    const size_t which = draw(w, 3);
    of->form = draw_form(w, operators, true, name);
    of->price = prices[which];
    of->requests = draw_between(w, 1, 64);
    of->fresh = draw_between(w, 16, 32768);
    of->past = draw(w, 2) ? draw_between(w, 16, 131072) : 0;
    of->from = which == 2 ? 1 : 16;
    of->to = largest[which];
    snprintf(of->name, sizeof of->name, "prefill %s requests %g fresh %g past %g, %s", name, of->requests, of->fresh,
             of->past,
             which == 0   ? "fresh"
             : which == 1 ? "past"
                          : "requests");
}

Test(operator_curves, attention_over_prompts_grows_smoothly_and_stays_above_the_bound) { everywhere(draw_prefill); }

static void draw_decode(world *w, const fpm_operators *operators, shape *of) {
    char name[100];
    const bool grows_context = draw(w, 2);
    of->form = draw_form(w, operators, false, name);
    of->price = grows_context ? price_decode_context : price_decode_requests;
    of->requests = draw_between(w, 1, 512);
    of->past = draw_between(w, 16, 131072);
    of->from = grows_context ? 16 : 1;
    of->to = grows_context ? 131072 : 512;
    snprintf(of->name, sizeof of->name, "decode %s requests %g context %g, %s", name, of->requests, of->past,
             grows_context ? "context" : "requests");
}

Test(operator_curves, attention_over_the_cache_grows_smoothly_and_stays_above_the_bound) { everywhere(draw_decode); }

Test(operator_curves, a_request_that_joins_a_batch_does_not_make_it_cheaper) {
    world *w = new_world();
    fpm_operators *operators = malloc(sizeof *operators);
    for (size_t i = 0; i < w->n_systems; i++) {
        load(operators, &w->systems[i], (fpm_backend)(i % FPM_BACKENDS));
        for (int n = 0; n < N_SHAPES; n++) {
            char name[100];
            const fpm_attention_form form = draw_form(w, operators, false, name);
            fpm_attention_sums sums = { .requests = 0 };
            double before = 0;
            for (int request = 0; request < 64; request++) {
                const double context = draw_between(w, 16, 131072);
                sums.requests = sums.tokens = request + 1;
                sums.kv_tokens = sums.pairs += context;
                const double ms = fpm_attention_price(&form, &sums).ms;
                cr_assert(ms >= before, "%s %s: %g falls from %g", operators->system->name, name, ms, before);
                before = ms;
            }
        }
    }
    free(operators);
    free(w);
}

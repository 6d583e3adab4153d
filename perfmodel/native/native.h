// SPDX-License-Identifier: GPL-3.0-or-later
//
// The native price of a pass: from a model architecture, a GPU, a parallel layout and number formats to milliseconds.
//
//   architecture  what is computed: layers, widths, attention, experts           (architecture.c checks it)
//   system        what it runs on: memory, FLOP/s, links                         (system.c)
//   layout        how it is cut: tensor, pipeline, data, expert, moe_tensor      (layout.c)
//   operators     what one kernel costs: calibrated rooflines                    (operators.h)
//   plan          all of it compiled into tables over token counts and closed forms over batch sums (plan.c)
//   capacity      what is left of the memory for the KV cache                    (capacity.c)
//
// The structs are plain: whoever has the numbers (a configuration file, a Hugging Face config.json) fills them. Nothing here reads
// files. Shapes are per model, not per rank, unless said.
#ifndef PERFMODEL_NATIVE_NATIVE_H
#define PERFMODEL_NATIVE_NATIVE_H

#include "perfmodel/native/terms.h"
#include "perfmodel/perfmodel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FPM_NAME_BYTES 64

// ---------------------------------------------------------------------------------------------------------------------
// Number formats
// ---------------------------------------------------------------------------------------------------------------------

// enumerator, name, bytes of one weight (scales included: nvfp4 one fp8 scale per 16, mxfp4 one per 32, fp8_block one fp32 per
// 128 x 128, int4 one 16-bit scale per 32)
#define FPM_PRECISION_LIST(X)               \
    X(FPM_BF16, "bf16", 2.0)                \
    X(FPM_FP8, "fp8", 1.0)                  \
    X(FPM_FP8_BLOCK, "fp8_block", 1.000245) \
    X(FPM_NVFP4, "nvfp4", 0.5625)           \
    X(FPM_MXFP4, "mxfp4", 0.53125)          \
    X(FPM_INT8, "int8", 1.0)                \
    X(FPM_INT4, "int4", 0.5625)
typedef enum fpm_precision {
#define X(code, name, bytes) code,
    FPM_PRECISION_LIST(X)
#undef X
        FPM_PRECISIONS
} fpm_precision;
const char *fpm_precision_name(fpm_precision precision);
double fpm_precision_bytes(fpm_precision precision);

// What a tensor core multiplies; its peak is a figure of the system.
#define FPM_ARITHMETIC_LIST(X)     \
    X(FPM_ARITHMETIC_BF16, "bf16") \
    X(FPM_ARITHMETIC_FP8, "fp8") X(FPM_ARITHMETIC_FP4, "fp4") X(FPM_ARITHMETIC_INT8, "int8")
typedef enum fpm_arithmetic {
#define X(code, name) code,
    FPM_ARITHMETIC_LIST(X)
#undef X
        FPM_ARITHMETICS
} fpm_arithmetic;
const char *fpm_arithmetic_name(fpm_arithmetic arithmetic);

typedef struct fpm_quantisation {
    fpm_precision weights;      // everything but routed experts and the LM head (which is bf16)
    fpm_precision moe_weights;  // routed experts
    fpm_precision kv_cache;     // FPM_BF16 or FPM_FP8
    bool has_16bit_activations; // weight-only quantisation: multiply in bf16 whatever the weights are
} fpm_quantisation;

// ---------------------------------------------------------------------------------------------------------------------
// Architecture
// ---------------------------------------------------------------------------------------------------------------------

// grouped: multi-head, grouped-query or multi-query. latent: MLA (DeepSeek-V2/V3, Kimi K2). sparse: MLA over the index_topk tokens that an
// indexer picks (DeepSeek-V3.2, GLM-5).
#define FPM_ATTENTION_LIST(X)           \
    X(FPM_ATTENTION_GROUPED, "grouped") \
    X(FPM_ATTENTION_LATENT, "latent")   \
    X(FPM_ATTENTION_SPARSE, "sparse")
typedef enum fpm_attention_kind {
#define X(code, name) code,
    FPM_ATTENTION_LIST(X)
#undef X
        FPM_ATTENTION_KINDS
} fpm_attention_kind;
const char *fpm_attention_kind_name(fpm_attention_kind kind);

typedef struct fpm_architecture {
    char name[FPM_NAME_BYTES];
    int64_t n_layers; // decoder layers, all kinds
    int64_t hidden;
    int64_t vocab;
    int64_t max_context_tokens; // 0 = unknown
    bool ties_embeddings;       // LM head and embedding are one matrix
    int64_t
        n_mtp_layers; // multi-token-prediction layers of the checkpoint; neither loaded nor priced without speculation

    fpm_attention_kind attention; // of the layers that are not linear
    int64_t n_heads, n_kv_heads, head_dim;
    bool has_qk_norm;
    bool has_output_gate;    // Qwen3.5: the query projection also makes a gate as wide as the output
    int64_t n_window_layers; // of the grouped layers: those that see only the last window_tokens
    int64_t window_tokens;
    // latent and sparse
    int64_t q_rank; // 0: the query has no low-rank step
    int64_t kv_rank, nope_dim, rope_dim, value_dim;
    // sparse
    int64_t index_heads, index_dim, index_topk;
    // gated delta net layers beside the attention layers (Qwen3.5)
    int64_t n_linear_layers;
    int64_t linear_key_heads, linear_key_dim, linear_value_heads, linear_value_dim, linear_conv_width;

    int64_t intermediate; // of the dense feed-forward layers
    bool has_ungated_ffn; // two matrices instead of three
    int64_t n_moe_layers; // the other layers are dense
    int64_t n_experts, experts_per_token, expert_intermediate;
    int64_t shared_intermediate; // all shared experts of a layer together; 0 = none
} fpm_architecture;

// FPM_INVALID_CONFIG with the first rule that is broken.
fpm_status fpm_architecture_check(const fpm_architecture *architecture, fpm_error *error);

// Parameters of the main model (without multi-token-prediction layers), and those of them that one token meets (of the routed experts only
// experts_per_token; embedding and LM head both).
double fpm_architecture_parameters(const fpm_architecture *architecture);
double fpm_architecture_active_parameters(const fpm_architecture *architecture);

// ---------------------------------------------------------------------------------------------------------------------
// System: one GPU and the node around it
// ---------------------------------------------------------------------------------------------------------------------

#define FPM_GENERATION_LIST(X) \
    X(FPM_AMPERE, "ampere")    \
    X(FPM_ADA, "ada") X(FPM_HOPPER, "hopper") X(FPM_BLACKWELL, "blackwell") X(FPM_CDNA3, "cdna3")
typedef enum fpm_generation {
#define X(code, name) code,
    FPM_GENERATION_LIST(X)
#undef X
        FPM_GENERATIONS
} fpm_generation;
const char *fpm_generation_name(fpm_generation generation);

typedef struct fpm_system {
    char name[FPM_NAME_BYTES];
    fpm_generation generation;
    double memory_bytes;
    double memory_bytes_per_s;
    double flops_per_s[FPM_ARITHMETICS]; // dense; 0 = the GPU has none
    double intra_node_bytes_per_s;       // per GPU and direction
    double inter_node_bytes_per_s;
    int64_t gpus_per_node;
    int64_t gpus_per_rack; // GPUs joined by the inter-node link; 0 = no limit
    double reserved_bytes; // driver, context, runtime: never the engine's
    double power_w;
} fpm_system;

// FPM_INVALID_CONFIG with the first rule that is broken.
fpm_status fpm_system_check(const fpm_system *system, fpm_error *error);

// ---------------------------------------------------------------------------------------------------------------------
// Layout
// ---------------------------------------------------------------------------------------------------------------------

// GPUs of a worker = tensor x pipeline x data; of the experts: tensor x data = moe_tensor x expert.
typedef struct fpm_layout {
    int64_t tensor, pipeline, data, expert, moe_tensor;
} fpm_layout;

// Does the layout cut this architecture evenly, and does the system have the arithmetic that the number formats need? FPM_UNSUPPORTED with the
// rule that is broken and the nearest valid choice.
fpm_status fpm_layout_check(const fpm_layout *layout, const fpm_architecture *architecture, fpm_error *error);
fpm_status fpm_quantisation_check(const fpm_quantisation *quantisation, const fpm_architecture *architecture,
                                  const fpm_system *system, fpm_error *error);

// ---------------------------------------------------------------------------------------------------------------------
// Engines
// ---------------------------------------------------------------------------------------------------------------------

#define FPM_BACKEND_LIST(X) X(FPM_VLLM, "vllm") X(FPM_SGLANG, "sglang") X(FPM_TRTLLM, "trtllm")
typedef enum fpm_backend {
#define X(code, name) code,
    FPM_BACKEND_LIST(X)
#undef X
        FPM_BACKENDS
} fpm_backend;
const char *fpm_backend_name(fpm_backend backend);

// ---------------------------------------------------------------------------------------------------------------------
// Deployment and estimator (graph.c, plan.c, estimator_native.c)
// ---------------------------------------------------------------------------------------------------------------------

// One worker: what runs, on what, how cut, in which number formats, under which engine.
typedef struct fpm_deployment {
    fpm_architecture architecture;
    fpm_system system;
    fpm_layout layout;
    fpm_quantisation quantisation;
    fpm_backend backend;
} fpm_deployment;

typedef struct fpm_operators fpm_operators; // operators.h

// An estimator named "native". Compiles the deployment into tables (about 0.5 ms and 25 KiB); an estimate then costs tens of nanoseconds and allocates
// nothing. Copies what it needs. The parts must be checked: architecture, system, layout and quantisation are, again, with their errors.
// A rank that is given no moments is priced with those that follow from means and variances of its record: items of equal past, variance of the
// new tokens as of the prompt lengths, every prompt ending in this pass.
fpm_status fpm_estimator_new_native(fpm_estimator **estimator, const fpm_deployment *deployment,
                                    const fpm_operators *operators, const fpm_calibration *calibration,
                                    fpm_pricing pricing, fpm_error *error);

// ---------------------------------------------------------------------------------------------------------------------
// Capacity (capacity.c)
// ---------------------------------------------------------------------------------------------------------------------

// Memory of one GPU, in bytes, of the rank that has the most to hold.
typedef struct fpm_memory_budget {
    double weights_bytes;
    double activations_bytes;       // peak of a profile run at max_num_batched_tokens
    double graphs_bytes;            // CUDA graphs
    double collectives_bytes;       // communication buffers
    double reserved_bytes;          // the system's own
    double usable_bytes;            // memory_fraction x memory (of what is free, for trtllm)
    double kv_bytes;                // usable less all of the above
    double kv_bytes_per_token;      // of one rank
    double state_bytes_per_request; // linear attention's recurrent state; 0 without
    int64_t kv_tokens;              // whole blocks x block size
    int64_t kv_blocks;
} fpm_memory_budget;

typedef struct fpm_memory_options {
    fpm_backend backend;
    double memory_fraction; // (0, 1]
    int64_t block_size_tokens;
    int64_t max_num_batched_tokens;
    int64_t max_num_seqs;
} fpm_memory_options;

// Bytes of KV cache that one token takes on one GPU (notes/blackbox-cases.md case 8): grouped layers x 2 x ceil(kv_heads / tensor) x head_dim x bytes;
// latent: layers x (kv_rank + rope_dim) x bytes, not divided by tensor; sparse: besides, the indexer's key, index_dim fp8 numbers with a 4-byte scale per
// 128. Window layers count in full here, linear layers not at all. Of the pipeline stages, the one with the most layers.
double fpm_kv_bytes_per_token(const fpm_architecture *architecture, const fpm_layout *layout,
                              const fpm_quantisation *quantisation);
// Bytes of weights on the GPU that holds the most. Embedding, LM head, routers, norms and convolutions are 16-bit whatever the format; what cannot be cut by
// heads (the low-rank projections of MLA, indexers, routers) is on every GPU.
double fpm_weights_bytes(const fpm_architecture *architecture, const fpm_layout *layout,
                         const fpm_quantisation *quantisation);

// FPM_UNSUPPORTED when nothing is left for the KV cache; the message carries the arithmetic and the smallest tensor that would fit.
fpm_status fpm_memory_plan(fpm_memory_budget *budget, const fpm_architecture *architecture, const fpm_system *system,
                           const fpm_layout *layout, const fpm_quantisation *quantisation,
                           const fpm_memory_options *options, fpm_error *error);

#ifdef __cplusplus
}
#endif

#endif

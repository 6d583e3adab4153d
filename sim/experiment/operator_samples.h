// SPDX-License-Identifier: GPL-3.0-or-later
//
// Measured kernels: the CSV files that AIConfigurator publishes per system and backend (systems/data, Apache-2.0), as shapes of our own operators. A sample
// knows what it measures and can ask any curves for their price of it. Columns: design notes "native-model", sections 5 and 6.
#ifndef SIM_EXPERIMENT_OPERATOR_SAMPLES_H
#define SIM_EXPERIMENT_OPERATOR_SAMPLES_H

#include "perfmodel/native/operators.h"
#include "sim/config/error.h"

// What a user calls a kind of kernel.
typedef enum sim_sample_class {
    SIM_CLASS_GEMM,
    SIM_CLASS_ATTENTION,
    SIM_CLASS_MOE,
    SIM_CLASS_COLLECTIVE,
    SIM_CLASS_MODULE, // a whole MLA block: its matrix products, norms and attention timed as one
    SIM_SAMPLE_CLASSES
} sim_sample_class;
const char *sim_sample_class_name(sim_sample_class of);

// enumerator, name, family of the curve that prices it, microseconds that the fastest kernels never take: where even they did, the host was
// measured, which launches them, and not the GPU; class
#define SIM_SAMPLE_KIND_LIST(X)                                                                                     \
    X(SIM_SAMPLE_GEMM, "gemm", FPM_FAMILY_GEMM, 40, SIM_CLASS_GEMM)                                                 \
    X(SIM_SAMPLE_MOE, "moe", FPM_FAMILY_MOE, 400, SIM_CLASS_MOE)                                                    \
    X(SIM_SAMPLE_ATTENTION_PREFILL, "attention_prefill", FPM_FAMILY_ATTENTION_PREFILL, 60, SIM_CLASS_ATTENTION)     \
    X(SIM_SAMPLE_ATTENTION_DECODE, "attention_decode", FPM_FAMILY_ATTENTION_DECODE, 60, SIM_CLASS_ATTENTION)        \
    X(SIM_SAMPLE_LATENT_PREFILL, "latent_prefill", FPM_FAMILY_LATENT_PREFILL, 60, SIM_CLASS_ATTENTION)              \
    X(SIM_SAMPLE_LATENT_DECODE, "latent_decode", FPM_FAMILY_LATENT_DECODE, 60, SIM_CLASS_ATTENTION)                 \
    X(SIM_SAMPLE_LATENT_BMM, "latent_bmm", FPM_FAMILY_LATENT_BMM, 40, SIM_CLASS_ATTENTION)                          \
    X(SIM_SAMPLE_LINEAR_PREFILL, "linear_prefill", FPM_FAMILY_LINEAR_PREFILL, 60, SIM_CLASS_ATTENTION)              \
    X(SIM_SAMPLE_LINEAR_DECODE, "linear_decode", FPM_FAMILY_LINEAR_DECODE, 60, SIM_CLASS_ATTENTION)                 \
    X(SIM_SAMPLE_ALL_REDUCE, "all_reduce", FPM_FAMILY_ALL_REDUCE, 60, SIM_CLASS_COLLECTIVE)                         \
    X(SIM_SAMPLE_ALL_GATHER, "all_gather", FPM_FAMILY_ALL_GATHER, 60, SIM_CLASS_COLLECTIVE)                         \
    X(SIM_SAMPLE_REDUCE_SCATTER, "reduce_scatter", FPM_FAMILY_REDUCE_SCATTER, 60, SIM_CLASS_COLLECTIVE)             \
    X(SIM_SAMPLE_ALL_TO_ALL, "all_to_all", FPM_FAMILY_ALL_TO_ALL, 60, SIM_CLASS_COLLECTIVE)                         \
    X(SIM_SAMPLE_LATENT_MODULE_PREFILL, "latent_module_prefill", FPM_FAMILIES, 160, SIM_CLASS_MODULE)               \
    X(SIM_SAMPLE_LATENT_MODULE_DECODE, "latent_module_decode", FPM_FAMILIES, 150, SIM_CLASS_MODULE)                 \
    X(SIM_SAMPLE_SPARSE_MODULE_PREFILL, "sparse_module_prefill", FPM_FAMILY_INDEXER_PREFILL, 300, SIM_CLASS_MODULE) \
    X(SIM_SAMPLE_SPARSE_MODULE_DECODE, "sparse_module_decode", FPM_FAMILY_INDEXER_DECODE, 130, SIM_CLASS_MODULE)
typedef enum sim_sample_kind {
#define X(code, name, family, host_us, class_of) code,
    SIM_SAMPLE_KIND_LIST(X)
#undef X
        SIM_SAMPLE_KINDS
} sim_sample_kind;
const char *sim_sample_kind_name(sim_sample_kind kind);
sim_sample_class sim_sample_kind_class(sim_sample_kind kind);

typedef struct sim_module_shape {
    fpm_latent_shape latent;
    fpm_indexer_shape indexer; // heads = 0: none
    double hidden, q_rank;
    fpm_precision weights;
} sim_module_shape;

typedef struct sim_operator_sample {
    sim_sample_kind kind;
    uint16_t system, source; // indices into the set's systems and sources
    int backend;             // fpm_backend; FPM_BACKENDS: of all
    int format;              // which curve of the family
    double ms;
    double m, n, k;           // gemm
    double tokens;            // moe
    double ranks, bytes;      // collectives
    bool is_part;             // of a linear form: the convolution alone
    bool is_host_bound;       // not fit for use
    fpm_attention_sums sums;  // attention of every kind
    fpm_attention_sums dense; // sparse: pairs before the choice of topk
    union {
        fpm_moe_shape moe;
        fpm_attention_shape attention;
        fpm_latent_shape latent;
        fpm_linear_shape linear;
        sim_module_shape module;
    } shape;
} sim_operator_sample;

enum { SIM_MAX_SYSTEMS = 32, SIM_MAX_SOURCES = 256 };
typedef struct sim_sample_set {
    sim_operator_sample *samples;
    size_t n, capacity;
    fpm_system systems[SIM_MAX_SYSTEMS];
    size_t n_systems;
    char sources[SIM_MAX_SOURCES][64]; // "gemm_perf.csv.gz vllm 0.24.0"
    size_t n_sources;
    size_t n_skipped; // rows of kinds and systems that have no price
} sim_sample_set;

// Read every known file in `directory` and systems.csv beside or in it. SIM_IO: none is there; SIM_BAD_DATA with file and line.
sim_status sim_sample_set_read(sim_sample_set *set, const char *directory, sim_error *error);
void sim_sample_set_clear(sim_sample_set *set);

// The family whose curve the sample fits. FPM_FAMILIES: priced by curves that other samples fit.
fpm_family sim_sample_family(const sim_operator_sample *sample);

// What the curves say of a sample.
fpm_price sim_sample_price(const sim_operator_sample *sample, const fpm_operators *operators);

#endif

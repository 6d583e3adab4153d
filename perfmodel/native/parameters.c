// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a model consists of, counted. One list of parts is behind the number of parameters, those of one token, and the bytes of a GPU, so that the three
// cannot disagree.
#include "perfmodel/native/native.h"

#include <math.h>

typedef enum part_share { SHARE_WHOLE, SHARE_TENSOR, SHARE_KV_HEADS, SHARE_EXPERTS } part_share;
typedef enum part_format { FORMAT_16BIT, FORMAT_WEIGHTS, FORMAT_MOE } part_format;

typedef struct part {
    double parameters; // of one layer
    int64_t n_layers;
    part_share share;
    part_format format;
} part;

enum { MAX_PARTS = 20 };
typedef struct part_list {
    part parts[MAX_PARTS];
    size_t n;
} part_list;

static void add(part_list *list, double parameters, int64_t n_layers, part_share share, part_format format) {
    if (n_layers > 0 && parameters > 0) list->parts[list->n++] = (part){ parameters, n_layers, share, format };
}

static void add_attention(part_list *list, const fpm_architecture *a) {
    const double h = (double)a->hidden, heads = (double)a->n_heads;
    const int64_t n = a->n_layers - a->n_linear_layers;
    if (a->attention == FPM_ATTENTION_GROUPED) {
        const double width = heads * (double)a->head_dim;
        add(list, h * width * (a->has_output_gate ? 3 : 2), n, SHARE_TENSOR, FORMAT_WEIGHTS); // query, gate, output
        add(list, 2 * h * (double)(a->n_kv_heads * a->head_dim), n, SHARE_KV_HEADS, FORMAT_WEIGHTS);
        return;
    }
    const double q_width = heads * (double)(a->nope_dim + a->rope_dim), q_rank = (double)a->q_rank;
    const double kv_rank = (double)a->kv_rank, value_width = heads * (double)a->value_dim;
    add(list, h * q_rank, n, SHARE_WHOLE, FORMAT_WEIGHTS);
    add(list, (a->q_rank ? q_rank : h) * q_width, n, SHARE_TENSOR, FORMAT_WEIGHTS);
    add(list, h * (kv_rank + (double)a->rope_dim), n, SHARE_WHOLE, FORMAT_WEIGHTS);
    add(list, kv_rank * (heads * (double)a->nope_dim + value_width), n, SHARE_TENSOR, FORMAT_WEIGHTS);
    add(list, value_width * h, n, SHARE_TENSOR, FORMAT_WEIGHTS);
    if (a->attention == FPM_ATTENTION_SPARSE)
        add(list, q_rank * (double)(a->index_heads * a->index_dim) + h * (double)(a->index_dim + a->index_heads), n,
            SHARE_WHOLE, FORMAT_WEIGHTS);
}

static void add_linear(part_list *list, const fpm_architecture *a) {
    const double keys = (double)(a->linear_key_heads * a->linear_key_dim);
    const double values = (double)(a->linear_value_heads * a->linear_value_dim);
    // query, key, value, output gate; the two gates of each value head; output
    const double in = 2 * keys + 2 * values + 2 * (double)a->linear_value_heads;
    add(list, (double)a->hidden * (in + values), a->n_linear_layers, SHARE_TENSOR, FORMAT_WEIGHTS);
    add(list, (2 * keys + values) * (double)a->linear_conv_width, a->n_linear_layers, SHARE_TENSOR, FORMAT_16BIT);
}

static void add_feed_forward(part_list *list, const fpm_architecture *a) {
    const double h = (double)a->hidden, matrices = a->has_ungated_ffn ? 2 : 3;
    add(list, matrices * h * (double)a->intermediate, a->n_layers - a->n_moe_layers, SHARE_TENSOR, FORMAT_WEIGHTS);
    add(list, h * (double)a->n_experts, a->n_moe_layers, SHARE_WHOLE, FORMAT_16BIT);
    add(list, matrices * h * (double)(a->n_experts * a->expert_intermediate), a->n_moe_layers, SHARE_EXPERTS,
        FORMAT_MOE);
    add(list, matrices * h * (double)a->shared_intermediate, a->n_moe_layers, SHARE_TENSOR, FORMAT_WEIGHTS);
}

// All layers; embedding and head are outside.
static part_list list_layers(const fpm_architecture *a) {
    part_list list = { .n = 0 };
    add_attention(&list, a);
    add_linear(&list, a);
    add_feed_forward(&list, a);
    add(&list, 2 * (double)a->hidden, a->n_layers, SHARE_WHOLE, FORMAT_16BIT); // norms
    return list;
}

static double embedding_parameters(const fpm_architecture *a) { return (double)a->vocab * (double)a->hidden; }

static double count(const fpm_architecture *a, double expert_share) {
    const part_list list = list_layers(a);
    double sum = embedding_parameters(a) * (a->ties_embeddings ? 1 : 2);
    for (size_t i = 0; i < list.n; i++) {
        const part *p = &list.parts[i];
        sum += p->parameters * (double)p->n_layers * (p->share == SHARE_EXPERTS ? expert_share : 1);
    }
    return sum;
}

double fpm_architecture_parameters(const fpm_architecture *a) { return count(a, 1); }

double fpm_architecture_active_parameters(const fpm_architecture *a) {
    return count(a, a->n_experts > 0 ? (double)a->experts_per_token / (double)a->n_experts : 1);
}

static double share_of(part_share share, const fpm_architecture *a, const fpm_layout *layout) {
    switch (share) {
    case SHARE_TENSOR:
        return 1 / (double)layout->tensor;
    case SHARE_KV_HEADS:
        return ceil((double)a->n_kv_heads / (double)layout->tensor) / (double)a->n_kv_heads;
    case SHARE_EXPERTS:
        return 1 / (double)(layout->moe_tensor * layout->expert);
    case SHARE_WHOLE:
        break;
    }
    return 1;
}

double fpm_weights_bytes(const fpm_architecture *a, const fpm_layout *layout, const fpm_quantisation *quantisation) {
    const double bytes[] = { [FORMAT_16BIT] = fpm_precision_bytes(FPM_BF16),
                             [FORMAT_WEIGHTS] = fpm_precision_bytes(quantisation->weights),
                             [FORMAT_MOE] = fpm_precision_bytes(quantisation->moe_weights) };
    const part_list list = list_layers(a);
    // The embedding is with the first stage, the head with the last; a matrix that is both is there twice when they differ.
    const double n_vocab = layout->pipeline > 1 || a->ties_embeddings ? 1 : 2;
    double sum = n_vocab * embedding_parameters(a) * bytes[FORMAT_16BIT] / (double)layout->tensor;
    for (size_t i = 0; i < list.n; i++) {
        const part *p = &list.parts[i];
        const double n_layers = ceil((double)p->n_layers / (double)layout->pipeline);
        sum += p->parameters * n_layers * share_of(p->share, a, layout) * bytes[p->format];
    }
    return sum;
}

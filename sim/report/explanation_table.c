// SPDX-License-Identifier: GPL-3.0-or-later
//
// The explanation for people: what was priced, a line per operator, what the engine adds, and what that makes of the hardware.
#include <string.h>

#include "sim/report/explanation.h"

static const char *const rule =
    "----------------------------------------------------------------------------------------------------"
    "--------------------------------------------\n";

// ---------------------------------------------------------------------------------------------------------------------
// Header
// ---------------------------------------------------------------------------------------------------------------------

static void write_what(const sim_explanation *e, FILE *out) {
    const fpm_deployment *d = e->deployment;
    const fpm_architecture *a = &d->architecture;
    const fpm_system *s = &d->system;
    const fpm_layout *l = &d->layout;
    const fpm_quantisation *q = &d->quantisation;
    const bool has_experts = a->n_moe_layers > 0;
    fprintf(out, "model        %s: %.4g billion parameters, %lld layers, %s attention\n", a->name,
            fpm_architecture_parameters(a) / 1e9, (long long)a->n_layers, fpm_attention_kind_name(a->attention));
    fprintf(out, "system       %s (%s): %.4g GB at %.4g GB/s, bf16 %.4g TFLOP/s a GPU\n", s->name,
            fpm_generation_name(s->generation), s->memory_bytes / 1e9, s->memory_bytes_per_s / 1e9,
            s->flops_per_s[FPM_ARITHMETIC_BF16] / 1e12);
    fprintf(out, "layout       GPUs %lld = tensor %lld x pipeline %lld x data %lld",
            (long long)(l->tensor * l->pipeline * l->data), (long long)l->tensor, (long long)l->pipeline,
            (long long)l->data);
    if (has_experts)
        fprintf(out, "; experts: expert %lld x moe_tensor %lld", (long long)l->expert, (long long)l->moe_tensor);
    fprintf(out, "\nformats      weights %s%s%s, KV cache %s, activations %s\n", fpm_precision_name(q->weights),
            has_experts ? ", experts " : "", has_experts ? fpm_precision_name(q->moe_weights) : "",
            fpm_precision_name(q->kv_cache), q->has_16bit_activations ? "bf16" : "as the weights");
    fprintf(out, "backend      %s, %s pricing\n", fpm_backend_name(d->backend),
            e->pricing == FPM_PRICING_SERIAL ? "serial" : "fused");
}

static void write_batch(const sim_explanation *e, FILE *out) {
    const fpm_scheduled_requests *s = &e->batch.scheduled;
    const long long data = (long long)e->deployment->layout.data;
    fprintf(out, "batch        %s:", fpm_kind_name(fpm_metrics_kind(&e->batch)));
    if (s->sum_prefill_tokens > 0)
        fprintf(out, " %u prompt tokens after %u in the cache%s", s->sum_prefill_tokens, s->sum_prefill_kv_tokens,
                s->num_decode_requests > 0 ? " and" : "");
    if (s->num_decode_requests > 0)
        fprintf(out, " %u decodes with a context of %.6g tokens", s->num_decode_requests,
                (double)s->sum_decode_kv_tokens / (double)s->num_decode_requests);
    if (fpm_metrics_kind(&e->batch) == FPM_EMPTY) fputs(" nothing to do", out);
    if (data > 1) fprintf(out, ", on each of %lld data-parallel ranks", data);
    fprintf(out, "%s\n", e->is_default_batch ? " (the default: no batch was given)" : "");
}

static void write_header(const sim_explanation *e, FILE *out) {
    write_what(e, out);
    write_batch(e, out);
    fprintf(out, "curves       %s%s%s%s\n",
            e->has_curves ? "" : "typical ones, as nothing is measured on this system: ",
            *e->curves ? e->curves : "none", *e->collectives ? ", collectives " : "", e->collectives);
    fprintf(out, "calibration  %s%s\n", *e->calibration ? e->calibration : "none",
            e->has_overrides ? ", with terms given anew" : "");
}

// ---------------------------------------------------------------------------------------------------------------------
// Operators
// ---------------------------------------------------------------------------------------------------------------------

enum { SHAPE_BYTES = 96 };

static void describe_bytes(char text[SHAPE_BYTES], const char *what, double bytes) {
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
    size_t unit = 0;
    for (; bytes >= 1000 && unit < 4; unit++) bytes /= 1000;
    snprintf(text, SHAPE_BYTES, "%s%.4g %s", what, bytes, units[unit]);
}

static void describe_attention(char text[SHAPE_BYTES], const fpm_explained_operation *line) {
    const double window = line->operation->shape.attention.window_tokens;
    const bool is_prefill = line->operation->driver == FPM_DRIVER_PREFILL_ATTENTION;
    int n = is_prefill
                ? snprintf(text, SHAPE_BYTES, "%.0f x %.0f new, %.6g kv", line->sums.requests,
                           line->sums.tokens / line->sums.requests, line->sums.kv_tokens)
                : snprintf(text, SHAPE_BYTES, "%.0f requests, %.0f kv", line->sums.requests, line->sums.kv_tokens);
    if (window > 0) snprintf(text + n, SHAPE_BYTES - (size_t)n, ", window %.0f", window);
}

static void describe_collective(char text[SHAPE_BYTES], const fpm_explained_operation *line) {
    const fpm_operation *o = line->operation;
    char what[40];
    snprintf(what, sizeof what, "%s, %.0f ranks, ", sim_collective_name(o->shape.collective.collective),
             o->shape.collective.ranks);
    describe_bytes(text, what, o->shape.collective.bytes_per_token * line->amount);
}

static void describe(char text[SHAPE_BYTES], const fpm_explained_operation *line) {
    const fpm_operation *o = line->operation;
    switch (o->kind) {
    case FPM_OPERATION_GEMM:
        snprintf(text, SHAPE_BYTES, "%.0f x %.0f x %.0f %s", line->amount, o->shape.gemm.n, o->shape.gemm.k,
                 fpm_format_name(fpm_format(o->shape.gemm.weights, o->shape.gemm.has_16bit_activations)));
        return;
    case FPM_OPERATION_MOE:
        snprintf(text, SHAPE_BYTES, "%.0f tokens to %.0f of %.0f, tp %.0f ep %.0f %s", line->amount,
                 o->shape.moe.shape.experts_per_token, o->shape.moe.shape.n_experts, o->shape.moe.shape.tensor,
                 o->shape.moe.shape.expert,
                 fpm_format_name(fpm_format(o->shape.moe.weights, o->shape.moe.has_16bit_activations)));
        return;
    case FPM_OPERATION_COLLECTIVE:
        describe_collective(text, line);
        return;
    case FPM_OPERATION_SEND:
    case FPM_OPERATION_MEMORY:
        describe_bytes(text, "", o->shape.bytes_per_token * line->amount);
        return;
    case FPM_OPERATION_ATTENTION:
        describe_attention(text, line);
        return;
    }
}

// Columns, without blanks at the end.
static void write_columns(FILE *out, const char *const cells[10]) {
    char row[256];
    const int n = snprintf(row, sizeof row, "%-24s %-12s %-44s %6s %10s %7s %11s %7s  %-8s %s", cells[0], cells[1],
                           cells[2], cells[3], cells[4], cells[5], cells[6], cells[7], cells[8], cells[9]);
    size_t length = n < (int)sizeof row ? (size_t)n : sizeof row - 1;
    while (length > 0 && row[length - 1] == ' ') length--;
    fprintf(out, "%.*s\n", (int)length, row);
}

typedef struct row {
    const char *name, *kind, *shape, *factor, *bound, *source;
    double times; // 0: a sum
    double ms, share_frac;
} row;

static void write_row(FILE *out, const row *r) {
    char counted[16] = "", each[24] = "", total[24], share[16];
    if (r->times > 0) {
        snprintf(counted, sizeof counted, "%.0f", r->times);
        snprintf(each, sizeof each, "%.2f", 1e3 * r->ms / r->times);
    }
    snprintf(total, sizeof total, "%.4f", r->ms);
    snprintf(share, sizeof share, "%.1f %%", 100 * r->share_frac);
    write_columns(out, (const char *[]){ r->name, r->kind, r->shape, counted, each, r->factor, total, share, r->bound,
                                         r->source });
}

static void write_sum(FILE *out, const char *name, double ms, double share_frac) {
    write_row(out, &(row){ name, "", "", "", "", "", 0, ms, share_frac });
}

static void write_operations(const sim_explanation *e, const fpm_explanation *pass, FILE *out) {
    for (size_t i = 0; i < pass->n_operations; i++) {
        const fpm_explained_operation *line = &pass->operations[i];
        char shape[SHAPE_BYTES] = "", factor[24];
        describe(shape, line);
        snprintf(factor, sizeof factor, "%.3f", line->ms / line->price.ms);
        write_row(out, &(row){ line->operation->name, sim_operation_kind_name(line->operation->kind), shape, factor,
                               fpm_bound_name(line->price.bound), fpm_price_source_name(line->source),
                               line->operation->count, line->ms, line->ms / e->estimate_ms });
    }
    for (size_t i = 0; i < pass->n_terms; i++) {
        const fpm_explained_term *term = &pass->terms[i];
        write_row(out, &(row){ fpm_term_name(term->term), "overhead", "", "", "engine", "calibration", term->times,
                               term->ms, term->ms / e->estimate_ms });
    }
}

static void write_pass(const sim_explanation *e, size_t which, FILE *out) {
    const fpm_explanation *pass = &e->passes[which];
    if (e->n_passes > 1)
        fprintf(out, "\npass %zu of %zu: %s\n", which + 1, e->n_passes,
                pass->batch.n_prefills > 0 ? "prompts" : "decodes");
    else
        fputc('\n', out);
    write_columns(out, (const char *[]){ "operator", "kind", "shape", "count", "us each", "factor", "ms", "share",
                                         "bound", "source" });
    fputs(rule, out);
    write_operations(e, pass, out);
}

// ---------------------------------------------------------------------------------------------------------------------
// Totals
// ---------------------------------------------------------------------------------------------------------------------

static void write_totals(const sim_explanation *e, FILE *out) {
    const sim_explanation_totals t = sim_explanation_total(e);
    const double ms = e->estimate_ms;
    char exact[FPM_NUMBER_BYTES];
    fpm_format_number(exact, ms);
    fputs(rule, out);
    write_sum(out, "operators", t.operations_ms, t.operations_ms / ms);
    write_sum(out, "overhead", t.terms_ms, t.terms_ms / ms);
    write_sum(out, "total", ms, 1);
    fprintf(out, "\nestimate     %s ms\ntime         ", exact);
    for (int bound = 0; bound <= FPM_BOUND_LAUNCH; bound++)
        fprintf(out, "%s %.1f %%, ", fpm_bound_name((fpm_bound)bound), 100 * t.by_bound_ms[bound] / ms);
    fprintf(out, "engine overhead %.1f %%\n", 100 * t.terms_ms / ms);
    fprintf(out,
            "hardware     MFU %.1f %% of the peak FLOP/s, MBU %.1f %% of the memory bandwidth; no operator can beat "
            "%.4f ms (%.1f %%)\n",
            100 * t.mfu_ratio, 100 * t.mbu_ratio, t.bound_ms, 100 * t.bound_ms / ms);
    fputs("achieved     ", out);
    if (t.input_tokens_per_s > 0)
        fprintf(out, "%.1f prompt tokens/s (%.1f a GPU), ", t.input_tokens_per_s, t.input_tokens_per_s / t.n_gpus);
    fprintf(out, "%.1f output tokens/s (%.1f a GPU)\n", t.output_tokens_per_s, t.output_tokens_per_s / t.n_gpus);
}

sim_status sim_explanation_write_table(const sim_explanation *e, FILE *out, sim_error *error) {
    write_header(e, out);
    if (e->estimate_ms > 0) {
        for (size_t i = 0; i < e->n_passes; i++) write_pass(e, i, out);
        write_totals(e, out);
    } else {
        fputs("\nestimate     0 ms\n", out);
    }
    return ferror(out) ? sim_error_set(error, SIM_IO, NULL, 0, "the explanation could not be written") : SIM_OK;
}

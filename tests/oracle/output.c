// SPDX-License-Identifier: GPL-3.0-or-later
//
// ForwardPassMetrics of a pass, and requests.csv.
#include <inttypes.h>
#include <string.h>

#include "tests/oracle/oracle.h"

__extension__ typedef unsigned __int128 wide;

// Numbers of which the count, the sum and the population variance are told.
typedef struct sample {
    uint64_t n, sum;
    wide sum_of_squares;
} sample;

static void add(sample *s, uint32_t value) {
    s->n++;
    s->sum += value;
    s->sum_of_squares += (wide)value * value;
}

// (n sum(x^2) - (sum x)^2) / n^2 in exact integers, one division.
static double variance(const sample *s) {
    if (s->n == 0) return 0;
    const wide numerator = s->n * s->sum_of_squares - (wide)s->sum * s->sum;
    return (double)numerator / ((double)s->n * (double)s->n);
}

static uint32_t narrow(uint64_t value) {
    if (value > UINT32_MAX) abort(); // no log has such a row
    return (uint32_t)value;
}

fpm_metrics oracle_metrics(const oracle_rank *rank) {
    sample prefill = { .n = 0 }, decode = prefill, queued_prefill = prefill, queued_decode = prefill;
    uint64_t n_prefill_tokens = 0, n_prefill_kv_tokens = 0, twice_attention = 0, max_context = 0,
             n_finished_prompts = 0;
    for (uint32_t i = 0; i < rank->round.n_items; i++) {
        const oracle_item *item = &rank->round.items[i];
        const uint64_t past = item->past_tokens, fresh = item->new_tokens;
        if (fresh == 0) continue; // a prompt without output that is cached to its end
        if (past + fresh > max_context) max_context = past + fresh;
        if (item->is_decode) {
            add(&decode, oracle_known_tokens(item->request));
            continue;
        }
        add(&prefill, item->request->prompt_tokens);
        n_prefill_tokens += fresh;
        n_prefill_kv_tokens += past;
        twice_attention += fresh * (2 * past + fresh);
        n_finished_prompts += item->request->computed_tokens == oracle_known_tokens(item->request);
    }
    for (uint32_t i = 0; i < rank->waiting.n; i++) {
        const oracle_request *request = oracle_waiting_at(rank, i);
        if (request->state == ORACLE_PREEMPTED)
            add(&queued_decode, oracle_known_tokens(request));
        else
            add(&queued_prefill, request->prompt_tokens);
    }
    fpm_metrics metrics = fpm_metrics_idle();
    metrics.scheduled.num_prefill_requests = narrow(prefill.n);
    metrics.scheduled.sum_prefill_tokens = narrow(n_prefill_tokens);
    metrics.scheduled.sum_prefill_kv_tokens = narrow(n_prefill_kv_tokens);
    metrics.scheduled.var_prefill_length = variance(&prefill);
    metrics.scheduled.num_decode_requests = narrow(decode.n);
    metrics.scheduled.sum_decode_kv_tokens = narrow(decode.sum);
    metrics.scheduled.var_decode_kv_tokens = variance(&decode);
    metrics.queued.num_prefill_requests = narrow(queued_prefill.n);
    metrics.queued.sum_prefill_tokens = narrow(queued_prefill.sum);
    metrics.queued.var_prefill_length = variance(&queued_prefill);
    metrics.queued.num_decode_requests = narrow(queued_decode.n);
    metrics.queued.sum_decode_kv_tokens = narrow(queued_decode.sum);
    metrics.queued.var_decode_kv_tokens = variance(&queued_decode);
    metrics.moments.is_present = true;
    metrics.moments.sum_prefill_attention = (double)twice_attention / 2;
    metrics.moments.max_context_tokens = narrow(max_context);
    metrics.moments.num_finished_prompts = narrow(n_finished_prompts);
    return metrics;
}

// A time in ms, exactly, without zeros at its end.
static void write_ms(FILE *out, int64_t ns) {
    if (ns < 0) abort();
    fprintf(out, "%" PRId64, ns / 1000000);
    char digits[8];
    snprintf(digits, sizeof digits, "%06d", (int)(ns % 1000000));
    size_t n = 6;
    while (n > 0 && digits[n - 1] == '0') n--;
    if (n > 0) fprintf(out, ".%.*s", (int)n, digits);
}

static void write_text(FILE *out, const char *text) { // RFC 4180
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

// load.admit_until kept out what has not arrived, unless load.max_time ended the run before.
static bool has_closed_doors(const oracle *o) {
    const sim_load_config *load = &o->settings->load;
    return load->admit_until_ns > 0 && (load->max_time_ns == 0 || load->max_time_ns >= load->admit_until_ns);
}

static void write_row(const oracle *o, const oracle_request *r, FILE *out) {
    const bool has_arrived = r->state != ORACLE_NOT_ARRIVED;
    const bool is_completed = r->state == ORACLE_COMPLETED, is_rejected = r->state == ORACLE_REJECTED;
    fprintf(out, "%" PRIu32 ",", r->index);
    write_text(out, sim_workload_session_name(o->workload, o->workload->requests[r->index].session));
    fputc(',', out);
    if (has_arrived) write_ms(out, r->arrival_ns);
    fputc(',', out);
    if (has_arrived) fprintf(out, "%" PRIu32, r->worker);
    fprintf(out, ",%" PRIu32 ",", r->prompt_tokens);
    if (r->was_admitted) fprintf(out, "%" PRIu32, r->cached_tokens);
    fputc(',', out);
    if (is_completed) fprintf(out, "%" PRIu32, r->generated_tokens);
    fputc(',', out);
    const bool has_first = is_completed && r->generated_tokens >= 1;
    if (has_first) write_ms(out, r->first_token_ns);
    fputc(',', out);
    if (is_completed || is_rejected) write_ms(out, r->finish_ns);
    fputc(',', out);
    if (has_first) write_ms(out, r->first_token_ns - r->arrival_ns);
    fputc(',', out);
    if (is_completed && r->generated_tokens >= 2) {
        char number[FPM_NUMBER_BYTES];
        const double span_ns = (double)(r->finish_ns - r->first_token_ns);
        fpm_format_number(number, span_ns / (double)(r->generated_tokens - 1) / 1e6);
        fputs(number, out);
    }
    fputc(',', out);
    if (has_first) write_ms(out, r->finish_ns - r->arrival_ns);
    fprintf(out, ",%" PRIu32 ",%s\n", r->n_preemptions,
            is_completed                          ? "completed"
            : is_rejected                         ? "rejected"
            : !has_arrived && has_closed_doors(o) ? "not_admitted"
                                                  : "incomplete");
}

sim_status oracle_write_requests(const oracle *o, FILE *out) {
    fputs("id,session,arrival_ms,worker,input_tokens,cached_tokens,output_tokens,first_token_ms,finish_ms,ttft_ms,tpot_"
          "ms,"
          "e2e_ms,preemptions,status\n",
          out);
    for (size_t i = 0; i < o->workload->n_requests; i++) write_row(o, &o->requests[i], out);
    return ferror(out) ? SIM_IO : SIM_OK;
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Reading and writing one record. The names stand once, in the order in which they are written, so that a file of our
// own is read without searching.
#include "perfmodel/metrics_json.h"

#include "perfmodel/json_writer.h"

#include <math.h>
#include <string.h>

#define N_NAMES(names) ((unsigned)(sizeof(names) / sizeof((names)[0])))

static bool parse_scheduled(fpm_json *json, fpm_scheduled_requests *s) {
    static const fpm_json_name names[] = {
        FPM_JSON_NAME("num_prefill_requests"), FPM_JSON_NAME("sum_prefill_tokens"),
        FPM_JSON_NAME("var_prefill_length"),   FPM_JSON_NAME("sum_prefill_kv_tokens"),
        FPM_JSON_NAME("num_decode_requests"),  FPM_JSON_NAME("sum_decode_kv_tokens"),
        FPM_JSON_NAME("var_decode_kv_tokens"),
    };
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, names, N_NAMES(names))) return false;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        switch (i) {
        case 0:
            fpm_json_u32(json, &s->num_prefill_requests);
            break;
        case 1:
            fpm_json_u32(json, &s->sum_prefill_tokens);
            break;
        case 2:
            fpm_json_double(json, &s->var_prefill_length);
            break;
        case 3:
            fpm_json_u32(json, &s->sum_prefill_kv_tokens);
            break;
        case 4:
            fpm_json_u32(json, &s->num_decode_requests);
            break;
        case 5:
            fpm_json_u32(json, &s->sum_decode_kv_tokens);
            break;
        default:
            fpm_json_double(json, &s->var_decode_kv_tokens);
            break;
        }
    }
    return !json->failed;
}

static bool parse_queued(fpm_json *json, fpm_queued_requests *q) {
    static const fpm_json_name names[] = {
        FPM_JSON_NAME("num_prefill_requests"), FPM_JSON_NAME("sum_prefill_tokens"),
        FPM_JSON_NAME("var_prefill_length"),   FPM_JSON_NAME("num_decode_requests"),
        FPM_JSON_NAME("sum_decode_kv_tokens"), FPM_JSON_NAME("var_decode_kv_tokens"),
    };
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, names, N_NAMES(names))) return false;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        switch (i) {
        case 0:
            fpm_json_u32(json, &q->num_prefill_requests);
            break;
        case 1:
            fpm_json_u32(json, &q->sum_prefill_tokens);
            break;
        case 2:
            fpm_json_double(json, &q->var_prefill_length);
            break;
        case 3:
            fpm_json_u32(json, &q->num_decode_requests);
            break;
        case 4:
            fpm_json_u32(json, &q->sum_decode_kv_tokens);
            break;
        default:
            fpm_json_double(json, &q->var_decode_kv_tokens);
            break;
        }
    }
    return !json->failed;
}

static bool parse_moments(fpm_json *json, fpm_moments *m) {
    static const fpm_json_name names[] = {
        FPM_JSON_NAME("sum_prefill_attention"),
        FPM_JSON_NAME("max_context_tokens"),
        FPM_JSON_NAME("num_finished_prompts"),
    };
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, names, N_NAMES(names))) return false;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        switch (i) {
        case 0:
            if (fpm_json_double(json, &m->sum_prefill_attention) && m->sum_prefill_attention < 0)
                fpm_json_fail(json, FPM_OUT_OF_RANGE, "x_moments.sum_prefill_attention must be >= 0");
            break;
        case 1:
            fpm_json_u32(json, &m->max_context_tokens);
            break;
        default:
            fpm_json_u32(json, &m->num_finished_prompts);
            break;
        }
    }
    if (object.seen != 7)
        fpm_json_fail(json, FPM_SYNTAX,
                      "x_moments needs sum_prefill_attention, max_context_tokens and num_finished_prompts");
    m->is_present = true;
    return !json->failed;
}

// The scanner has checked the escapes; a C string cannot hold \u0000.
static bool has_nul_escape(fpm_json_span raw) {
    for (size_t i = 0; i + 1 < raw.n_bytes; i++) {
        if (raw.text[i] != '\\') continue;
        if (raw.text[i + 1] == 'u' && memcmp(raw.text + i + 2, "0000", 4) == 0) return true;
        i++; // the escaped character, which may be a backslash
    }
    return false;
}

static void parse_worker_id(fpm_json *json, fpm_worker_id_text *worker_id) {
    if (!fpm_json_string_raw(json, &worker_id->raw, &worker_id->has_escapes)) return;
    if (worker_id->has_escapes && has_nul_escape(worker_id->raw))
        fpm_json_fail(json, FPM_SYNTAX, "a NUL character in worker_id");
}

bool fpm_metrics_parse(fpm_json *json, fpm_metrics *metrics, fpm_worker_id_text *worker_id) {
    static const fpm_json_name names[] = {
        FPM_JSON_NAME("version"),         FPM_JSON_NAME("worker_id"), FPM_JSON_NAME("dp_rank"),
        FPM_JSON_NAME("counter_id"),      FPM_JSON_NAME("wall_time"), FPM_JSON_NAME("scheduled_requests"),
        FPM_JSON_NAME("queued_requests"), FPM_JSON_NAME("x_moments"),
    };
    fpm_worker_id_text id = { .raw = { "", 0 } };
    *metrics = fpm_metrics_idle();
    fpm_json_object object;
    if (!fpm_json_object_begin(json, &object, names, N_NAMES(names))) return false;
    for (int i; (i = fpm_json_object_next(json, &object)) >= 0;) {
        switch (i) {
        case 0:
            fpm_json_u32(json, &metrics->version);
            break;
        case 1:
            parse_worker_id(json, &id);
            break;
        case 2:
            fpm_json_u32(json, &metrics->dp_rank);
            break;
        case 3:
            fpm_json_u64(json, &metrics->counter_id);
            break;
        case 4:
            fpm_json_double(json, &metrics->wall_time_s);
            break;
        case 5:
            parse_scheduled(json, &metrics->scheduled);
            break;
        case 6:
            parse_queued(json, &metrics->queued);
            break;
        default:
            parse_moments(json, &metrics->moments);
            break;
        }
    }
    if (worker_id) *worker_id = id;
    return !json->failed;
}

#define PUT_U64(writer, name, value) (FPM_JSON_PUT(writer, name), fpm_json_put_u64(writer, value))
#define PUT_DOUBLE(writer, name, value) (FPM_JSON_PUT(writer, name), fpm_json_put_double(writer, value))

static void put_scheduled(fpm_json_writer *writer, const fpm_scheduled_requests *s) {
    PUT_U64(writer, ",\"scheduled_requests\":{\"num_prefill_requests\":", s->num_prefill_requests);
    PUT_U64(writer, ",\"sum_prefill_tokens\":", s->sum_prefill_tokens);
    PUT_DOUBLE(writer, ",\"var_prefill_length\":", s->var_prefill_length);
    PUT_U64(writer, ",\"sum_prefill_kv_tokens\":", s->sum_prefill_kv_tokens);
    PUT_U64(writer, ",\"num_decode_requests\":", s->num_decode_requests);
    PUT_U64(writer, ",\"sum_decode_kv_tokens\":", s->sum_decode_kv_tokens);
    PUT_DOUBLE(writer, ",\"var_decode_kv_tokens\":", s->var_decode_kv_tokens);
}

static void put_queued(fpm_json_writer *writer, const fpm_queued_requests *q) {
    PUT_U64(writer, "},\"queued_requests\":{\"num_prefill_requests\":", q->num_prefill_requests);
    PUT_U64(writer, ",\"sum_prefill_tokens\":", q->sum_prefill_tokens);
    PUT_DOUBLE(writer, ",\"var_prefill_length\":", q->var_prefill_length);
    PUT_U64(writer, ",\"num_decode_requests\":", q->num_decode_requests);
    PUT_U64(writer, ",\"sum_decode_kv_tokens\":", q->sum_decode_kv_tokens);
    PUT_DOUBLE(writer, ",\"var_decode_kv_tokens\":", q->var_decode_kv_tokens);
}

static bool is_writable(const fpm_metrics *rank) {
    return isfinite(rank->wall_time_s) && isfinite(rank->scheduled.var_prefill_length) &&
           isfinite(rank->scheduled.var_decode_kv_tokens) && isfinite(rank->queued.var_prefill_length) &&
           isfinite(rank->queued.var_decode_kv_tokens) && isfinite(rank->moments.sum_prefill_attention);
}

fpm_status fpm_metrics_write_json(FILE *out, const fpm_metrics *rank, fpm_error *error) {
    if (!is_writable(rank))
        return fpm_error_set(error, FPM_OUT_OF_RANGE, "a ForwardPassMetrics record holds a number JSON cannot carry");
    fpm_json_writer writer;
    fpm_json_writer_begin(&writer, out);
    PUT_U64(&writer, "{\"version\":", rank->version);
    FPM_JSON_PUT(&writer, ",\"worker_id\":");
    fpm_json_put_string(&writer, rank->worker_id ? rank->worker_id : "");
    PUT_U64(&writer, ",\"dp_rank\":", rank->dp_rank);
    PUT_U64(&writer, ",\"counter_id\":", rank->counter_id);
    PUT_DOUBLE(&writer, ",\"wall_time\":", rank->wall_time_s);
    put_scheduled(&writer, &rank->scheduled);
    put_queued(&writer, &rank->queued);
    if (rank->moments.is_present) {
        PUT_DOUBLE(&writer, "},\"x_moments\":{\"sum_prefill_attention\":", rank->moments.sum_prefill_attention);
        PUT_U64(&writer, ",\"max_context_tokens\":", rank->moments.max_context_tokens);
        PUT_U64(&writer, ",\"num_finished_prompts\":", rank->moments.num_finished_prompts);
    }
    FPM_JSON_PUT(&writer, "}}\n");
    return fpm_json_writer_end(&writer, error);
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Keys of [engine] and [kv_cache], and the rules between them.
#include "sim/engine/engine.h"

#include <stddef.h>

const char *const sim_backend_names[] = { "vllm", "sglang", "trtllm", NULL };
static const char *const preemption_names[] = { "lifo", "fifo", NULL };
static const char *const policy_names[] = { "fifo", "lpm", NULL };
static const char *const unservable_names[] = { "reject", "fail", NULL };

const char *const sim_reject_reason_names[SIM_REJECT_REASONS] = {
#define X(code, name) name,
    SIM_REJECT_LIST(X)
#undef X
};

// Counts are 32-bit in ForwardPassMetrics and in the block pool.
static const double max_count = 2147483647.0;

#define KEY(field, ...) \
    { .offset = offsetof(sim_engine_config, field), .name = #field, __VA_ARGS__ }
static const sim_key engine_keys[] = {
    KEY(backend, .type = SIM_KEY_CHOICE, .default_text = "vllm", .choices = sim_backend_names,
        .help = "whose scheduler is modelled"),
    KEY(max_num_seqs, .type = SIM_KEY_INT, .default_text = "256", .min = 1, .max = max_count, .unit = "requests",
        .help = "most requests in one batch"),
    KEY(max_num_batched_tokens, .type = SIM_KEY_INT, .default_text = "8192", .min = 1, .max = max_count,
        .unit = "tokens",
        .help = "token budget of one pass, shared by prefill and decode; at least max_num_seqs; sglang: no more than "
                "the default of "
                "chunked_prefill_size"),
    KEY(max_model_len, .type = SIM_KEY_INT, .default_text = "0", .min = 0, .max = max_count, .unit = "tokens",
        .help = "longest sequence, prompt and output; 0 = that of the model, no limit without one"),
    KEY(chunked_prefill, .type = SIM_KEY_BOOL, .default_text = "true",
        .help = "split prompts over passes; false (not with sglang): a prompt is computed in one pass or not at all"),
    KEY(prefill_schedule_interval, .type = SIM_KEY_INT, .default_text = "1", .min = 1, .max = max_count,
        .unit = "passes", .help = "vllm with parallel.data > 1: prompts begin and go on only on every Nth pass"),
    KEY(admission_passes, .type = SIM_KEY_INT, .default_text = "auto", .min = 0, .max = 1e6, .word = "auto",
        .word_value = -1, .unit = "passes",
        .help = "decode passes that a busy engine lets go by before its scheduler sees an arrival (request polling, "
                "tokenising and hand-over; like sglang's scheduler_recv_interval a pass with prompts ends the wait); "
                "auto: as calibrated with native prices, else 0"),
    KEY(preemption, .type = SIM_KEY_CHOICE, .default_text = "lifo", .choices = preemption_names,
        .help = "vllm: who gives up its blocks when the pool is full: the newest or the oldest running request"),
    KEY(on_unservable, .type = SIM_KEY_CHOICE, .default_text = "reject", .choices = unservable_names,
        .help = "a request that can never be served: reject and count it, or end the run with status 4"),
    KEY(prefill_decode_interval, .type = SIM_KEY_INT, .default_text = "0", .min = 0, .max = max_count, .unit = "rounds",
        .help = "sglang: rounds without prompts after one in which any rank computed some"),
    KEY(schedule_policy, .type = SIM_KEY_CHOICE, .default_text = "fifo", .choices = policy_names,
        .help = "sglang: order of the waiting queue: arrival, or longest cached prefix first"),
    KEY(chunked_prefill_size, .type = SIM_KEY_INT, .default_text = "", .min = 1, .max = max_count, .word = "",
        .word_value = 0, .unit = "tokens", .help = "sglang: prompt tokens of one pass; empty = max_num_batched_tokens"),
    KEY(max_prefill_tokens, .type = SIM_KEY_INT, .default_text = "16384", .min = 1, .max = max_count, .unit = "tokens",
        .help = "sglang: prompt tokens of one pass, in whole pages; at least chunked_prefill_size"),
    KEY(clip_max_new_tokens, .type = SIM_KEY_INT, .default_text = "4096", .min = 1, .max = max_count, .unit = "tokens",
        .help = "sglang: most output per request that admission reckons with"),
    KEY(schedule_conservativeness, .type = SIM_KEY_REAL, .default_text = "1", .min = 0, .max = 1e6,
        .help = "sglang: scales the share (0.7 at first) of their outstanding output that running requests are "
                "expected to need"),
};
#undef KEY

#define KEY(field, ...) \
    { .offset = offsetof(sim_kv_cache_config, field), .name = #field, __VA_ARGS__ }
static const sim_key kv_cache_keys[] = {
    KEY(block_size, .type = SIM_KEY_INT, .default_text = "", .min = 1, .max = 1048576, .word = "", .word_value = 0,
        .unit = "tokens", .help = "tokens per KV block; empty = the backend's own: vllm 16, sglang 1, trtllm 32"),
    KEY(prefix_caching, .type = SIM_KEY_BOOL, .default_text = "true",
        .help = "keep and reuse blocks of equal prefixes"),
    KEY(num_blocks, .type = SIM_KEY_INT, .default_text = "auto", .min = 1, .max = max_count, .word = "auto",
        .word_value = 0, .unit = "blocks", .help = "KV blocks per rank; auto needs [model] and [system]"),
    KEY(memory_fraction, .type = SIM_KEY_REAL, .default_text = "", .max = 1, .is_min_exclusive = true, .word = "",
        .word_value = 0,
        .help = "num_blocks = auto: share of the GPU's memory an engine may use (trtllm: of what weights leave free); "
                "empty = "
                "0.9, sglang 0.88"),
};
#undef KEY

#define COUNT(array) (sizeof(array) / sizeof *(array))
const sim_key_table sim_engine_keys = { "engine", "one worker's scheduler", engine_keys, COUNT(engine_keys) };
const sim_key_table sim_kv_cache_keys = { "kv_cache", "one rank's KV cache", kv_cache_keys, COUNT(kv_cache_keys) };

// A key of one backend that does not stand at its default.
static sim_status check_foreign_keys(const sim_config *config, const sim_engine_config *e, sim_error *error) {
    const struct {
        int backend;
        bool is_set;
        const char *key;
    } keys[] = {
        { SIM_BACKEND_VLLM, e->prefill_schedule_interval != 1, "prefill_schedule_interval" },
        { SIM_BACKEND_VLLM, e->preemption != SIM_PREEMPT_LIFO, "preemption" },
        { SIM_BACKEND_SGLANG, e->prefill_decode_interval != 0, "prefill_decode_interval" },
        { SIM_BACKEND_SGLANG, e->schedule_policy != SIM_POLICY_FIFO, "schedule_policy" },
        { SIM_BACKEND_SGLANG, e->chunked_prefill_size != 0, "chunked_prefill_size" },
        { SIM_BACKEND_SGLANG, e->max_prefill_tokens != 16384, "max_prefill_tokens" },
        { SIM_BACKEND_SGLANG, e->clip_max_new_tokens != 4096, "clip_max_new_tokens" },
        { SIM_BACKEND_SGLANG, e->schedule_conservativeness != 1.0, "schedule_conservativeness" },
    };
    for (size_t i = 0; i < COUNT(keys); i++)
        if (keys[i].is_set && keys[i].backend != e->backend)
            return sim_config_contradiction(config, error, "engine", keys[i].key,
                                            "engine.%s is a key of %s (backend = %s)", keys[i].key,
                                            sim_backend_names[keys[i].backend], sim_backend_names[e->backend]);
    return SIM_OK;
}

// Any prompt must be able to begin: a page fits a chunk, a chunk fits the pass.
static sim_status check_sglang(const sim_config *config, const sim_engine_config *e,
                               const sim_kv_cache_config *kv_cache, sim_error *error) {
    int64_t chunk = e->chunked_prefill_size ? e->chunked_prefill_size : e->max_num_batched_tokens;
    if (!e->chunked_prefill)
        return sim_config_contradiction(config, error, "engine", "chunked_prefill",
                                        "chunked_prefill = false is not possible with sglang");
    if (e->max_prefill_tokens < chunk)
        return sim_config_contradiction(config, error, "engine", "max_prefill_tokens",
                                        "max_prefill_tokens = %lld is less than chunked_prefill_size = %lld (a longer "
                                        "prompt could never begin)",
                                        (long long)e->max_prefill_tokens, (long long)chunk);
    if (chunk < kv_cache->block_size)
        return sim_config_contradiction(config, error, "engine", "chunked_prefill_size",
                                        "chunked_prefill_size = %lld is less than kv_cache.block_size = %lld (a longer "
                                        "prompt could never begin)",
                                        (long long)chunk, (long long)kv_cache->block_size);
    return SIM_OK;
}

sim_status sim_engine_check(const sim_config *config, const sim_engine_config *engine, sim_kv_cache_config *kv_cache,
                            sim_error *error) {
    static const int64_t own_block_size[] = {
        [SIM_BACKEND_VLLM] = 16, [SIM_BACKEND_SGLANG] = 1, [SIM_BACKEND_TRTLLM] = 32
    };
    if (kv_cache->block_size == 0) kv_cache->block_size = own_block_size[engine->backend];
    if (kv_cache->memory_fraction == 0) kv_cache->memory_fraction = engine->backend == SIM_BACKEND_SGLANG ? 0.88 : 0.9;
    if (engine->max_num_batched_tokens < engine->max_num_seqs) {
        bool is_given = sim_config_is_given(config, "engine", "max_num_batched_tokens");
        return sim_config_contradiction(config, error, "engine", is_given ? "max_num_batched_tokens" : "max_num_seqs",
                                        "max_num_batched_tokens = %lld is less than max_num_seqs = %lld (every running "
                                        "request needs a token a pass)",
                                        (long long)engine->max_num_batched_tokens, (long long)engine->max_num_seqs);
    }
    sim_status status = check_foreign_keys(config, engine, error);
    if (!status && engine->backend == SIM_BACKEND_SGLANG) status = check_sglang(config, engine, kv_cache, error);
    return status;
}

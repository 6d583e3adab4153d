// SPDX-License-Identifier: GPL-3.0-or-later
//
// Keys of [engine] and [kv_cache], and the rules between them.
#include "sim/engine/engine.h"

#include <stddef.h>

const char *const sim_backend_names[] = { "vllm", "trtllm", NULL };
static const char *const preemption_names[] = { "lifo", "fifo", NULL };
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
        .unit = "tokens", .help = "token budget of one pass, shared by prefill and decode; at least max_num_seqs"),
    KEY(max_model_len, .type = SIM_KEY_INT, .default_text = "0", .min = 0, .max = max_count, .unit = "tokens",
        .help = "longest sequence, prompt and output; 0 = no limit"),
    KEY(chunked_prefill, .type = SIM_KEY_BOOL, .default_text = "true",
        .help = "split prompts over passes; false: a prompt is computed in one pass or not at all"),
    KEY(prefill_schedule_interval, .type = SIM_KEY_INT, .default_text = "1", .min = 1, .max = max_count,
        .unit = "passes", .help = "vllm with parallel.data > 1: prompts begin and go on only on every Nth pass"),
    KEY(preemption, .type = SIM_KEY_CHOICE, .default_text = "lifo", .choices = preemption_names,
        .help = "who gives up its blocks when the pool is full: the newest or the oldest running request"),
    KEY(on_unservable, .type = SIM_KEY_CHOICE, .default_text = "reject", .choices = unservable_names,
        .help = "a request that can never be served: reject and count it, or end the run with status 4"),
};
#undef KEY

#define KEY(field, ...) \
    { .offset = offsetof(sim_kv_cache_config, field), .name = #field, __VA_ARGS__ }
static const sim_key kv_cache_keys[] = {
    KEY(block_size, .type = SIM_KEY_INT, .default_text = "", .min = 1, .max = 1048576, .word = "", .word_value = 0,
        .unit = "tokens", .help = "tokens per KV block; empty = the backend's own: vllm 16, trtllm 32"),
    KEY(prefix_caching, .type = SIM_KEY_BOOL, .default_text = "true",
        .help = "keep and reuse blocks of equal prefixes"),
    KEY(num_blocks, .type = SIM_KEY_INT, .default_text = "auto", .min = 1, .max = max_count, .word = "auto",
        .word_value = 0, .unit = "blocks", .help = "KV blocks per rank; auto needs [model] and [system]"),
};
#undef KEY

#define COUNT(array) (sizeof(array) / sizeof *(array))
const sim_key_table sim_engine_keys = { "engine", "one worker's scheduler", engine_keys, COUNT(engine_keys) };
const sim_key_table sim_kv_cache_keys = { "kv_cache", "one rank's KV cache", kv_cache_keys, COUNT(kv_cache_keys) };

sim_status sim_engine_check(const sim_config *config, const sim_engine_config *engine, sim_kv_cache_config *kv_cache,
                            sim_error *error) {
    static const int64_t own_block_size[] = { [SIM_BACKEND_VLLM] = 16, [SIM_BACKEND_TRTLLM] = 32 };
    if (kv_cache->block_size == 0) kv_cache->block_size = own_block_size[engine->backend];
    if (engine->max_num_batched_tokens < engine->max_num_seqs) {
        bool is_given = sim_config_is_given(config, "engine", "max_num_batched_tokens");
        return sim_config_contradiction(config, error, "engine", is_given ? "max_num_batched_tokens" : "max_num_seqs",
                                        "max_num_batched_tokens = %lld is less than max_num_seqs = %lld (every running "
                                        "request needs a token a pass)",
                                        (long long)engine->max_num_batched_tokens, (long long)engine->max_num_seqs);
    }
    if (engine->backend != SIM_BACKEND_VLLM && engine->prefill_schedule_interval != 1)
        return sim_config_contradiction(config, error, "engine", "prefill_schedule_interval",
                                        "engine.prefill_schedule_interval is a key of vllm (backend = %s)",
                                        sim_backend_names[engine->backend]);
    if (engine->backend != SIM_BACKEND_VLLM && engine->preemption != SIM_PREEMPT_LIFO)
        return sim_config_contradiction(config, error, "engine", "preemption",
                                        "engine.preemption is a key of vllm (backend = %s)",
                                        sim_backend_names[engine->backend]);
    if (kv_cache->num_blocks == 0)
        return sim_config_contradiction(
            config, error, "kv_cache", "num_blocks",
            "kv_cache.num_blocks = auto needs [model] and [system], which this version does "
            "not have (give a number of blocks)");
    return SIM_OK;
}

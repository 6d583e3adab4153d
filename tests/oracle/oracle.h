// SPDX-License-Identifier: GPL-3.0-or-later
//
// The naive oracle: a second simulator, against which the product's engine is proved byte for byte.
//
// It is written from the description of the schedulers (simulation-semantics.md 3.1 to 3.5, interface.md), not from the engine, and it is meant to
// be checked against that text line by line: one struct per request, one step per token, one struct per KV block, plain lists, linear
// search. It shares with the product what is not under test: the configuration, the workload and its arrival process, the estimators, and
// the way numbers are written. Whatever runs out (memory, 32 bits) ends the program: this is a test.
//
// A backend is a file with an oracle_scheduler; the rest does not know which one runs.
#ifndef TESTS_ORACLE_ORACLE_H
#define TESTS_ORACLE_ORACLE_H

#include "sim/experiment/settings.h"
#include "tests/oracle/list.h"
#include "tests/oracle/pool.h"
#include "tests/oracle/radix.h"

typedef enum oracle_state {
    ORACLE_NOT_ARRIVED,
    ORACLE_WAITING, // never admitted
    ORACLE_RUNNING,
    ORACLE_PREEMPTED, // waits to be admitted again
    ORACLE_COMPLETED,
    ORACLE_REJECTED
} oracle_state;

typedef struct oracle_request {
    uint32_t index;
    uint32_t prompt_tokens;
    uint32_t output_tokens; // asked for
    uint32_t final_tokens;  // of these, as many as it may get
    oracle_state state;
    uint32_t worker, rank;
    uint32_t generated_tokens;
    uint32_t computed_tokens;
    bool is_prefilling;       // since its last admission it has never computed all it knew at the end of a pass
    oracle_list blocks;       // of its pool, in the order of the sequence
    uint32_t n_private_pages; // sglang: behind these, not in the tree
    bool was_checked;         // sglang: that it can be served
    uint64_t seen_from_pass;  // of its worker: the first that may schedule it
    // Identities of its full blocks as far as somebody asked. Tokens never change once they are there, so neither do these.
    uint64_t *identities;
    uint32_t n_identities;
    // what requests.csv tells
    int64_t arrival_ns, first_token_ns, finish_ns;
    bool was_admitted;
    uint32_t cached_tokens; // at the first admission
    uint32_t n_preemptions;
} oracle_request;

// A request that computes something in a pass.
typedef struct oracle_item {
    oracle_request *request;
    uint32_t past_tokens; // computed before
    uint32_t new_tokens;
    bool is_decode;
} oracle_item;

// What one scheduling round decided.
typedef struct oracle_round {
    oracle_item *items;
    uint32_t n_items;
    oracle_list rejected; // requests; they are told when the round ends
    uint32_t n_preempted;
    bool has_prefill; // sglang
} oracle_round;

typedef struct oracle oracle;

typedef struct oracle_rank {
    oracle *oracle;
    oracle_pool pool;
    oracle_radix radix; // sglang, in place of the pool
    double new_token_ratio;
    bool forbids_prefills;
    oracle_list waiting, running; // requests
    oracle_round round;
    bool left_waiting; // its last round that did not defer prompts left somebody in the queue
} oracle_rank;

typedef struct oracle_scheduler {
    const char *name;
    void (*init)(oracle_rank *rank); // or NULL
    // How many tokens a request may get; anything for one that can never be served.
    uint32_t (*final_tokens)(const oracle *o, const oracle_request *request);
    // One round of the worker's pass of that number: who computes how much. Fills rank->round, which is empty. SIM_DEAD_END: on_unservable = fail.
    sim_status (*schedule)(oracle_rank *rank, uint64_t pass, sim_error *error);
    // A request that has computed all it knows at the end of a pass: it gets its token, or ends.
    void (*emit)(oracle_rank *rank);
} oracle_scheduler;

extern const oracle_scheduler oracle_vllm, oracle_trtllm, oracle_sglang;

typedef struct oracle_worker {
    uint32_t index;
    char name[16]; // worker_id of its rows
    oracle_rank *ranks;
    oracle_list unseen; // arrived, and no scheduler knows
    bool is_busy;
    int64_t pass_end_ns;               // of the pass it is busy with
    fpm_metrics *metrics;              // of that pass, one row per rank
    uint64_t n_passes;                 // ended
    int64_t n_rounds_without_prefills; // to come, after a round with some
} oracle_worker;

struct oracle {
    const sim_settings *settings;
    const oracle_scheduler *scheduler;
    sim_workload *workload;
    sim_load *load;
    fpm_estimator *estimator;
    oracle_request *requests;
    oracle_worker *workers;
    uint32_t n_workers, n_ranks; // ranks of one worker
    uint32_t n_routed;
    int64_t now_ns;
    FILE *fpm_out;
};

// Run the experiment and hand back the two files as texts, to be freed. SIM_DEAD_END and every error: no texts.
typedef struct oracle_texts {
    char *requests_csv, *fpm_jsonl;
    size_t n_requests_csv, n_fpm_jsonl; // bytes
} oracle_texts;
sim_status oracle_run(const sim_config *config, const sim_settings *settings, oracle_texts *texts, sim_error *error);

// request.c: lengths and content of a request.
uint32_t oracle_known_tokens(const oracle_request *request); // prompt and what it has generated
uint64_t oracle_block_identity(oracle *o, oracle_request *request, uint32_t block);
// The request ends now, completed or rejected.
void oracle_end_request(oracle *o, oracle_request *request, oracle_state state);

// rank.c: what the schedulers of all backends need.
oracle_request *oracle_waiting_at(const oracle_rank *rank, uint32_t at);
oracle_request *oracle_running_at(const oracle_rank *rank, uint32_t at);
// Hold enough blocks for the first n_tokens of the request: all that it takes, or nothing and false.
bool oracle_grow(oracle_rank *rank, oracle_request *request, uint32_t n_tokens);
// Release every block of the request, the last one first.
void oracle_release(oracle_rank *rank, oracle_request *request);
void oracle_add_item(oracle_rank *rank, oracle_item item); // to this round
// Compute the next n_tokens in this round, and make findable what that fills.
void oracle_compute(oracle_rank *rank, oracle_request *request, uint32_t n_tokens);
// Take a request's work of this round back, if there is any: how many tokens that were.
uint32_t oracle_undo(oracle_rank *rank, const oracle_request *request);
uint32_t oracle_blocks_for(const oracle_rank *rank, uint32_t n_tokens); // rounded up
// The blocks of the longest chain of full blocks in the cache from the start of the sequence, n_most at most. To be cleared.
oracle_list oracle_find_prefix(oracle_rank *rank, oracle_request *request, uint32_t n_most);
uint32_t oracle_count_active(const oracle_rank *rank, const oracle_list *blocks); // of these blocks
// The head of the queue runs from now on. It holds those blocks, and the first n_cached tokens are there.
void oracle_admit_head(oracle_rank *rank, const oracle_list *hits, uint32_t n_cached);
// One of the queue can never be served.
sim_status oracle_reject(oracle_rank *rank, uint32_t at, sim_reject_reason reason, sim_error *error);
// Step E for the budget schedulers: in running order, whoever has computed all that is known gets one more token, or ends.
void oracle_emit(oracle_rank *rank);

// output.c
fpm_metrics oracle_metrics(const oracle_rank *rank); // of the round, after scheduling
sim_status oracle_write_requests(const oracle *o, FILE *out);

#endif

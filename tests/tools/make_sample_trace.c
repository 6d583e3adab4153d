// SPDX-License-Identifier: GPL-3.0-or-later
//
// make-sample-trace: writes traces/conversation_sample.jsonl to standard output, always the same bytes.
//
// What it imitates: people talk to one of a few assistants, each with a system prompt of its own; some hand in one of a
// few documents first. A conversation grows: the next prompt is the one before, the answer, and a new message.
// Conversations begin at random and in bursts; lengths are heavy-tailed. Blocks of 512 tokens get ids as in the
// Mooncake traces: an id stands for a block and everything in front of it, ids are numbered by first appearance, and a
// partial last block has an id of its own.
//
// Everything is integer arithmetic over splitmix64, so the bytes depend on no library.
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    N_CONVERSATIONS = 1700,
    N_REQUESTS = 3000, // the first ones are written
    MAX_MADE = 16 * N_CONVERSATIONS,
    MAX_CONTEXT_TOKENS = 60000,
    BLOCK_TOKENS = 512,
    N_ASSISTANTS = 6,
    N_DOCUMENTS = 10,
    N_BURSTS = 9,
    SPAN_MS = 8 * 60 * 1000,
    DECODE_MS = 20, // about what a token takes, so that a next turn does not come before the answer
    MAX_IDS = 1 << 18
};

// --- dice ---------------------------------------------------------------------------------------------------------------

static uint64_t state = 2026;

static uint64_t next_u64(void) { // splitmix64
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int64_t below(int64_t n) { return (int64_t)(next_u64() % (uint64_t)n); }

// A distribution as values at quantiles of 0, 10, 25, 50, 75, 90, 97, 99.5 and 100 %, straight lines between.
enum { N_QUANTILES = 9 };
typedef struct quantiles {
    int64_t at[N_QUANTILES];
} quantiles;

static int64_t draw(const quantiles *distribution) {
    static const int64_t permille[N_QUANTILES] = { 0, 100, 250, 500, 750, 900, 970, 995, 1000 };
    const int64_t u = below(1000000);
    int i = 0;
    while (u >= permille[i + 1] * 1000) i++;
    const int64_t low = distribution->at[i], high = distribution->at[i + 1];
    return low + (high - low) * (u - permille[i] * 1000) / ((permille[i + 1] - permille[i]) * 1000);
}

static const quantiles message_tokens = { { 8, 25, 60, 150, 420, 1300, 3600, 9000, 16000 } };
static const quantiles answer_tokens = { { 1, 45, 140, 290, 480, 720, 1050, 1500, 2000 } };
static const quantiles pause_ms = { { 800, 3000, 7000, 16000, 38000, 90000, 180000, 300000, 420000 } };
static const quantiles turns = { { 1, 1, 1, 2, 3, 5, 8, 12, 16 } };

// --- conversations ------------------------------------------------------------------------------------------------------

static const int64_t system_tokens[N_ASSISTANTS] = { 1480, 620, 2710, 350, 4096, 905 };
static const int64_t system_weight[N_ASSISTANTS] = { 40, 25, 15, 10, 6, 4 };

typedef struct request {
    int64_t stamp_ms;
    int64_t input_tokens, output_tokens;
    int assistant, document; // document 0: none
    int conversation, turn;
} request;

static request requests[MAX_MADE];
static int n_requests;
static int64_t document_tokens[N_DOCUMENTS + 1];
static int64_t burst_ms[N_BURSTS];

static int draw_assistant(void) {
    int64_t u = below(100);
    int assistant = 0;
    while (u >= system_weight[assistant]) u -= system_weight[assistant++];
    return assistant;
}

// A quarter of all conversations begins within 3 s of a burst.
static int64_t draw_start_ms(void) {
    if (below(4) == 0) return burst_ms[below(N_BURSTS)] + below(3000);
    return below(SPAN_MS);
}

static void make_conversation(int conversation) {
    request r = { .conversation = conversation, .assistant = draw_assistant(), .stamp_ms = draw_start_ms() };
    if (below(12) == 0) r.document = 1 + (int)below(N_DOCUMENTS);
    const int64_t n_turns = draw(&turns);
    int64_t context = system_tokens[r.assistant] + document_tokens[r.document];
    for (r.turn = 0; r.turn < n_turns && n_requests < MAX_MADE; r.turn++) {
        context += draw(&message_tokens);
        r.input_tokens = context;
        r.output_tokens = draw(&answer_tokens);
        if (context + r.output_tokens > MAX_CONTEXT_TOKENS) return;
        requests[n_requests++] = r;
        if (below(40) == 0 && n_requests < MAX_MADE) { // "again, please": the same prompt once more
            r.stamp_ms += r.output_tokens * DECODE_MS + draw(&pause_ms) / 4;
            r.output_tokens = draw(&answer_tokens);
            requests[n_requests++] = r;
        }
        context += r.output_tokens;
        r.stamp_ms += r.output_tokens * DECODE_MS + draw(&pause_ms);
    }
}

static int compare(const void *a, const void *b) {
    const request *left = a, *right = b;
    if (left->stamp_ms != right->stamp_ms) return left->stamp_ms < right->stamp_ms ? -1 : 1;
    if (left->conversation != right->conversation) return left->conversation < right->conversation ? -1 : 1;
    return left->turn - right->turn;
}

// --- block ids ----------------------------------------------------------------------------------------------------------

// What fixes a block and all in front of it. Conversations are append-only, so a full block of one stays what it is.
typedef struct block {
    int assistant, document, conversation; // 0: not needed to tell it apart
    int64_t index, size_tokens;            // size 0: a free entry of the table
    int64_t id;
} block;

static block table[MAX_IDS];
static int64_t n_ids;

static bool is_same(const block *a, const block *b) {
    return a->assistant == b->assistant && a->document == b->document && a->conversation == b->conversation &&
           a->index == b->index && a->size_tokens == b->size_tokens;
}

static int64_t id_of(const block *wanted) {
    uint64_t hash =
        (uint64_t)wanted->conversation * 1000003 + (uint64_t)wanted->index * 8191 + (uint64_t)wanted->size_tokens;
    hash = (hash * 31 + (uint64_t)wanted->document * 7 + (uint64_t)wanted->assistant) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint64_t at = hash >> 40 & (MAX_IDS - 1);; at = (at + 1) & (MAX_IDS - 1)) {
        block *entry = &table[at];
        if (entry->size_tokens != 0 && !is_same(entry, wanted)) continue;
        if (entry->size_tokens == 0) {
            if (n_ids >= MAX_IDS / 2) exit(1); // the sizes above need a larger table
            *entry = *wanted;
            entry->id = n_ids++;
        }
        return entry->id;
    }
}

static block block_of(const request *r, int64_t index) {
    const int64_t begin = index * BLOCK_TOKENS;
    int64_t end = begin + BLOCK_TOKENS;
    if (end > r->input_tokens) end = r->input_tokens;
    block found = { .assistant = r->assistant + 1, .index = index, .size_tokens = end - begin };
    const int64_t system_end = system_tokens[r->assistant];
    if (end > system_end) found.document = r->document;
    if (end > system_end + document_tokens[r->document]) found.conversation = r->conversation + 1;
    return found;
}

static void print_request(const request *r, int64_t first_ms) {
    printf("{\"timestamp\": %" PRId64 ", \"input_length\": %" PRId64 ", \"output_length\": %" PRId64
           ", \"hash_ids\": [",
           r->stamp_ms - first_ms, r->input_tokens, r->output_tokens);
    for (int64_t i = 0; i * BLOCK_TOKENS < r->input_tokens; i++) {
        const block found = block_of(r, i);
        printf("%s%" PRId64, i > 0 ? ", " : "", id_of(&found));
    }
    printf("]}\n");
}

int main(void) {
    for (int i = 1; i <= N_DOCUMENTS; i++) document_tokens[i] = 4000 + below(22000);
    for (int i = 0; i < N_BURSTS; i++) burst_ms[i] = 20000 + below(SPAN_MS - 40000);
    for (int i = 0; i < N_CONVERSATIONS; i++) make_conversation(i);
    qsort(requests, (size_t)n_requests, sizeof *requests, compare);
    const int n = n_requests < N_REQUESTS ? n_requests : N_REQUESTS;
    for (int i = 0; i < n; i++) print_request(&requests[i], requests[0].stamp_ms);
    return ferror(stdout) || fclose(stdout) != 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Requests that have arrived at a worker and that its scheduler has not seen yet. With engine.admission_passes = N a busy engine takes an arrival in N
// passes later, or at the end of a pass with prompts, whichever comes first: so SGLang's scheduler_recv_interval counts, and other engines too poll, tokenise
// and hand over behind their running passes. First in, first out, as N is the same for all.
#ifndef SIM_ENGINE_MAILBOX_H
#define SIM_ENGINE_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_letter {
    uint32_t request, rank, input_tokens, output_tokens;
    uint64_t due_pass; // the first pass that may schedule it
} sim_letter;

typedef struct sim_mailbox {
    sim_letter *letters; // a ring
    size_t capacity, first, n;
} sim_mailbox;

// False: no memory, and nothing has changed. O(1) on average.
bool sim_mailbox_put(sim_mailbox *mailbox, const sim_letter *letter);
const sim_letter *sim_mailbox_first(const sim_mailbox *mailbox); // NULL: empty
void sim_mailbox_make_due(sim_mailbox *mailbox);                 // all of them; O(n)
void sim_mailbox_drop_first(sim_mailbox *mailbox);
void sim_mailbox_clear(sim_mailbox *mailbox);

#endif

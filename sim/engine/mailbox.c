// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/engine/mailbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(sim_mailbox *mailbox) {
    if (mailbox->n < mailbox->capacity) return true;
    const size_t capacity = mailbox->capacity ? 2 * mailbox->capacity : 16;
    sim_letter *letters = malloc(capacity * sizeof *letters);
    if (!letters) return false;
    for (size_t i = 0; i < mailbox->n; i++) letters[i] = mailbox->letters[(mailbox->first + i) % mailbox->capacity];
    free(mailbox->letters);
    *mailbox = (sim_mailbox){ letters, capacity, 0, mailbox->n };
    return true;
}

bool sim_mailbox_put(sim_mailbox *mailbox, const sim_letter *letter) {
    if (!make_room(mailbox)) return false;
    mailbox->letters[(mailbox->first + mailbox->n++) % mailbox->capacity] = *letter;
    return true;
}

const sim_letter *sim_mailbox_first(const sim_mailbox *mailbox) {
    return mailbox->n ? &mailbox->letters[mailbox->first] : NULL;
}

void sim_mailbox_drop_first(sim_mailbox *mailbox) {
    assert(mailbox->n > 0);
    mailbox->first = (mailbox->first + 1) % mailbox->capacity;
    mailbox->n--;
}

void sim_mailbox_make_due(sim_mailbox *mailbox) {
    for (size_t i = 0; i < mailbox->n; i++) mailbox->letters[(mailbox->first + i) % mailbox->capacity].due_pass = 0;
}

void sim_mailbox_clear(sim_mailbox *mailbox) { free(mailbox->letters); }

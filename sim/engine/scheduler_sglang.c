// SPDX-License-Identifier: GPL-3.0-or-later
//
// SGLang: prompts go first, in passes of their own; a radix tree of pages; admission rests on an estimate of how much running requests will still
// generate; what then runs out is made up for by retraction (simulation-semantics.md 3.3).
//
// Decisions where the notes leave room
//
// Words. page = kv_cache.block_size tokens; C = num_blocks x page; ceil(x), floor(x) round to whole pages; known sequence = prompt + tokens generated
// so far, of length len; remaining = n_final - generated, where n_final = output tokens, cut so that prompt + n_final <= max_model_len; computed =
// tokens with a KV entry. max_out of the notes is n_final.
//
// 1. Unservable. Prompt >= max_model_len: exceeds_max_model_len. Else exceeds_kv_cache when the request could not be admitted into an empty pool at
//    some point of its life: for any g in 0 .. max(0, n_final - 1):  ceil(prompt + g) + min(n_final - g, clip) >= C. (So whoever is not rejected can
//    always be run alone, and can be readmitted alone after any retraction.) Both are checked for every new arrival at the start of the next pass,
//    in order of arrival, and independently of what is cached; the event comes at the end of that pass, or at once when no pass starts.
// 2. Queue. An unfinished prompt (at most one) goes back to the front of the waiting queue at the end of its pass, keeps its pages and its lock, and
//    stays in front under every policy. While it is part of a pass it is not queued; else it counts as a queued prefill (or decode, if it has
//    output). A continuation is not an admission: no on_admitted, no second match.
// 3. LPM sorts the queue itself, in place and stably, at the start of every pass (also where prefill is forbidden or no seat is free), behind the
//    unfinished prompt. More than 128 waiting, the unfinished one counted: the queue is left as it is. The matched length is what an admission would
//    match now (whole pages, same cap), without touching or splitting anything. T = ceil(32) tokens. A request is deprioritised when its own
//    match is <= 32 tokens, its known sequence has >= T tokens, and any request in front of it in the queue before sorting (the unfinished one
//    included, however well matched) has >= T known tokens of which the first T are the same. Order: not deprioritised first, then longer match first.
// 4. Admission. Per pass: room = free + evictable tokens at its start; reserved = sum over running of min(remaining, clip), an integer;
//    rem_total = (double)room - ratio * (double)reserved, computed once; used = 0, an integer. For the head, while running + admitted in this pass
//    (an unfinished one counts) < max_num_seqs and rem_chunk > 0:
//      start = tokens matched (cap: len - 1 tokens, or len for a request without output; whole pages), or computed for an unfinished one
//      extend = len - start; chunk = min(extend, floor(rem_chunk)); chunk == 0 with extend > 0: stop
//      charge = ceil(chunk); reserve = chunk == extend ? min(remaining, clip) : 0
//      stop when (double)(used + charge + reserve) >= rem_total, or charge > rem_input
//      stop when charge > free + evictable tokens now, not counting the matched tokens that nobody holds (they are about to be locked): the pages
//      cannot be had. Nothing has been touched, split or evicted by a head that is not admitted.
//      else: match and lock (touches), then evict and take charge tokens; used += charge + reserve; rem_input -= charge; rem_chunk -= charge.
//    A request without output whose whole prompt is cached has extend = 0: it is admitted with charge 0 and the pass is a prefill pass.
//    Budgets must let a prompt through: max_prefill_tokens >= chunked_prefill_size >= block_size, else a configuration error.
// 5. Ratio. initial = 0.7 * schedule_conservativeness, minimum = 0.14 * initial, step = (initial - minimum) / 600.0, in double, not clamped.
//    Decay: ratio = ratio - step, at least minimum. It is decided when the decode pass is scheduled, after the retractions; sums over survivors are
//    taken before the tokens of the pass: ratio = (double)(generated + 20 * n) / (double)(n_final + 1), at most 1.
// 6. A decode pass makes room for the token it will emit: every running request then has ceil(len + 1) tokens of pages, so it needs a new page when
//    len is a multiple of the page. After a prefill pass it has room for ceil(len), the first token included (the slot of the notes), or lacks that one
//    page if nothing could be evicted: then the token is emitted all the same and the next decode pass asks for the lacking page too.
//    need = sum of (ceil(len + 1) - pages held). While need > free + evictable and more than one runs: retract.
// 7. Retraction: fewest generated tokens of all its life, first such in the order of the running list (order of admission, of which a readmission is a
//    new one). It inserts its computed full pages into the tree, as a finished one does, and unlocks; computed = 0; to the back of the queue.
//    One request is left and need is still too high: the unfinished prompt in front of the queue gives up its pages (a retraction that leaves it
//    where it is: preemption counted; it is matched afresh when it is admitted again). It is not part of the survivors, and the ratio is then
//    updated as after any retraction.
// 8. Tree. Only computed tokens are inserted, whole pages of them. Each of these takes one tick of the logical clock and stamps all nodes of its path:
//    match-and-lock; insert. When: prefill: at the end of the pass, for each of its requests in order of admission: insert, emit the token, then
//    finish (insert again, unlock, give back the rest), go back to the queue, or take the slot. Decode: at the end of the pass, for each request
//    in running order: emit; insert its full pages (only a new full page changes anything); if that was the last token: finish (insert, unlock).
//    So a prompt is found by others only from the next pass on, and a page that is unlocked was touched last when its last holder left.
//    Pages found to be in the tree already at insertion are given back, and the request holds the tree's instead.
//    Insert ends at a node N with pages to spare: N extended in place if it is not the root, is a leaf, and has lock 0, or lock 1 and N is where this
//    request's own lock ends; otherwise a new child. A split gives the upper part the lock count and stamp of the node; the holder's lock ends at the
//    lower part. Eviction takes whole leaves, least stamp first, until enough pages are free; two leaves never have the same stamp (all nodes
//    of one stamp lie on one path), so the node id never decides.
//    prefix_caching = false: nothing is matched, inserted or evicted.
// 9. Interval. A round is one scheduling of all ranks of a worker. A round in which any rank scheduled a prefill (a continuation or one of no tokens
//    included) arms a countdown of prefill_decode_interval for the worker; each later round with countdown > 0 forbids prefills in all ranks and
//    lowers it by one. A round in which no rank could start anything is repeated at once while it was a forbidden one and there is work.
// 10. A decode round of a rank without running requests but with waiting ones only decays the ratio. If prefill was not forbidden and the ratio did
//    change, the rank tries again at once; at the minimum it is idle.

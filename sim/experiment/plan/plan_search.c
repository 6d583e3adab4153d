// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/plan/plan_search.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_SCAN = 64, // contested places tried at most; of more, evenly spaced ones
    MAX_ROUNDS = 16
};

// --- places --------------------------------------------------------------------------------------------------------------

sim_status sim_plan_line_point(const sim_plan_line *line, int64_t place, sim_plan_point **point, sim_error *error) {
    char word[256] = "", text[2048];
    if (line->axis && !sim_plan_axis_assign(line->axis, place, word, sizeof word))
        return sim_error_set(error, SIM_INTERNAL, NULL, 0, "a value of %s is too long", line->axis->key);
    const char *blank = line->outer[0] && word[0] ? " " : "";
    if (snprintf(text, sizeof text, "%s%s%s", line->outer, blank, word) >= (int)sizeof text)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "a layout is too long");
    return sim_plan_points_find(line->points, text, point, error);
}

sim_status sim_plan_line_judge(const sim_plan_line *line, const int64_t *places, size_t n, sim_plan_point **points,
                               sim_error *error) {
    sim_plan_point **real = malloc((n + 1) * sizeof *real);
    if (!real) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    size_t n_real = 0;
    sim_status status = SIM_OK;
    for (size_t i = 0; i < n && !status; i++) {
        points[i] = NULL;
        if (places[i] < 0 || places[i] >= line->n_places) continue;
        status = sim_plan_line_point(line, places[i], &points[i], error);
        if (!status) real[n_real++] = points[i];
    }
    if (!status) status = sim_plan_points_judge(line->points, real, n_real, line->scenario, error);
    free(real);
    return status;
}

// The place strictly between `below` and `above` that can run and is nearest to `place`, judged; SIM_PLAN_NOWHERE: none can.
static sim_status judge_nearest(const sim_plan_line *line, int64_t below, int64_t above, int64_t place,
                                int64_t *nearest, sim_plan_verdict *verdict, sim_error *error) {
    *nearest = SIM_PLAN_NOWHERE;
    for (int64_t d = 0; place + d < above || place - d > below; d++) {
        for (int side = 0; side < (d ? 2 : 1); side++) {
            const int64_t at = side ? place - d : place + d;
            if (at <= below || at >= above) continue;
            sim_plan_point *point;
            const sim_status status = sim_plan_line_judge(line, &at, 1, &point, error);
            if (status) return status;
            if (point->fate.outcome == SIM_TRIAL_INFEASIBLE) continue;
            *nearest = at;
            *verdict = point->verdicts[line->scenario];
            return SIM_OK;
        }
    }
    return SIM_OK;
}

// --- bisection -----------------------------------------------------------------------------------------------------------

// Places strictly between these are not known; -1 and before is where nothing would meet the SLA.
typedef struct bracket {
    int64_t harder, easier;
    int64_t last_miss; // easiest place found to miss it for certain
} bracket;

static void tell(const sim_plan_line *line, const bracket *b) {
    char text[160];
    if (!line->axis) return;
    const double from = sim_plan_axis_value(line->axis, b->harder < 0 ? 0 : b->harder);
    const double to = sim_plan_axis_value(line->axis, b->easier);
    snprintf(text, sizeof text, "%.80s in %.5g:%.5g", line->axis->key, from < to ? from : to, from < to ? to : from);
    sim_plan_points_tell(line->points, text);
}

// Narrow the bracket until no place that can run is inside. An undecided one is on the easier side where `takes_undecided`.
static sim_status narrow(const sim_plan_line *line, bool takes_undecided, bracket *b, sim_error *error) {
    while (b->easier - b->harder > 1) {
        int64_t at;
        sim_plan_verdict verdict;
        tell(line, b);
        const sim_status status =
            judge_nearest(line, b->harder, b->easier, b->harder + (b->easier - b->harder) / 2, &at, &verdict, error);
        if (status) return status;
        if (at == SIM_PLAN_NOWHERE) break;
        if (verdict == SIM_PLAN_MISSES && at > b->last_miss) b->last_miss = at;
        if (verdict == SIM_PLAN_MEETS || (verdict == SIM_PLAN_UNDECIDED && takes_undecided))
            b->easier = at;
        else
            b->harder = at;
    }
    return SIM_OK;
}

sim_status sim_plan_bisect(const sim_plan_line *line, sim_plan_found *found, sim_error *error) {
    sim_plan_verdict verdict = SIM_PLAN_OPEN;
    *found = (sim_plan_found){ SIM_PLAN_NOWHERE, SIM_PLAN_NOWHERE, SIM_PLAN_NOWHERE, true, SIM_PLAN_NOWHERE, 0 };
    sim_status status = judge_nearest(line, -1, line->n_places, line->n_places - 1, &found->easiest, &verdict, error);
    if (status || found->easiest == SIM_PLAN_NOWHERE) return status;
    bracket b = { .harder = -1, .easier = found->easiest, .last_miss = -1 };
    if (verdict == SIM_PLAN_MEETS) {
        status = narrow(line, false, &b, error);
        found->answer = found->safe = b.easier;
        verdict = b.harder > b.last_miss ? SIM_PLAN_UNDECIDED : SIM_PLAN_MISSES; // of the place before
        b.easier = b.harder > b.last_miss ? b.harder : b.easier;
    }
    found->open = verdict == SIM_PLAN_MISSES ? found->answer : b.easier;
    if (status || verdict != SIM_PLAN_UNDECIDED) return status;
    b.harder = b.last_miss;
    status = narrow(line, true, &b, error);
    found->open = b.easier;
    return status;
}

// --- is it monotone? -----------------------------------------------------------------------------------------------------

// What is known of every place that was judged; filled again and again from the points, which know it all.
typedef struct surveyed {
    int64_t place;
    const sim_plan_point *point;
    sim_plan_verdict verdict;
} surveyed;

typedef struct survey {
    surveyed *list; // in order of places
    size_t n;
} survey;

static sim_status survey_add(survey *s, const sim_plan_line *line, const int64_t *places, size_t n, sim_error *error) {
    sim_plan_point *points[MAX_SCAN];
    const sim_status status = sim_plan_line_judge(line, places, n, points, error);
    if (status) return status;
    for (size_t i = 0; i < n; i++) {
        if (!points[i] || points[i]->fate.outcome == SIM_TRIAL_INFEASIBLE) continue;
        size_t at = 0;
        while (at < s->n && s->list[at].place < places[i]) at++;
        if (at < s->n && s->list[at].place == places[i]) continue;
        surveyed *more = realloc(s->list, (s->n + 1) * sizeof *more);
        if (!more) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
        s->list = more;
        memmove(&more[at + 1], &more[at], (s->n - at) * sizeof *more);
        more[at] = (surveyed){ places[i], points[i], points[i]->verdicts[line->scenario] };
        s->n++;
    }
    return SIM_OK;
}

// Hardest place that meets the SLA, easiest that misses it.
static int64_t hardest_meeting(const survey *s) {
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].verdict == SIM_PLAN_MEETS) return s->list[i].place;
    return SIM_PLAN_NOWHERE;
}
static int64_t easiest_missing(const survey *s) {
    for (size_t i = s->n; i > 0; i--)
        if (s->list[i - 1].verdict == SIM_PLAN_MISSES) return s->list[i - 1].place;
    return SIM_PLAN_NOWHERE;
}

// Middles of the gaps between a quarter and a half, and a half and all of the way from the answer to either end: where bisection has looked least.
static sim_status probe_gaps(survey *s, const sim_plan_line *line, const sim_plan_found *found, sim_error *error) {
    const int64_t down = found->answer, up = found->easiest - found->answer;
    const int64_t places[] = { found->answer - down * 3 / 4, found->answer - down * 3 / 8, found->answer + up * 3 / 8,
                               found->answer + up * 3 / 4 };
    return survey_add(s, line, places, sizeof places / sizeof *places, error);
}

static sim_status probe_near(survey *s, const sim_plan_line *line, int64_t place, int64_t n_near, sim_error *error) {
    int64_t places[MAX_SCAN];
    size_t n = 0;
    for (int64_t d = -n_near; d <= n_near && n < MAX_SCAN; d++) places[n++] = place + d;
    return survey_add(s, line, places, n, error);
}

// Every place from `from` to `to`; of more than MAX_SCAN, evenly spaced ones with both ends.
static sim_status scan(survey *s, const sim_plan_line *line, int64_t from, int64_t to, size_t *n_scanned,
                       sim_error *error) {
    int64_t places[MAX_SCAN];
    const int64_t n_steps = to - from < MAX_SCAN ? to - from : MAX_SCAN - 1;
    for (int64_t i = 0; i <= n_steps; i++) places[i] = n_steps ? from + (to - from) * i / n_steps : from;
    *n_scanned = (size_t)n_steps + 1;
    return survey_add(s, line, places, *n_scanned, error);
}

// Try what lies around the answer and between places that contradict it, until that tells nothing new.
static sim_status settle(survey *s, const sim_plan_line *line, int64_t n_near, sim_plan_found *found,
                         sim_error *error) {
    int64_t scanned_from = found->answer, scanned_to = found->answer;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        sim_status status = probe_near(s, line, found->answer, n_near, error);
        if (status) return status;
        const int64_t hardest = hardest_meeting(s), easiest = easiest_missing(s);
        const bool is_known =
            hardest == found->answer && (easiest < hardest || (hardest >= scanned_from && easiest <= scanned_to));
        if (is_known) return SIM_OK;
        found->is_monotone = false;
        scanned_from = hardest;
        scanned_to = easiest > found->answer ? easiest : found->answer;
        status = scan(s, line, scanned_from, scanned_to, &found->n_scanned, error);
        if (status) return status;
        found->answer = hardest_meeting(s);
    }
    return SIM_OK;
}

// The first place that meets the SLA beyond the last one that misses it.
static int64_t find_safe(const survey *s, int64_t answer) {
    const int64_t miss = easiest_missing(s);
    int64_t safe = SIM_PLAN_NOWHERE;
    if (miss < answer) return answer;
    for (size_t i = s->n; i > 0 && s->list[i - 1].place > miss; i--)
        if (s->list[i - 1].verdict == SIM_PLAN_MEETS) safe = s->list[i - 1].place;
    return safe;
}

// Eighths of the line, and powers of two from its hard end.
static sim_status probe_inside(survey *s, const sim_plan_line *line, int64_t easiest, sim_error *error) {
    int64_t places[MAX_SCAN];
    size_t n = 0;
    for (int64_t i = 1; i <= 8; i++) places[n++] = easiest * i / 8;
    for (int64_t at = 1; at <= easiest && n < MAX_SCAN; at *= 2) places[n++] = at - 1;
    return survey_add(s, line, places, n, error);
}

static size_t best_of(const survey *s, const sim_plan_line *line) {
    size_t best = 0;
    double share = -1;
    for (size_t i = 0; i < s->n; i++) {
        const double mean = sim_plan_point_attainment(line->points, s->list[i].point, line->scenario).mean;
        if (mean < share) continue; // of equals the easiest
        share = mean;
        best = i;
    }
    return best;
}

// Nothing at the easy end meets the SLA: does something inside? Look around the place with the largest share of good requests, closer and closer, as long as it is
// inside.
static sim_status climb(survey *s, const sim_plan_line *line, int64_t easiest, sim_error *error) {
    sim_status status = probe_inside(s, line, easiest, error);
    for (size_t n_before = 0; !status && s->n > n_before && hardest_meeting(s) == SIM_PLAN_NOWHERE;) {
        n_before = s->n;
        const size_t best = best_of(s, line);
        if (best + 1 >= s->n) break; // the easy end itself
        const int64_t at = s->list[best].place, before = best ? s->list[best - 1].place : at;
        const int64_t places[] = { before + (at - before) / 2, at + (s->list[best + 1].place - at) / 2 };
        status = survey_add(s, line, places, 2, error);
    }
    return status;
}

// The boundary on the hard side of what meets the SLA inside, if anything does.
static sim_status search_inside(survey *s, const sim_plan_line *line, sim_plan_found *found, sim_error *error) {
    const int64_t easiest = found->easiest;
    sim_status status = climb(s, line, easiest, error);
    const int64_t inside = hardest_meeting(s);
    if (status || inside == SIM_PLAN_NOWHERE) return status;
    sim_plan_line part = *line;
    part.n_places = inside + 1;
    status = sim_plan_bisect(&part, found, error);
    if (!status) status = survey_add(s, line, &easiest, 1, error); // which contradicts it
    found->easiest = easiest;
    found->is_monotone = false;
    return status;
}

sim_status sim_plan_search(const sim_plan_line *line, int64_t n_near, sim_plan_found *found, sim_error *error) {
    sim_status status = sim_plan_bisect(line, found, error);
    if (status || found->easiest == SIM_PLAN_NOWHERE || !line->axis) return status;
    survey s = { 0 };
    if (found->answer == SIM_PLAN_NOWHERE) status = search_inside(&s, line, found, error);
    const int64_t bisected = found->answer;
    if (!status && bisected != SIM_PLAN_NOWHERE) {
        status = probe_gaps(&s, line, found, error);
        if (!status) status = settle(&s, line, n_near, found, error);
        if (!status) found->safe = find_safe(&s, found->answer);
    }
    if (found->answer < bisected) found->open = found->answer; // what was undecided lies beyond it now
    free(s.list);
    return status;
}

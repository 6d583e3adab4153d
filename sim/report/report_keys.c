// SPDX-License-Identifier: GPL-3.0-or-later
//
// Keys of [report].
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/summary.h"

static const char *parse_percentiles(const char *text, void *out) {
    static const char hint[] = "give up to 16 ascending percentages between 0 and 100, such as 50, 90, 99, 99.9";
    sim_percentiles list = { .n = 0 };
    const char *at = text;
    for (;;) {
        at += strspn(at, " \t");
        size_t n = strcspn(at, ", \t");
        char item[32];
        if (n == 0 || n >= sizeof item || list.n == SIM_MAX_PERCENTILES) return hint;
        memcpy(item, at, n);
        item[n] = '\0';
        double percent;
        if (sim_parse_real(item, &percent) || percent <= 0 || percent >= 100) return hint;
        if (list.n > 0 && percent <= list.percent[list.n - 1]) return hint;
        list.percent[list.n++] = percent;
        at += n;
        at += strspn(at, " \t");
        if (*at == '\0') break;
        if (*at++ != ',') return hint;
    }
    *(sim_percentiles *)out = list;
    return NULL;
}

static const sim_key report_keys[] = {
    { .name = "percentiles",
      .type = SIM_KEY_CUSTOM,
      .offset = offsetof(sim_report_config, percentiles),
      .default_text = "50, 75, 90, 95, 99",
      .parse = parse_percentiles,
      .unit = "per cent",
      .help = "percentiles of every latency in the summary" },
};
const sim_key_table sim_report_keys = { "report", "what the summary shows", report_keys, 1 };

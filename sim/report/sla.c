// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/sla.h"

#include <math.h>
#include <stddef.h>

#include "sim/report/collector.h"

#define BOUND(key, field, text)                                                                               \
    {                                                                                                         \
        .name = key, .type = SIM_KEY_DURATION, .offset = offsetof(sim_sla_config, field), .default_text = "", \
        .min = 0, .is_min_exclusive = true, .max = 9e18, .word = "", .word_value = 0, .help = text            \
    }
static const sim_key sla_keys[] = {
    BOUND("ttft", ttft_ns, "longest time to first token of a good request"),
    BOUND("tpot", tpot_ns, "longest time per output token after the first"),
    BOUND("itl", itl_ns, "another name of tpot; both is an error"),
    BOUND("e2e", e2e_ns, "longest time from arrival to last token"),
    { .name = "percentile",
      .type = SIM_KEY_REAL,
      .offset = offsetof(sim_sla_config, percentile),
      .default_text = "99",
      .min = 0,
      .is_min_exclusive = true,
      .max = 100,
      .unit = "per cent",
      .help = "share of arrived requests that must be good" },
};
const sim_key_table sim_sla_keys = { "sla", "bounds that make a request good", sla_keys,
                                     sizeof sla_keys / sizeof *sla_keys };

sim_status sim_sla_check(const sim_config *config, sim_sla_config *sla, sim_error *error) {
    if (sla->itl_ns > 0 && sla->tpot_ns > 0)
        return sim_config_contradiction(config, error, "sla", "itl",
                                        "sla.itl is another name of sla.tpot (give one of them)");
    if (sla->itl_ns > 0) sla->tpot_ns = sla->itl_ns;
    return SIM_OK;
}

bool sim_sla_is_given(const sim_sla_config *sla) { return sla->ttft_ns > 0 || sla->tpot_ns > 0 || sla->e2e_ns > 0; }

// A completed request without output is good only under an e2e bound alone.
bool sim_sla_is_good(const sim_sla_config *sla, const sim_request_record *record) {
    bool has_output = record->n_output_tokens > 0;
    if (!has_output && (sla->ttft_ns > 0 || sla->tpot_ns > 0)) return false;
    if (sla->ttft_ns > 0 && record->first_token_ns - record->arrival_ns > sla->ttft_ns) return false;
    if (sla->tpot_ns > 0 && record->n_output_tokens > 1 && sim_record_tpot_ns(record) > (double)sla->tpot_ns)
        return false;
    return sla->e2e_ns == 0 || record->finish_ns - record->arrival_ns <= sla->e2e_ns;
}

uint64_t sim_sla_allowed_misses(const sim_sla_config *sla, uint64_t n) {
    const double needed = ceil(sla->percentile / 100 * (double)n - 1e-9 * (double)n); // 99 % of 300 are 297, not 298
    return n - (uint64_t)needed;
}

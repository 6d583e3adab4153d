// SPDX-License-Identifier: GPL-3.0-or-later
//
// One ForwardPassMetrics record as a JSON object, for readers that hold it inside something larger (a log row, a vector
// file). Rules of the wire schema: every field may be missing (0, "", an all-zero object, version 1); unknown keys are
// skipped; null, negative, fractional or too large counts, duplicate keys and numbers beyond a double are refused.
// The optional `x_moments`, this project's own addition, needs all of its members.
#ifndef PERFMODEL_METRICS_JSON_H
#define PERFMODEL_METRICS_JSON_H

#include "perfmodel/json_scanner.h"

// The worker id as it stands in the text, for the caller to keep where it likes.
typedef struct fpm_worker_id_text {
    fpm_json_span raw; // fpm_json_unescape turns it into plain bytes, never more than raw.n_bytes; holds no NUL
    bool has_escapes;
} fpm_worker_id_text;

// Read the object at the cursor. False after an error, which stays in the scanner. `metrics->worker_id` is left NULL;
// `worker_id` (may be NULL) tells where it stands in the text. Not validated.
bool fpm_metrics_parse(fpm_json *json, fpm_metrics *metrics, fpm_worker_id_text *worker_id);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Numbers of a JSON document, as text: counts exact to 64 bits, doubles in their shortest exact form, neither of which cJSON's own numbers are.
#ifndef SIM_REPORT_JSON_FIELDS_H
#define SIM_REPORT_JSON_FIELDS_H

#include <stdint.h>

struct cJSON;

void sim_json_add_count(struct cJSON *object, const char *key, uint64_t value);
// null where the number is not finite.
void sim_json_add_number(struct cJSON *object, const char *key, double value);
// A new object at the end of a list; NULL: no memory (the calls above take that, as cJSON's do).
struct cJSON *sim_json_add_item(struct cJSON *list);

#endif

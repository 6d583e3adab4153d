// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/json_fields.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>

#include "perfmodel/perfmodel.h"

void sim_json_add_count(cJSON *object, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    cJSON_AddRawToObject(object, key, text);
}

void sim_json_add_number(cJSON *object, const char *key, double value) {
    char text[FPM_NUMBER_BYTES];
    if (!isfinite(value)) {
        cJSON_AddNullToObject(object, key);
        return;
    }
    fpm_format_number(text, value);
    cJSON_AddRawToObject(object, key, text);
}

cJSON *sim_json_add_item(cJSON *list) {
    cJSON *item = cJSON_CreateObject();
    if (cJSON_AddItemToArray(list, item)) return item;
    cJSON_Delete(item);
    return NULL;
}

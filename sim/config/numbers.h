// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: numbers with units, beside the ones config.h shows.
#ifndef SIM_CONFIG_NUMBERS_H
#define SIM_CONFIG_NUMBERS_H

#include <stddef.h>

// Milliseconds as a double: a bare number, or one with "ms", is read as it stands; other units come from whole nanoseconds.
// NULL when well, else a hint.
const char *sim_parse_ms(const char *text, double *ms);

// `ns` in the largest unit that shows it as a whole number: "1h", "250ms"; "0".
void sim_format_duration(double ns, char *text, size_t n);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef SIM_REPORT_CSV_TEXT_H
#define SIM_REPORT_CSV_TEXT_H

#include <stdio.h>

// A text as one field of a CSV record by RFC 4180: in quotes when it has to be.
void sim_csv_put_text(FILE *out, const char *text);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: inih behind a reader that knows line numbers and refuses every line inih would silently mangle.
//
// What inih 55 does and this reader refuses: lines of 200 bytes or more are cut and their rest is parsed as lines of its own;
// an indented line continues the value above; section names are cut at 49 bytes; text behind `]` is dropped; `:` is as good as
// `=`; a section without keys is never reported. Comment lines may have any length.
#ifndef SIM_CONFIG_INI_READER_H
#define SIM_CONFIG_INI_READER_H

#include <stddef.h>
#include <stdint.h>

#include "sim/config/error.h"

#define SIM_INI_LINE_BYTES 199 // longest line, its end not counted

// Told in the order of the text. Whatever is not SIM_OK stops the reading and is returned; the callee has filled its error.
typedef struct sim_ini_handler {
    void *user;
    sim_status (*on_section)(void *user, const char *section, int64_t line);
    // `section` is "" before the first one; `value` has no comment and no blanks around it.
    sim_status (*on_value)(void *user, const char *section, const char *name, const char *value, int64_t line);
} sim_ini_handler;

// Parse `text`; `file` stands in messages. UTF-8 (a mark at the start is skipped), LF or CRLF. SIM_USAGE with file and line.
sim_status sim_ini_read(const char *text, size_t n_bytes, const char *file, const sim_ini_handler *handler,
                        sim_error *error);

// Why `value` could not stand behind `name = ` in a line of an INI file, as a message; NULL when it can.
const char *sim_ini_refusal(const char *name, const char *value);

#endif

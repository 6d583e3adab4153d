// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/config/ini_reader.h"

#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/config/keys.h"

typedef struct reader {
    const char *next, *end; // text not read yet
    const char *file;
    int64_t line; // of the text inih has seen last
    const sim_ini_handler *handler;
    sim_status status;
    sim_error *error;
    const char *long_path; // value of the line that inih has in hand, where that line is too long for it; else NULL
    size_t long_path_bytes;
} reader;

typedef struct slice {
    const char *text;
    size_t n;
} slice;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_control(char c) { return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f; }

static bool refuse(reader *in, const char *message) {
    in->status = sim_error_set(in->error, SIM_USAGE, in->file, in->line, "%s", message);
    return false;
}

static slice take_line(reader *in) {
    const char *lf = memchr(in->next, '\n', (size_t)(in->end - in->next));
    slice line = { in->next, (size_t)((lf ? lf : in->end) - in->next) };
    in->next = lf ? lf + 1 : in->end;
    in->line++;
    if (line.n && line.text[line.n - 1] == '\r') line.n--;
    return line;
}

static bool check_bytes(reader *in, slice line) {
    for (size_t i = 0; i < line.n; i++) {
        if (line.text[i] == '\0') return refuse(in, "the line has a NUL byte (the file must be UTF-8 text)");
        if (is_control(line.text[i]))
            return refuse(in, "the line has a control character (the file must be plain text)");
    }
    return true;
}

// `[name]`, then at most a comment. Tells the handler: inih would not, for a section without keys.
static bool check_section(reader *in, slice line) {
    static const char shape[] = "a section is not closed as it should be (write [name], then nothing or a comment)";
    const char *close = memchr(line.text, ']', line.n);
    if (!close) return refuse(in, shape);
    const size_t n_name = (size_t)(close - line.text) - 1;
    const char *rest = close + 1, *end = line.text + line.n;
    while (rest < end && is_blank(*rest)) rest++;
    if (rest < end && *rest != ';' && *rest != '#') return refuse(in, shape);
    if (n_name > SIM_SECTION_BYTES) return refuse(in, "the name of the section is too long (48 bytes is the most)");
    char name[SIM_SECTION_BYTES + 1];
    memcpy(name, line.text + 1, n_name);
    name[n_name] = '\0';
    if (n_name == 0 || strpbrk(name, " \t;[")) {
        return refuse(in, "a section needs a name without blanks (write [name])");
    }
    in->status = in->handler->on_section(in->handler->user, name, in->line);
    return in->status == SIM_OK;
}

static bool check_assignment(reader *in, slice line) {
    static const char shape[] =
        "the line is neither a section nor a key (write [section] or key = value; comments begin with ;)";
    size_t i = 0;
    while (i < line.n && line.text[i] != '=' && line.text[i] != ':' && line.text[i] != ';') i++;
    if (i == line.n || line.text[i] == ';') return refuse(in, shape);
    if (line.text[i] == ':') return refuse(in, "a key is followed by \":\" (write key = value)");
    if (i == 0) return refuse(in, "a key is missing in front of \"=\" (write key = value)");
    return true;
}

// A line too long for inih is understood when it sets an absolute path, which `check` and config.ini may have to print however deep it lies. inih
// gets a short stand-in for the value, take_value the value itself.
static bool find_long_path(reader *in, slice line) {
    const char *equals = memchr(line.text, '=', line.n), *end = line.text + line.n;
    if (!equals || equals - line.text > SIM_INI_LINE_BYTES / 2) return false;
    const char *value = equals + 1;
    while (value < end && is_blank(*value)) value++;
    while (end > value && is_blank(end[-1])) end--;
    if (value == end || *value != '/') return false;
    for (const char *c = value + 1; c < end; c++)
        if (*c == ';' && is_blank(c[-1])) return false;
    in->long_path = value;
    in->long_path_bytes = (size_t)(end - value);
    return true;
}

// Decide on one line; an empty slice stands for what inih need not see.
static bool check_line(reader *in, slice *line) {
    size_t n_blank = 0;
    while (n_blank < line->n && is_blank(line->text[n_blank])) n_blank++;
    if (!check_bytes(in, *line)) return false;
    const char first = n_blank < line->n ? line->text[n_blank] : '\0';
    if (first == '\0' || first == ';' || first == '#') {
        line->n = 0;
        return true;
    }
    if (n_blank) return refuse(in, "the line is indented (begin it in the first column; a value cannot span lines)");
    if (line->n > SIM_INI_LINE_BYTES && !find_long_path(in, *line)) {
        in->status = sim_error_set(in->error, SIM_USAGE, in->file, in->line,
                                   "the line has %zu bytes (%d is the most; put a long comment on a line of its own)",
                                   line->n, SIM_INI_LINE_BYTES);
        return false;
    }
    return first == '[' ? check_section(in, *line) : check_assignment(in, *line);
}

// inih's source of lines, in the manner of fgets.
static char *next_line(char *buffer, int n_buffer, void *user) {
    reader *in = user;
    if (in->status != SIM_OK || in->next == in->end) return NULL;
    slice line = take_line(in);
    in->long_path = NULL;
    if (!check_line(in, &line)) return NULL;
    if (in->long_path) line.n = (size_t)(in->long_path - line.text) + 1; // up to the first slash
    if (n_buffer < 0 || line.n >= (size_t)n_buffer) { // an inih built with shorter lines than Debian's
        refuse(in, "the line is too long for this build of inih");
        return NULL;
    }
    memcpy(buffer, line.text, line.n);
    buffer[line.n] = '\0';
    return buffer;
}

static int take_value(void *user, const char *section, const char *name, const char *value) {
    reader *in = user;
    if (in->status != SIM_OK) return 0;
    if (value[0] == ';') {
        refuse(in, "a value begins with \";\" (a comment needs a blank in front)");
        return 0;
    }
    char *whole = in->long_path ? strndup(in->long_path, in->long_path_bytes) : NULL;
    if (in->long_path && !whole)
        in->status = sim_error_set(in->error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    else
        in->status = in->handler->on_value(in->handler->user, section, name, whole ? whole : value, in->line);
    free(whole);
    return in->status == SIM_OK;
}

static bool begins_with(const reader *in, const char *bytes, size_t n) {
    return (size_t)(in->end - in->next) >= n && memcmp(in->next, bytes, n) == 0;
}

sim_status sim_ini_read(const char *text, size_t n_bytes, const char *file, const sim_ini_handler *handler,
                        sim_error *error) {
    reader in = { .next = text, .end = text + n_bytes, .file = file, .handler = handler, .error = error };
    if (begins_with(&in, "\xff\xfe", 2) || begins_with(&in, "\xfe\xff", 2)) {
        in.line = 1;
        refuse(&in, "the file is UTF-16 (save it as UTF-8)");
        return in.status;
    }
    if (begins_with(&in, "\xef\xbb\xbf", 3)) in.next += 3;
    const int bad_line = ini_parse_stream(next_line, &in, take_value, &in);
    if (in.status == SIM_OK && bad_line != 0) { // the checks above should have been first
        return sim_error_set(error, SIM_USAGE, file, bad_line, "the line is not understood (write key = value)");
    }
    return in.status;
}

const char *sim_ini_refusal(const char *name, const char *value) {
    for (const char *c = value; *c; c++) {
        if (is_control(*c)) return "the value has a control character (it must be plain text)";
        if (*c == ';' && (c == value || is_blank(c[-1])))
            return "the value has a \";\" that begins a comment (leave it out)";
    }
    if (value[0] != '/' && strlen(name) + strlen(" = ") + strlen(value) > SIM_INI_LINE_BYTES) {
        return "the value is too long for a line of a configuration file (199 bytes is the most)";
    }
    return NULL;
}

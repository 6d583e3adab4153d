// SPDX-License-Identifier: GPL-3.0-or-later
//
// The table of configuration keys. Each room declares its own `const sim_key_table` beside the struct it fills; joined, the
// tables are behind parsing, range checks, defaults, `check`, `list keys` and the docs. A key that is in no table does not exist.
//
// Which C type a key fills (at `offset` of the room's struct):
//   SIM_KEY_BOOL      bool       true | false
//   SIM_KEY_INT       int64_t    with size suffixes k M G (1000) and Ki Mi Gi (1024)
//   SIM_KEY_REAL      double     finite
//   SIM_KEY_DURATION  int64_t    nanoseconds; a suffix (ns us ms s m h d) is needed unless the value is 0
//   SIM_KEY_MS        double     milliseconds; a bare number is milliseconds (the key's name ends in _ms)
//   SIM_KEY_CHOICE    int        index into `choices`
//   SIM_KEY_TEXT      const char *  owned by the sim_config; "" when empty
//   SIM_KEY_PATH      const char *  absolute; owned by the sim_config; "" when empty
//   SIM_KEY_NAMED     const char *  a name, or a path that shows as one (begins with / or . or ends in .ini or .json), absolute;
//                               owned by the sim_config; "" when empty
//   SIM_KEY_CUSTOM    anything   `parse` fills it, at most SIM_KEY_CUSTOM_BYTES
#ifndef SIM_CONFIG_KEYS_H
#define SIM_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sim_key_type {
    SIM_KEY_BOOL,
    SIM_KEY_INT,
    SIM_KEY_REAL,
    SIM_KEY_DURATION,
    SIM_KEY_MS,
    SIM_KEY_CHOICE,
    SIM_KEY_TEXT,
    SIM_KEY_PATH,
    SIM_KEY_NAMED,
    SIM_KEY_CUSTOM
} sim_key_type;

// Parses `text` into `*out`. Returns NULL, or a static hint that says what would be right.
typedef const char *(*sim_key_parse_fn)(const char *text, void *out);

typedef struct sim_key {
    const char *name;
    sim_key_type type;
    size_t offset;
    const char *default_text; // "" only for TEXT, PATH, NAMED or where `word` is ""
    double min, max;          // INT, REAL, MS: in the unit; DURATION: in nanoseconds; both inclusive; both 0: no bounds
    bool is_min_exclusive;    // the value must be above `min`
    const char *const *choices; // CHOICE: NULL-terminated
    const char *word;           // INT, REAL, DURATION, MS, CHOICE: a value of its own ("auto", "none", ""), stored as
                                // `word_value` whatever the range; NULL: there is none
    double word_value;
    sim_key_parse_fn parse; // CUSTOM
    const char *unit;       // NULL or "" = none
    const char *help;       // one line
} sim_key;

typedef struct sim_key_table {
    const char *section; // at most SIM_SECTION_BYTES
    const char *help;    // one line about the section
    const sim_key *keys;
    size_t n_keys;
} sim_key_table;

// The name of a TEXT key that makes its section an open one: other names are taken too when they have a dot in them, and their values kept as text in the
// order of their first appearance (sim_config_open). The key itself takes no value; its help says what such a name means.
#define SIM_KEY_OTHERS "*"

#define SIM_KEY_CUSTOM_BYTES 256
#define SIM_SECTION_BYTES 48 // inih cuts longer ones

// "int", "duration", ...; never NULL.
const char *sim_key_type_name(sim_key_type type);
// The values a key takes: "1 or more", "0 to 1", "lifo | fifo", "auto, or 1 or more"; "" when anything of its type does. At most
// `n` bytes are written, the terminator included.
void sim_key_range(const sim_key *key, char *text, size_t n);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/config_fixture.h"

#include <criterion/criterion.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/forepass-config-XXXXXX";

static void write_file(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    cr_assert(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

static void enter_directory(void) {
    cr_assert(mkdtemp(directory) && chdir(directory) == 0);
    cr_assert(mkdir("a", 0700) == 0 && mkdir("a/b", 0700) == 0);
}
static void leave_directory(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

Test(config, defaults_are_in_force_until_something_is_given) {
    sim_config *config = new_config();
    const engine_settings engine = engine_of(config);
    cr_expect(engine.is_chunked);
    cr_expect_eq(engine.max_num_seqs, 256);
    cr_expect_eq(engine.num_blocks, -1, "a word of its own");
    cr_expect_eq(engine.fraction, 0.9);
    cr_expect_eq(engine.preemption, 0);
    cr_expect(engine.ratio.first == 1 && engine.ratio.second == 2);
    const trace_settings trace = trace_of(config);
    cr_expect_str_eq(trace.path, "");
    cr_expect_eq(trace.prefill_ms, -1);
    cr_expect_not(sim_config_is_given(config, "engine", "max_num_seqs"));
    sim_config_free(config);
    sim_config_free(NULL);
}

Test(config, every_type_fills_its_field) {
    sim_config *config = new_config();
    sim_error error = { 0 };
    const char *text =
        "[engine]\nchunked_prefill = false\nmax_num_seqs = 1.5k\nnum_blocks = 4Ki\nfraction = 1e-1\ninterval = 1.5s\n"
        "preemption = fifo\nmode = concurrency\nratio = 3/4\n"
        "[prefill.trace]\npath = /t.jsonl\ntitle = a ratio = 2:1\nprefill_ms = 20 ; per pass\n";
    cr_assert_eq(load_text(config, text, &error), SIM_OK, "%s", error.message);
    const engine_settings engine = engine_of(config);
    cr_expect_not(engine.is_chunked);
    cr_expect_eq(engine.max_num_seqs, 1500);
    cr_expect_eq(engine.num_blocks, 4096);
    cr_expect_eq(engine.fraction, 0.1);
    cr_expect_eq(engine.interval_ns, 1500000000);
    cr_expect_eq(engine.preemption, 1);
    cr_expect_eq(engine.mode, 2);
    cr_expect(engine.ratio.first == 3 && engine.ratio.second == 4);
    const trace_settings trace = trace_of(config);
    cr_expect_str_eq(trace.path, "/t.jsonl");
    cr_expect_str_eq(trace.title, "a ratio = 2:1");
    cr_expect_eq(trace.prefill_ms, 20);
    cr_expect(sim_config_is_given(config, "engine", "max_num_seqs"));
    sim_config_free(config);
}

Test(config, what_is_wrong_is_told_with_file_and_line_and_what_would_be_right) {
    const struct {
        const char *text;
        int line;
        const char *message;
    } cases[] = {
        { "[engin]\n", 1, "unknown section [engin] (did you mean [engine]?)" },
        { "[weather]\n", 1, "unknown section [weather] (sections: engine, prefill.trace)" },
        { "[engine]\nmax_num_seq = 3\n", 2, "unknown key max_num_seq in [engine] (did you mean max_num_seqs?)" },
        { "[engine]\ntitle = 3\n", 2, "unknown key title in [engine] (it is a key of [prefill.trace])" },
        { "[engine]\nxyzzy = 3\n", 2, "unknown key xyzzy in [engine] (see forepass list keys)" },
        { "max_num_seqs = 3\n", 1,
          "key max_num_seqs stands in front of any section (only include may; write [section] above it)" },
        { "[engine]\ninclude = x.ini\n", 2,
          "include stands inside a section (write it at the top, before the first section)" },
        { "[engine]\nmode =\n[prefill.trace]\n[engine]\n\nmode = \n", 6,
          "duplicate key engine.mode, given in line 2 already (keep one of them)" },
        { "[engine]\nmax_num_seqs = 0 ; none\n", 2, "engine.max_num_seqs: 0 is out of range (1 to 4294967295)" },
        { "[engine]\nmax_num_seqs =\n", 2,
          "engine.max_num_seqs: a value is missing (a whole number; k M G (1000) or Ki Mi Gi (1024) may follow)" },
        { "[engine]\nnum_blocks = 0\n", 2, "engine.num_blocks: 0 is out of range (auto, or 1 or more)" },
        { "[engine]\ninterval = 10\n", 2,
          "engine.interval: \"10\" is not a duration (a unit must follow: ns us ms s m h d)" },
        { "[engine]\npreemption = lfo\n", 2,
          "engine.preemption: \"lfo\" is not one of the choices (did you mean lifo? lifo | fifo)" },
        { "[engine]\npreemption = sjf2000\n", 2,
          "engine.preemption: \"sjf2000\" is not one of the choices (lifo | fifo)" },
        { "[engine]\nchunked_prefill = yes\n", 2,
          "engine.chunked_prefill: \"yes\" is not a truth value (true | false)" },
        { "[engine]\nratio = 3\n", 2, "engine.ratio: \"3\" is not valid (two numbers such as 1/2)" },
        { "include = x.ini\n", 1, "a text in memory cannot include a file" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_config *config = new_config();
        sim_error error = { 0 };
        cr_expect_eq(load_text(config, cases[i].text, &error), SIM_USAGE, "%zu", i);
        cr_expect_str_eq(error.message, cases[i].message);
        cr_expect_str_eq(error.file, "test.ini");
        cr_expect_eq(error.line, cases[i].line, "%zu: line %d", i, (int)error.line);
        cr_expect_eq(engine_of(config).max_num_seqs, 256, "nothing wrong is taken");
        sim_config_free(config);
    }
}

Test(config, the_last_set_wins_and_beats_every_file_whenever_it_comes) {
    sim_config *config = new_config();
    sim_error error = { 0 };
    cr_expect_eq(sim_config_set(config, "engine.max_num_seqs=1", &error), SIM_OK);
    cr_expect_eq(load_text(config, "[engine]\nmax_num_seqs = 2\nmode = timestamps\n", &error), SIM_OK, "%s",
                 error.message);
    cr_expect_eq(engine_of(config).max_num_seqs, 1);
    cr_expect_eq(sim_config_set(config, " engine.max_num_seqs = 3 ", &error), SIM_OK);
    cr_expect_eq(engine_of(config).max_num_seqs, 3);
    cr_expect_eq(sim_config_set(config, "prefill.trace.prefill_ms=7", &error), SIM_OK, "a section with a dot");
    cr_expect_eq(trace_of(config).prefill_ms, 7);
    cr_expect_eq(sim_config_set(config, "engine.mode=", &error), SIM_OK);
    cr_expect_eq(engine_of(config).mode, 0);
    cr_expect_eq(load_text(config, "[engine]\nmax_num_seqs = 0\n", &error), SIM_USAGE,
                 "a file is checked even where it is beaten");
    sim_config_free(config);
}

Test(config, a_wrong_set_is_told_by_its_name) {
    const struct {
        const char *assignment, *file, *message;
    } cases[] = {
        { "engine.max_num_seqs", "--set", "\"engine.max_num_seqs\" has no \"=\" (write --set section.key=value)" },
        { "max_num_seqs=3", "--set", "key max_num_seqs has no section (did you mean engine.max_num_seqs?)" },
        { "nothing=3", "--set", "\"nothing\" names no key (write --set section.key=value)" },
        { "=3", "--set", "\"\" names no key (write --set section.key=value)" },
        { "engin.mode=", "--set engin.mode", "unknown section [engin] (did you mean [engine]?)" },
        { "engine.mod=", "--set engine.mod", "unknown key mod in [engine] (did you mean mode?)" },
        { "engine.=", "--set engine.", "unknown key  in [engine] (see forepass list keys)" },
        { "engine.max_num_seqs=0", "--set engine.max_num_seqs",
          "engine.max_num_seqs: 0 is out of range (1 to 4294967295)" },
        { "prefill.trace.title=a ;b", "--set prefill.trace.title",
          "prefill.trace.title: the value has a \";\" that begins a comment (leave it out)" },
        { "prefill.trace.title=a\nb", "--set prefill.trace.title",
          "prefill.trace.title: the value has a control character (it must be plain text)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_config *config = new_config();
        sim_error error = { 0 };
        cr_expect_eq(sim_config_set(config, cases[i].assignment, &error), SIM_USAGE, "%zu", i);
        cr_expect_str_eq(error.file, cases[i].file);
        cr_expect_str_eq(error.message, cases[i].message);
        cr_expect_eq(error.line, 0);
        sim_config_free(config);
    }
}

Test(config, a_contradiction_is_placed_where_the_key_was_given) {
    sim_config *config = new_config();
    sim_error error = { 0 };
    cr_assert_eq(load_text(config, "\n[engine]\nmode = timestamps\n", &error), SIM_OK);
    cr_assert_eq(sim_config_set(config, "engine.fraction=0.5", &error), SIM_OK);
    cr_expect_eq(sim_config_contradiction(config, &error, "engine", "mode", "no %s", "stamps"), SIM_USAGE);
    cr_expect(strcmp(error.file, "test.ini") == 0 && error.line == 3 && strcmp(error.message, "no stamps") == 0);
    sim_config_contradiction(config, &error, "engine", "fraction", "too little");
    cr_expect(strcmp(error.file, "--set engine.fraction") == 0 && error.line == 0);
    sim_config_contradiction(config, &error, "engine", "num_blocks", "default");
    cr_expect(error.file[0] == '\0' && error.line == 0);
    sim_config_free(config);
}

Test(config, a_table_that_contradicts_itself_is_an_internal_error) {
    static const sim_key bad_default = {
        .name = "k", .type = SIM_KEY_INT, .default_text = "0", .min = 1, .max = 2, .unit = "", .help = ""
    };
    static const sim_key_table table = { "s", "", &bad_default, 1 };
    const sim_key_table *const once[] = { &table };
    const sim_key_table *const twice[] = { &engine_table, &engine_table };
    sim_config *config;
    sim_error error;
    cr_expect_eq(sim_config_new(&config, once, 1, &error), SIM_INTERNAL);
    cr_expect_str_eq(error.message, "s.k: its default: 0 is out of range (1 to 2)");
    cr_expect_eq(sim_config_new(&config, twice, 2, &error), SIM_INTERNAL);
    cr_expect_null(config);
}

Test(config, the_including_file_overrides_and_later_includes_beat_earlier_ones, .init = enter_directory,
     .fini = leave_directory) {
    write_file("a/one.ini", "[engine]\nmax_num_seqs = 1\nfraction = 0.1\npreemption = fifo\n");
    write_file("a/two.ini", "include = b/three.ini\n[engine]\nfraction = 0.2\n");
    write_file("a/b/three.ini", "[engine]\nfraction = 0.3\ninterval = 3s\n[prefill.trace]\npath = ../../t.jsonl\n");
    write_file("top.ini", "include = a/one.ini\ninclude = a/two.ini\n[engine]\nmax_num_seqs = 9\n");
    sim_config *config = new_config();
    sim_error error = { 0 };
    cr_assert_eq(sim_config_load(config, "top.ini", &error), SIM_OK, "%s", error.message);
    const engine_settings engine = engine_of(config);
    cr_expect_eq(engine.max_num_seqs, 9);
    cr_expect_eq(engine.fraction, 0.2);
    cr_expect_eq(engine.interval_ns, INT64_C(3000000000));
    cr_expect_eq(engine.preemption, 1);
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%s/t.jsonl", directory);
    cr_expect_str_eq(trace_of(config).path, wanted, "relative to the included file: %s", trace_of(config).path);
    sim_config_contradiction(config, &error, "engine", "interval", "x");
    cr_expect(strcmp(error.file, "a/b/three.ini") == 0 && error.line == 3, "%s", error.file);
    sim_config_free(config);
}

Test(config, paths_of_a_file_are_beside_it_and_those_of_a_set_are_in_the_working_directory, .init = enter_directory,
     .fini = leave_directory) {
    write_file("a/one.ini", "[prefill.trace]\npath = ./b/t.jsonl\n");
    sim_config *config = new_config();
    sim_error error = { 0 };
    char wanted[200];
    cr_assert_eq(sim_config_load(config, "a/one.ini", &error), SIM_OK);
    snprintf(wanted, sizeof wanted, "%s/a/b/t.jsonl", directory);
    cr_expect_str_eq(trace_of(config).path, wanted);
    cr_assert_eq(sim_config_set(config, "prefill.trace.path=t.jsonl", &error), SIM_OK);
    snprintf(wanted, sizeof wanted, "%s/t.jsonl", directory);
    cr_expect_str_eq(trace_of(config).path, wanted);
    cr_assert_eq(sim_config_set(config, "prefill.trace.path=-", &error), SIM_OK);
    cr_expect_str_eq(trace_of(config).path, "-");
    cr_assert_eq(sim_config_set(config, "prefill.trace.path=../../../..", &error), SIM_OK);
    cr_expect_str_eq(trace_of(config).path, "/");
    sim_config_free(config);
}

Test(config, files_that_cannot_be_read_are_usage_errors, .init = enter_directory, .fini = leave_directory) {
    write_file("missing.ini", "; one\ninclude = a/nothing.ini\n");
    write_file("self.ini", "include = ./a/../self.ini\n");
    write_file("ping.ini", "include = pong.ini\n");
    write_file("pong.ini", "include = ping.ini\n");
    write_file("stdin.ini", "include = -\n");
    write_file("bad.ini", "include = a/bad.ini\n[engine]\n");
    write_file("a/bad.ini", "[engine]\n\nmax_num_seqs = many\n");
    for (int i = 0; i < 20; i++) {
        char name[20], text[40];
        snprintf(name, sizeof name, "deep%d.ini", i);
        snprintf(text, sizeof text, "include = deep%d.ini\n", i + 1);
        write_file(name, text);
    }
    const struct {
        const char *path, *file;
        int line;
        const char *message;
    } cases[] = {
        { "none.ini", "none.ini", 0, "No such file" },
        { "a", "a", 0, "Is a directory" },
        { "missing.ini", "missing.ini", 2, "include a/nothing.ini cannot be read: No such file" },
        { "self.ini", "self.ini", 1, "goes round in a circle" },
        { "ping.ini", "pong.ini", 1, "goes round in a circle (ping.ini" },
        { "stdin.ini", "stdin.ini", 1, "include needs the path of a file" },
        { "bad.ini", "a/bad.ini", 3, "engine.max_num_seqs: \"many\" is not a whole number" },
        { "deep0.ini", "deep16.ini", 1, "nested too deeply (16" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_config *config = new_config();
        sim_error error = { 0 };
        cr_expect_eq(sim_config_load(config, cases[i].path, &error), SIM_USAGE, "%s", cases[i].path);
        cr_expect_str_eq(error.file, cases[i].file);
        cr_expect_eq(error.line, cases[i].line);
        cr_expect(strstr(error.message, cases[i].message), "%s: %s", cases[i].path, error.message);
        sim_config_free(config);
    }
}

Test(config, an_endless_file_is_refused) {
    sim_config *config = new_config();
    sim_error error = { 0 };
    cr_expect_eq(sim_config_load(config, "/dev/zero", &error), SIM_USAGE);
    cr_expect(strstr(error.message, "File too large"), "%s", error.message);
    sim_config_free(config);
}

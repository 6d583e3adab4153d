// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/config/paths.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/forepass-paths-XXXXXX";

static void enter_directory(void) {
    cr_assert(mkdtemp(directory) && chdir(directory) == 0);
    cr_assert(mkdir("real", 0700) == 0 && mkdir("real/deep", 0700) == 0);
    cr_assert_eq(symlink("real/deep", "link"), 0);
}
static void leave_directory(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

static void expect_path(char *path, const char *prefix, const char *wanted) {
    char whole[200];
    snprintf(whole, sizeof whole, "%s%s", prefix, wanted);
    cr_assert_not_null(path);
    cr_expect_str_eq(path, whole);
    free(path);
}

Test(paths, for_messages_a_path_is_put_behind_the_directory_of_the_file) {
    expect_path(sim_path_beside("a/b.ini", "c.ini"), "", "a/c.ini");
    expect_path(sim_path_beside("b.ini", "c.ini"), "", "c.ini");
    expect_path(sim_path_beside("/b.ini", "c.ini"), "", "/c.ini");
    expect_path(sim_path_beside("a/b.ini", "/c.ini"), "", "/c.ini");
    expect_path(sim_path_beside("", "c.ini"), "", "c.ini");
}

Test(paths, absolute_paths_start_from_the_real_directory_of_the_file, .init = enter_directory,
     .fini = leave_directory) {
    const struct {
        const char *from, *path, *wanted; // below `directory`
    } cases[] = {
        { NULL, "t", "/t" },
        { NULL, "./t", "/t" },
        { "x.ini", "t", "/t" },
        { "real/x.ini", "t", "/real/t" },
        { "real/x.ini", "../t", "/t" },
        { "real/deep/x.ini", ".././../t", "/t" },
        { "link/x.ini", "t", "/real/deep/t" },
        { "link/x.ini", "../t", "/real/t" },                 // where the file system goes, too
        { "link/x.ini", "sub/../t", "/real/deep/sub/../t" }, // sub may be a link: left alone
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_path(sim_path_absolute(cases[i].from, cases[i].path), directory, cases[i].wanted);
    }
    expect_path(sim_path_absolute("real/x.ini", "/t"), "", "/t");
    expect_path(sim_path_absolute("real/x.ini", ""), "", "");
    expect_path(sim_path_absolute("real/x.ini", "-"), "", "-");
    expect_path(sim_path_absolute("/x.ini", "../../t"), "", "/t");
    cr_expect_null(sim_path_absolute("nowhere/x.ini", "t"));
}

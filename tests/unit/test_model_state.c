// SPDX-License-Identifier: GPL-3.0-or-later
//
// model_write.c and model_read.c together. That loaded models go on like saved ones is in property/test_model_naive.
#include "tests/support/standin_estimator.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char regression_state[] =
    "{\"format\":\"forepass-perfmodel-state\",\"version\":1,\"mode\":\"regression\",\n"
    "\"options\":{\"max_observations\":2,\"min_observations\":1,\"min_faster_correction_factor\":0.5,"
    "\"max_slower_correction_factor\":2,\"bucket_count\":16,\"max_num_tokens\":8192,\"max_batch_size\":512,"
    "\"max_kv_tokens\":2000000},\n"
    "\"kinds\":{\n"
    "\"prefill\":{\"low\":[10],\"high\":[50],\"samples\":[[20,1.5],[30,\"inf\"]]},\n"
    "\"decode\":{\"samples\":[]},\n"
    "\"mixed\":{\"low\":[1,0],\"high\":[1,9],\"samples\":[[1,9,0.30000000000000004]]}}}\n";

static const char native_state[] =
    "{\"format\":\"forepass-perfmodel-state\",\"version\":1,\"mode\":\"native\",\"estimator\":\"stand-in\",\n"
    "\"options\":{\"max_observations\":64,\"min_observations\":5,\"min_faster_correction_factor\":0.5,"
    "\"max_slower_correction_factor\":null,\"bucket_count\":16,\"max_num_tokens\":8192,\"max_batch_size\":512,"
    "\"max_kv_tokens\":2000000},\n"
    "\"kinds\":{\n"
    "\"prefill\":{\"samples\":[[20,1.5],[30,\"inf\"]]},\n"
    "\"decode\":{\"samples\":[[512,2000000,0.5]]},\n"
    "\"mixed\":{\"samples\":[]}}}\n";

// The forms beside the reference's; a robust regression keeps the batch of mixed passes.
static const char robust_state[] =
    "{\"format\":\"forepass-perfmodel-state\",\"version\":1,\"mode\":\"regression\",\n"
    "\"options\":{\"max_observations\":2,\"min_observations\":1,\"min_faster_correction_factor\":0.5,"
    "\"max_slower_correction_factor\":2,\"bucket_count\":16,\"max_num_tokens\":8192,\"max_batch_size\":512,"
    "\"max_kv_tokens\":2000000,\"correction\":\"smooth\",\"regression\":\"robust\"},\n"
    "\"kinds\":{\n"
    "\"prefill\":{\"low\":[10],\"high\":[50],\"samples\":[[20,1.5],[30,\"inf\"]]},\n"
    "\"decode\":{\"low\":[3,9],\"high\":[3,9],\"samples\":[[3,9,7]]},\n"
    "\"mixed\":{\"low\":[1,0],\"high\":[5,9],\"samples\":[[1,9,4,0.30000000000000004],[5,0,6,2]]}}}\n";

static const char smooth_state[] =
    "{\"format\":\"forepass-perfmodel-state\",\"version\":1,\"mode\":\"native\",\"estimator\":\"stand-in\",\n"
    "\"options\":{\"max_observations\":64,\"min_observations\":1,\"min_faster_correction_factor\":0.5,"
    "\"max_slower_correction_factor\":null,\"bucket_count\":16,\"max_num_tokens\":8192,\"max_batch_size\":512,"
    "\"max_kv_tokens\":2000000,\"correction\":\"smooth\"},\n"
    "\"kinds\":{\n"
    "\"prefill\":{\"samples\":[[20,1.5],[30,\"inf\"]]},\n"
    "\"decode\":{\"samples\":[[512,2000000,0.5]]},\n"
    "\"mixed\":{\"samples\":[]}}}\n";

static fpm_status read_text(const char *text, fpm_model **model, fpm_error *error) {
    fpm_estimator *estimator;
    standin_new(&estimator, NULL);
    const fpm_status status = fpm_model_read(model, text, strlen(text), estimator, error);
    fpm_estimator_free(estimator);
    return status;
}

static char *write_text(const fpm_model *model) {
    char *text;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);
    cr_assert_eq(fpm_model_write(model, out, NULL), FPM_OK);
    fclose(out);
    return text;
}

Test(model_state, what_is_read_is_written_again_byte_for_byte) {
    const char *const texts[] = { regression_state, native_state, robust_state, smooth_state };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fpm_model *model;
        fpm_error error = { 0 };
        cr_assert_eq(read_text(texts[i], &model, &error), FPM_OK, "%s at %ld:%ld", error.message, (long)error.line,
                     (long)error.column);
        char *text = write_text(model);
        cr_assert_str_eq(text, texts[i]);
        free(text);
        fpm_model_free(model);
    }
}

// A text with `from` replaced by `to`, which must be refused.
typedef struct bad_state {
    const char *text, *from, *to;
    fpm_status status;
} bad_state;

static char *replaced(const bad_state *bad) {
    const char *at = strstr(bad->text, bad->from);
    cr_assert(at, "%s", bad->from);
    char *text = calloc(1, strlen(bad->text) + strlen(bad->to) + 1);
    memcpy(text, bad->text, (size_t)(at - bad->text));
    strcat(text, bad->to);
    strcat(text, at + strlen(bad->from));
    return text;
}

Test(model_state, states_no_model_could_have_saved_are_refused) {
    static const bad_state cases[] = {
        { robust_state, "\"robust\"", "\"best\"", FPM_SYNTAX },
        { robust_state, "\"smooth\"", "null", FPM_SYNTAX },
        { robust_state, "[5,0,6,2]", "[5,0,2]", FPM_SYNTAX }, // the batch is missing
        { robust_state, "[3,9,7]", "[3,9,7,7]", FPM_SYNTAX }, // and not wanted here
        { regression_state, "forepass-perfmodel-state", "other", FPM_SYNTAX },
        { regression_state, "\"version\":1", "\"version\":2", FPM_SYNTAX },
        { regression_state, "\"version\":1,", "", FPM_SYNTAX },
        { regression_state, "\"regression\"", "\"oracle\"", FPM_SYNTAX },
        { regression_state, "\"regression\"", "\"native\"", FPM_SYNTAX },
        { native_state, "\"native\"", "\"regression\"", FPM_SYNTAX },
        { native_state, "\"estimator\":\"stand-in\",", "", FPM_SYNTAX },
        { native_state, "stand-in", "polynomial", FPM_INVALID_CONFIG },
        { native_state, "\"estimator\"", "\"last_warning\":\"x\",\"estimator\"", FPM_SYNTAX },
        { regression_state, "\"bucket_count\":16", "\"bucket_count\":15", FPM_INVALID_CONFIG },
        { regression_state, "\"bucket_count\":16,", "", FPM_SYNTAX },
        { regression_state, "\"max_observations\":2", "\"max_observations\":-2", FPM_OUT_OF_RANGE },
        { regression_state, "\"max_observations\":2", "\"max_observations\":1", FPM_OUT_OF_RANGE },
        { regression_state, "\"low\":[10]", "\"low\":[25]", FPM_OUT_OF_RANGE },
        { regression_state, "\"low\":[10]", "\"low\":[60]", FPM_OUT_OF_RANGE },
        { regression_state, "\"low\":[10]", "\"low\":[]", FPM_SYNTAX },
        { regression_state, "\"low\":[10]", "\"low\":[10,0]", FPM_SYNTAX },
        { regression_state, "\"low\":[10],", "", FPM_SYNTAX },
        { regression_state, "\"low\":[10],\"high\":[50],", "", FPM_OUT_OF_RANGE },
        { regression_state, "\"decode\":{", "\"decode\":{\"low\":[1,1],\"high\":[2,2],", FPM_SYNTAX },
        { regression_state, "\"decode\":{\"samples\":[]},", "", FPM_SYNTAX },
        { regression_state, "\"decode\":{\"samples\":[]}", "\"decode\":{}", FPM_SYNTAX },
        { regression_state, "[20,1.5]", "[0,1.5]", FPM_OUT_OF_RANGE },
        { regression_state, "[20,1.5]", "[20,0]", FPM_OUT_OF_RANGE },
        { regression_state, "[20,1.5]", "[20,-1]", FPM_OUT_OF_RANGE },
        { regression_state, "[20,1.5]", "[20,1e999]", FPM_OUT_OF_RANGE },
        { regression_state, "[20,1.5]", "[20]", FPM_SYNTAX },
        { regression_state, "[20,1.5]", "[20,1,5]", FPM_SYNTAX },
        { regression_state, "[20,1.5]", "[20,\"nan\"]", FPM_SYNTAX },
        { regression_state, "[20,1.5]", "[20.5,1]", FPM_SYNTAX },
        { regression_state, "[20,1.5]", "[4294967296,1]", FPM_OUT_OF_RANGE },
        { regression_state, "[20,1.5]", "null", FPM_SYNTAX },
        { regression_state, "}}}", "}}", FPM_SYNTAX },
        { regression_state, "}}}", "}}} x", FPM_SYNTAX },
        { native_state, "[20,1.5]", "[20,0.4]", FPM_OUT_OF_RANGE },
        { native_state, "null", "2", FPM_OUT_OF_RANGE }, // then an infinite ratio was not kept
        { native_state, "[20,1.5]", "[8193,1.5]", FPM_OUT_OF_RANGE },
        { native_state, "\"prefill\":{", "\"prefill\":{\"low\":[1],\"high\":[90],", FPM_SYNTAX },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = replaced(&cases[i]);
        fpm_model *model = NULL;
        fpm_error error = { 0 };
        cr_assert_eq(read_text(text, &model, &error), cases[i].status, "case %zu (%s -> %s): %s", i, cases[i].from,
                     cases[i].to, error.message);
        cr_assert_null(model);
        cr_assert(error.message[0]);
        if (cases[i].status != FPM_INVALID_CONFIG) cr_assert(error.line >= 1 && error.column >= 1);
        free(text);
    }
}

Test(model_state, every_cut_of_a_state_is_refused) {
    for (size_t n = 0; n + 1 < sizeof native_state - 1; n++) {
        fpm_model *model = NULL;
        cr_assert_neq(fpm_model_read(&model, native_state, n, NULL, NULL), FPM_OK, "cut at %zu", n);
    }
}

Test(model_state, errors_say_line_and_column) {
    const bad_state bad = { regression_state, "[30,\"inf\"]", "[30,true]", FPM_SYNTAX };
    char *text = replaced(&bad);
    fpm_model *model;
    fpm_error error;
    cr_assert_eq(read_text(text, &model, &error), FPM_SYNTAX);
    cr_assert_eq(error.line, 4);
    cr_assert_eq(error.column, strstr(strstr(text, "\"prefill\""), "true") - strstr(text, "\"prefill\"") + 1);
    free(text);
}

Test(model_state, a_native_state_needs_its_estimator) {
    fpm_model *model;
    fpm_error error;
    cr_assert_eq(fpm_model_read(&model, native_state, strlen(native_state), NULL, &error), FPM_INVALID_CONFIG);
    cr_assert(strstr(error.message, "stand-in"));
    cr_assert_eq(fpm_model_read(&model, regression_state, strlen(regression_state), NULL, &error), FPM_OK);
    fpm_model_free(model);
}

Test(model_state, files_appear_complete_or_not_at_all) {
    char directory[] = "/tmp/test_model_state.XXXXXX", path[128];
    cr_assert(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/model.json", directory);
    fpm_model *model, *loaded;
    fpm_error error = { 0 };
    cr_assert_eq(read_text(regression_state, &model, NULL), FPM_OK);
    cr_assert_eq(fpm_model_save(model, path, &error), FPM_OK, "%s", error.message);
    cr_assert_eq(fpm_model_save(model, path, &error), FPM_OK); // over the old one
    cr_assert_eq(fpm_model_load(&loaded, path, NULL, &error), FPM_OK, "%s", error.message);
    char *text = write_text(loaded);
    cr_assert_str_eq(text, regression_state);
    free(text);
    fpm_model_free(loaded);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(fpm_model_load(&loaded, path, NULL, &error), FPM_IO);
    cr_assert_str_eq(error.file, path);
    cr_assert_eq(fpm_model_save(model, "/nonexistent/model.json", &error), FPM_IO);
    cr_assert_eq(mkdir(path, 0777), 0); // a name that cannot be taken
    cr_assert_eq(fpm_model_save(model, path, &error), FPM_IO);
    cr_assert_eq(rmdir(path), 0);
    cr_assert_eq(rmdir(directory), 0); // nothing else is left
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    cr_assert_eq(fpm_model_write(model, full, &error), FPM_IO);
    fclose(full);
    fpm_model_free(model);
}

Test(model_state, the_warning_of_a_fallback_is_kept) {
    const bad_state with_warning = { regression_state, "\"mode\":\"regression\"",
                                     "\"mode\":\"regression\",\"last_warning\":\"a \\\"b\\\" \\\\ c\"", FPM_OK };
    char *text = replaced(&with_warning);
    fpm_model *model;
    cr_assert_eq(read_text(text, &model, NULL), FPM_OK);
    cr_assert_str_eq(fpm_model_diagnostics(model).last_warning, "a \"b\" \\ c");
    char *again = write_text(model);
    cr_assert_str_eq(again, text);
    free(again);
    free(text);
    fpm_model_free(model);
}

Test(model_state, saving_never_takes_the_place_of_a_device_or_a_directory) {
    fpm_model *model;
    fpm_error error;
    cr_assert_eq(fpm_model_new_regression(&model, NULL, &error), FPM_OK);
    cr_expect_eq(fpm_model_save(model, "/dev/null", &error), FPM_IO);
    cr_expect(strstr(error.message, "no regular file"), "%s", error.message);
    cr_expect_eq(fpm_model_save(model, "/tmp", &error), FPM_IO);
    fpm_model_free(model);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/table_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/deployment/system_file.h"

static sim_system_file file;
static fpm_operators operators;

static void load_system(void) {
    sim_error error = { 0 };
    cr_assert_eq(sim_system_file_load(&file, SOURCE_DIR "/configs/systems/h100_sxm.ini", &error), SIM_OK);
    fpm_operators_init(&operators, &file.system);
}

static sim_status parse(const char *name, const char *text, fpm_operator_tables **tables, sim_error *error) {
    return sim_table_files_parse(tables, text, strlen(text), name, &operators, error);
}

Test(table_files, rows_become_the_shapes_of_operations, .init = load_system) {
    static const struct {
        const char *name, *text;
        fpm_table_cell shape;
        double count, ms;
    } cases[] = {
        { "gemm.csv",
          "weights,m,n,k,ms\nfp8,16,4096,4096,0.02\n",
          { .kind = FPM_TABLE_GEMM, .weights = FPM_FP8, .n = 4096, .k = 4096 },
          16,
          0.02 },
        { "gemm.csv",
          "ms,activations,k,n,m,weights\n0.02,bf16,4096,2048,16,fp8\n",
          { .kind = FPM_TABLE_GEMM, .weights = FPM_FP8, .has_16bit_activations = true, .n = 2048, .k = 4096 },
          16,
          0.02 },
        { "gemm.csv",
          "weights,m,n,k,ms\nint4,1,4096,4096,0.02\n", // as a model of this format has it
          { .kind = FPM_TABLE_GEMM, .weights = FPM_INT4, .has_16bit_activations = true, .n = 4096, .k = 4096 },
          1,
          0.02 },
        { "moe.csv",
          "weights,tokens,hidden,intermediate,experts,topk,moe_tensor,expert,ms\nbf16,8,2048,768,128,8,1,4,2\n",
          { .kind = FPM_TABLE_MOE,
            .moe = { .hidden = 2048,
                     .intermediate = 768,
                     .n_experts = 128,
                     .experts_per_token = 8,
                     .tensor = 1,
                     .expert = 4 } },
          8,
          2 },
        { "collective.csv",
          "collective,ranks,bytes,ms\nreduce_scatter,4,65536,0.1\n",
          { .kind = FPM_TABLE_COLLECTIVE, .collective = FPM_REDUCE_SCATTER, .ranks = 4 },
          65536,
          0.1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_operator_tables *tables;
        sim_error error = { 0 };
        cr_assert_eq(parse(cases[i].name, cases[i].text, &tables, &error), SIM_OK, "%zu: %s", i, error.message);
        const fpm_table_curve *curve = fpm_operator_tables_find(tables, &cases[i].shape);
        cr_assert(curve, "%zu", i);
        cr_expect_eq(fpm_table_curve_first(tables, curve), cases[i].count);
        cr_expect_eq(fpm_table_curve_ms(tables, curve, cases[i].count), cases[i].ms);
        fpm_operator_tables_free(tables);
    }
}

Test(table_files, mistakes_have_file_and_line, .init = load_system) {
    static const char gemm[] = "gemm.csv", moe[] = "moe.csv", collective[] = "collective.csv";
    static const struct {
        const char *name, *text;
        int64_t line;
        const char *message;
    } cases[] = {
        { gemm, "weights,m,n,k\n", 1, "there is no column \"ms\" (columns: weights, [activations], m, n, k, ms)" },
        { gemm, "weights,m,n,k,ms\nfp7,1,1,1,1\n", 2, "weights \"fp7\" is not right (bf16, fp8," },
        { gemm, "weights,m,n,k,ms\nfp8,0,1,1,1\n", 2, "m \"0\" is not right (a whole number from 1" },
        { gemm, "weights,activations,m,n,k,ms\nfp8,fp8,1,1,1,1\n", 2,
          "activations \"fp8\" is not right (auto, bf16 or quantised)" },
        { gemm, "weights,m,n,k,ms\nbf16,8,4096,4096,0.02\nbf16,16,4096,4096,0.019\n", 3,
          "time must not fall as m grows" },
        { gemm, "weights,m,n,k,ms\nbf16,8192,8192,8192,0.5\n", 2,
          "0.5 ms is faster than h100_sxm allows, which needs 1.1" },
        { moe, "weights,tokens,hidden,intermediate,experts,topk,moe_tensor,expert,gated,ms\nbf16,1,1,1,1,1,1,1,no,1\n",
          2, "gated \"no\" is not right" },
        { moe, "weights,tokens,hidden,intermediate,experts,topk,moe_tensor,expert,ms\nbf16,1,1,1,4,8,1,1,1\n", 2,
          "topk and expert must not be above experts (4)" },
        { collective, "collective,ranks,bytes,ms\nbroadcast,2,1,1\n", 2, "collective \"broadcast\" is not right" },
        { collective, "collective,ranks,bytes,ms\nall_reduce,1,1,1\n", 2, "ranks \"1\" is not right (2 or more)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_operator_tables *tables;
        sim_error error = { 0 };
        cr_expect_eq(parse(cases[i].name, cases[i].text, &tables, &error), SIM_BAD_DATA, "%zu", i);
        cr_expect_null(tables);
        cr_expect_eq(error.line, cases[i].line, "%zu: %lld", i, (long long)error.line);
        cr_expect_str_eq(error.file, cases[i].name);
        cr_expect(strstr(error.message, cases[i].message), "%zu: %s", i, error.message);
    }
}

static void write_file(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    cr_assert(out);
    fputs(text, out);
    fclose(out);
}

Test(table_files, a_directory_is_read_as_a_whole, .init = load_system) {
    char dir[] = "/tmp/test_table_files_XXXXXX", path[64];
    cr_assert(mkdtemp(dir));
    fpm_operator_tables *tables;
    sim_error error = { 0 };
    cr_expect_eq(sim_table_files_load(&tables, dir, &operators, &error), SIM_USAGE);
    cr_expect(strstr(error.message, "there is no operator table"), "%s", error.message);
    snprintf(path, sizeof path, "%s/gemm.csv", dir);
    write_file(path, "weights,m,n,k,ms\nbf16,16,4096,4096,0.02\n");
    cr_expect_eq(sim_table_files_load(&tables, dir, &operators, &error), SIM_OK, "%s", error.message);
    fpm_operator_tables_free(tables);
    snprintf(path, sizeof path, "%s/collective.csv", dir);
    write_file(path, "collective,ranks,bytes,ms\nall_reduce,2,10,-1\n");
    cr_expect_eq(sim_table_files_load(&tables, dir, &operators, &error), SIM_BAD_DATA);
    cr_expect_str_eq(error.file, path);
    cr_expect_eq(error.line, 2);
    remove(path);
    snprintf(path, sizeof path, "%s/attention_decode.csv", dir);
    write_file(path, "");
    cr_expect_eq(sim_table_files_load(&tables, dir, &operators, &error), SIM_USAGE);
    cr_expect(strstr(error.message,
                     "attention_decode.csv is no operator table (gemm.csv, moe.csv, collective.csv; attention keeps"),
              "%s", error.message);
    remove(path);
    snprintf(path, sizeof path, "%s/gemm.csv", dir);
    remove(path);
    rmdir(dir);
    cr_expect_eq(sim_table_files_load(&tables, dir, &operators, &error), SIM_USAGE);
    cr_expect(strstr(error.message, "No such file"), "%s", error.message);
}

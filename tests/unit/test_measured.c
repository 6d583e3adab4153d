// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/measured_fixture.h"

Test(measured, columns_are_what_their_names_say_in_any_order) {
    sim_config *known = measured_base(NULL);
    sim_measured *m =
        measured_from(known, "\xef\xbb\xbfmeasured.tpot_ms,label.cell,load.concurrency,id,measured.ttft_ms\r\n"
                             "10.5,\"a, b\",8,first,\r\n\r\n,c,,second,2e3");
    cr_assert_eq(m->n_rows, 2);
    cr_assert_eq(m->n_columns, 5);
    cr_assert_eq(m->id_column, 3);
    const sim_column_kind kinds[] = { SIM_COLUMN_TARGET, SIM_COLUMN_LABEL, SIM_COLUMN_KEY, SIM_COLUMN_ID,
                                      SIM_COLUMN_TARGET };
    for (size_t i = 0; i < 5; i++) cr_assert_eq(m->columns[i].kind, kinds[i]);
    cr_assert_str_eq(sim_measured_id(m, 1), "second");
    cr_assert_str_eq(m->rows[0].cells[1], "a, b");
    cr_assert_str_eq(m->rows[1].cells[2], "");
    cr_assert_eq(m->rows[0].measured[SIM_TARGET_TPOT], 10.5);
    cr_assert(isnan(m->rows[0].measured[SIM_TARGET_TTFT]));
    cr_assert_eq(m->rows[1].measured[SIM_TARGET_TTFT], 2000);
    cr_assert_eq(m->rows[1].line, 4);
    sim_measured_free(m);
    sim_config_free(known);
}

Test(measured, what_is_wrong_with_a_table_is_told_with_its_place) {
    static const struct {
        const char *text;
        int64_t line;
        const char *message;
    } cases[] = {
        { "", 0, "no rows" },
        { "id,measured.ttft_ms\n", 0, "no rows" },
        { "load.rate,measured.ttft_ms\n1,2\n", 1, "no column id" },
        { "id,load.rate\na,2\n", 1, "no measured column" },
        { "id,load.concurency,measured.ttft_ms\n", 1, "did you mean load.concurrency?" },
        { "id,mesured.ttft_ms\n", 1, "did you mean measured.ttft_ms?" },
        { "id,measured.tpot\n", 1, "did you mean measured.tpot_ms?" },
        { "id,measured.\n", 1, "unknown column" },
        { "id,label.,measured.ttft_ms\n", 1, "label." },
        { "id,concurrency,measured.ttft_ms\n", 1, "unknown column \"concurrency\"" },
        { "id,,measured.ttft_ms\n", 1, "unknown column \"\"" },
        { "id,label.a,label.a,measured.ttft_ms\n", 1, "two columns are called \"label.a\"" },
        { "id,measured.ttft_ms\na\n", 2, "the row has 1 fields, the header 2" },
        { "id,measured.ttft_ms\na,1,\n", 2, "the row has 3 fields, the header 2" },
        { "id,measured.ttft_ms\n,1\n", 2, "the row has no id" },
        { "id,measured.ttft_ms\na,1\nb,1\na,2\n", 4, "id a is taken by line 2 already" },
        { "id,measured.ttft_ms\na,\n", 2, "no measured value at all" },
        { "id,measured.ttft_ms\na,nan\n", 2, "measured.ttft_ms: \"nan\" is no measured value" },
        { "id,measured.ttft_ms\na,inf\n", 2, "\"inf\" is no measured value" },
        { "id,measured.ttft_ms\na,-1\n", 2, "\"-1\" is no measured value" },
        { "id,measured.ttft_ms\na,0\n", 2, "\"0\" is no measured value" },
        { "id,measured.ttft_ms\na,1ms\n", 2, "\"1ms\" is no measured value" },
        { "id,measured.ttft_ms\na,\"1\n", 2, "no end" },
        { "id,measured.ttft_ms\ra,1\r", 1, "CR alone" },
        { "id;measured.ttft_ms\na;1\n", 1, "unknown column" },
    };
    sim_config *known = measured_base(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_measured *m;
        sim_error error;
        cr_assert_eq(measured_from_bytes(&m, known, cases[i].text, strlen(cases[i].text), &error), SIM_BAD_DATA, "%s",
                     cases[i].text);
        cr_assert_null(m);
        cr_assert(strstr(error.message, cases[i].message), "\"%s\" for %s", error.message, cases[i].text);
        cr_assert_eq(error.line, cases[i].line, "line %lld for %s", (long long)error.line, cases[i].text);
        cr_assert(strstr(error.file, "forepass-measured"));
    }
    sim_measured *m;
    sim_error error;
    cr_assert_eq(measured_from_bytes(&m, known, "id,measured.ttft_ms\na\0,1\n", 24, &error), SIM_BAD_DATA);
    cr_assert(strstr(error.message, "NUL"));
    cr_assert_eq(sim_measured_read(&m, "/nowhere/none.csv", known, &error), SIM_IO);
    sim_config_free(known);
}

Test(measured, filters_on_one_column_are_alternatives_and_on_two_must_both_hold) {
    sim_config *known = measured_base(NULL);
    static const char text[] = "id,label.a,label.b,measured.ttft_ms\n"
                               "1,x,p,1\n2,y,p,1\n3,z,p,1\n4,x,q,1\n";
    static const struct {
        const char *filters[3];
        const char *ids;
    } cases[] = {
        { { NULL }, "1234" },
        { { "label.a=x" }, "14" },
        { { "label.a=x", "label.a=y" }, "124" },
        { { "label.a=x", "label.b=q" }, "4" },
        { { "label.a=x", "label.b=q", "label.a=z" }, "4" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_measured *m = measured_from(known, text);
        size_t n = 0;
        while (n < 3 && cases[i].filters[n]) n++;
        cr_assert_eq(sim_measured_filter(m, cases[i].filters, n, NULL), SIM_OK);
        char ids[8] = "";
        for (size_t k = 0; k < m->n_rows; k++) strcat(ids, sim_measured_id(m, k));
        cr_assert_str_eq(ids, cases[i].ids);
        sim_measured_free(m);
    }
    static const struct {
        const char *filter, *message;
        sim_status status;
    } refused[] = {
        { "label.a", "write COLUMN=VALUE", SIM_USAGE },
        { "label.c=x", "did you mean label.a?", SIM_USAGE },
        { "label.a=nothing", "no row passes", SIM_BAD_DATA },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        sim_measured *m = measured_from(known, text);
        sim_error error;
        cr_assert_eq(sim_measured_filter(m, &refused[i].filter, 1, &error), refused[i].status);
        cr_assert(strstr(error.message, refused[i].message), "%s", error.message);
        sim_measured_free(m);
    }
    sim_config_free(known);
}

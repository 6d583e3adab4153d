// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/timestamp.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct stamp_case {
    const char *text;
    sim_time_unit unit;
    int64_t ns;
    bool is_fractional;
} stamp_case;

Test(timestamp, numbers_become_whole_nanoseconds_exactly) {
    static const stamp_case cases[] = {
        { "0", SIM_UNIT_MS, 0, false },
        { "27482", SIM_UNIT_MS, 27482000000, false },
        { "1234567890123", SIM_UNIT_MS, 1234567890123000000, false },
        { "1753694362340138614", SIM_UNIT_NS, 1753694362340138614, false },
        { "1753694362340138615", SIM_UNIT_NS, 1753694362340138615, false },
        { "9223372036854775807", SIM_UNIT_NS, INT64_MAX, false },
        { "-9223372036854775807", SIM_UNIT_NS, -INT64_MAX, false },
        { "0.2", SIM_UNIT_MS, 200000, true },
        { "0.0", SIM_UNIT_MS, 0, false },
        { "199.96150599999999", SIM_UNIT_S, 199961506000, true },
        { "0.1", SIM_UNIT_S, 100000000, true },
        { "1e3", SIM_UNIT_MS, 1000000000, false },
        { "15E-1", SIM_UNIT_US, 1500, true },
        { "1.5e+1", SIM_UNIT_NS, 15, false },
        { "120e-1", SIM_UNIT_NS, 12, false },
        { "0.0000000005", SIM_UNIT_S, 1, true },
        { "0.00000000049999999999999", SIM_UNIT_S, 0, true },
        { "1.5", SIM_UNIT_NS, 2, true },
        { "2.5", SIM_UNIT_NS, 3, true },
        { "-0.5", SIM_UNIT_NS, 0, true },
        { "-1.5", SIM_UNIT_NS, -1, true },
        { "-1.51", SIM_UNIT_NS, -2, true },
        { "-1500", SIM_UNIT_MS, -1500000000, false },
        { "0e99999999999999999999", SIM_UNIT_S, 0, false },
        { "1e-99999999999999999999", SIM_UNIT_S, 0, true },
        { "0007", SIM_UNIT_NS, 7, false },
        { "0.000000000000000000001e21", SIM_UNIT_NS, 1, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_stamp stamp = { 0 };
        const char *complaint = sim_stamp_parse(cases[i].text, strlen(cases[i].text), cases[i].unit, &stamp);
        cr_assert_null(complaint, "%s: %s", cases[i].text, complaint);
        cr_expect_eq(stamp.ns, cases[i].ns, "%s: %lld", cases[i].text, (long long)stamp.ns);
        cr_expect_eq(stamp.is_fractional, cases[i].is_fractional, "%s", cases[i].text);
    }
}

Test(timestamp, what_is_no_number_or_does_not_fit_is_refused) {
    static const char *const bad[] = { "",
                                       "-",
                                       "+1",
                                       "1.",
                                       ".5",
                                       "1e",
                                       "1e+",
                                       "1e5x",
                                       "1 ",
                                       " 1",
                                       "0x10",
                                       "NaN",
                                       "inf",
                                       "1,5",
                                       "1.2.3",
                                       "--1",
                                       "1e-x",
                                       "1_000",
                                       "1e19",
                                       "9223372036854775808",
                                       "9223372036854775807.5",
                                       "1e400" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sim_stamp stamp;
        cr_expect(sim_stamp_parse(bad[i], strlen(bad[i]), SIM_UNIT_NS, &stamp), "\"%s\" was taken", bad[i]);
    }
    sim_stamp stamp;
    cr_expect(sim_stamp_parse("1753694362340138614", 19, SIM_UNIT_MS, &stamp), "epoch ns read as ms do not fit");
}

Test(timestamp, dates_are_utc_unless_they_name_a_zone) {
    static const stamp_case cases[] = {
        { "1970-01-01 00:00:00", SIM_UNIT_CALENDAR, 0, false },
        { "1970-01-01T00:00:00Z", SIM_UNIT_CALENDAR, 0, false },
        { "1969-12-31 23:59:59.5", SIM_UNIT_CALENDAR, -500000000, true },
        { "2023-11-16 18:17:03.9799600", SIM_UNIT_CALENDAR, 1700158623979960000, true },
        { "2024-05-10 00:00:00.009930+00:00", SIM_UNIT_CALENDAR, 1715299200009930000, true },
        { "2024-05-10 00:00:00+00:00", SIM_UNIT_CALENDAR, 1715299200000000000, false },
        { "2024-05-10 02:30:00+02:30", SIM_UNIT_CALENDAR, 1715299200000000000, false },
        { "2024-05-09 19:00:00-05:00", SIM_UNIT_CALENDAR, 1715299200000000000, false },
        { "2024-02-29 00:00:00", SIM_UNIT_CALENDAR, 1709164800000000000, false },
        { "2000-02-29 00:00:00", SIM_UNIT_CALENDAR, 951782400000000000, false },
        { "2024-03-31 02:30:00.123456789", SIM_UNIT_CALENDAR, 1711852200123456789, true },
        { "2261-12-31 23:59:59", SIM_UNIT_CALENDAR, 9214646399000000000, false },
    };
    setenv("TZ", "Europe/Berlin", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_stamp stamp = { 0 };
        const char *complaint = sim_stamp_parse(cases[i].text, strlen(cases[i].text), SIM_UNIT_CALENDAR, &stamp);
        cr_assert_null(complaint, "%s: %s", cases[i].text, complaint);
        cr_expect_eq(stamp.ns, cases[i].ns, "%s: %lld", cases[i].text, (long long)stamp.ns);
        cr_expect_eq(stamp.is_fractional, cases[i].is_fractional, "%s", cases[i].text);
    }
}

Test(timestamp, dates_that_are_not_in_the_calendar_or_not_in_the_form_are_refused) {
    static const char *const bad[] = {
        "",
        "2023-02-29 00:00:00",
        "1900-02-29 00:00:00",
        "2023-00-01 00:00:00",
        "2023-13-01 00:00:00",
        "2023-04-31 00:00:00",
        "2023-11-00 00:00:00",
        "2023-11-16 24:00:00",
        "2023-11-16 18:60:00",
        "2023-11-16 18:15:60",
        "16/11/2023 18:15:47",
        "2023-11-16 18:15",
        "2023-11-16 18:15:48.",
        "2023-11-16",
        "2023-11-16 18:15:48.1234567890",
        "2023-11-16 18:15:48,5",
        "2023-11-16  18:15:48",
        "2023-11-16t18:15:48",
        "2023-11-16 18:15:48z",
        "2023-11-16 18:15:48 Z",
        "2023-11-16 18:15:48+0200",
        "2023-11-16 18:15:48+02",
        "2023-11-16 18:15:48+24:00",
        "2023-11-16 18:15:48ZZ",
        "0000-01-01 00:00:00",
        "2263-01-01 00:00:00",
        "1600-01-01 00:00:00",
        "23-11-16 18:15:48",
        "2023-1-16 18:15:48",
        "1700158623",
        " 2023-11-16 18:15:48",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sim_stamp stamp;
        cr_expect(sim_stamp_parse(bad[i], strlen(bad[i]), SIM_UNIT_CALENDAR, &stamp), "\"%s\" was taken", bad[i]);
    }
}

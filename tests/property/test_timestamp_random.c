// SPDX-License-Identifier: GPL-3.0-or-later
//
// Stamps against independent arithmetic: decimal numbers printed from a 128-bit count of attoseconds, dates made by the
// C library.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/workload/timestamp.h"
#include "tests/support/dice.h"

__extension__ typedef __int128 wide;

enum { ROUNDS = 300000 };

// `value` with its point moved `places` digits to the left, in one of the many ways JSON has to write it.
static void print_decimal(wide value, int places, char *text, size_t capacity) {
    char digits[64];
    bool is_negative = value < 0;
    if (is_negative) value = -value;
    int n = 0;
    for (; value > 0 || n <= places; value /= 10) digits[n++] = (char)('0' + (int)(value % 10));
    int exponent = dice(3) ? 0 : (int)dice(7) - 3;
    int point = places + exponent; // digits behind the point as written
    if (point < 0 || point >= n) exponent = 0, point = places;
    size_t at = 0;
    if (is_negative) text[at++] = '-';
    for (int i = n - 1; i >= 0; i--) {
        text[at++] = digits[i];
        if (i == point && i > 0) text[at++] = '.';
    }
    text[at] = '\0';
    if (exponent != 0)
        snprintf(text + at, capacity - at, "%c%s%d", dice(2) ? 'e' : 'E', exponent > 0 && dice(2) ? "+" : "", exponent);
}

Test(timestamp_random, decimal_stamps_agree_with_128_bit_arithmetic) {
    static const struct {
        sim_time_unit unit;
        int places; // of a nanosecond
    } units[] = { { SIM_UNIT_NS, 0 }, { SIM_UNIT_US, 3 }, { SIM_UNIT_MS, 6 }, { SIM_UNIT_S, 9 } };
    for (int round = 0; round < ROUNDS; round++) {
        // A count of 10^-finer nanoseconds, so that rounding below 1 ns is tried, with its ties.
        int finer = (int)dice(4), u = (int)dice(4);
        wide step = 1;
        for (int i = 0; i < finer; i++) step *= 10;
        int64_t whole = (int64_t)(dice(UINT64_MAX) >> (1 + dice(63)));
        wide fine = (wide)whole * step + (dice(4) ? (wide)dice((uint64_t)step) : step / 2);
        if (dice(3) == 0) fine = -fine;
        char text[128];
        print_decimal(fine, units[u].places + finer, text, sizeof text);
        wide doubled = 2 * fine + step, rounded = doubled / (2 * step); // floor(x + 1/2)
        if (doubled % (2 * step) < 0) rounded--;
        sim_stamp stamp = { 0 };
        const char *complaint = sim_stamp_parse(text, strlen(text), units[u].unit, &stamp);
        if (rounded > INT64_MAX || rounded < -INT64_MAX) {
            cr_assert(complaint, "%s was taken", text);
            continue;
        }
        cr_assert_null(complaint, "%s: %s", text, complaint);
        cr_assert_eq(stamp.ns, (int64_t)rounded, "%s in unit %d: %" PRId64 ", expected %" PRId64, text, u, stamp.ns,
                     (int64_t)rounded);
    }
}

Test(timestamp_random, dates_agree_with_the_c_library) {
    for (int round = 0; round < ROUNDS; round++) {
        // 1678 to 2261
        time_t seconds = (time_t)dice(18400000000u) - 9200000000;
        int64_t ns = (int64_t)dice(1000000000);
        int zone = dice(2) ? 0 : (int)dice(2 * 1439 + 1) - 1439;
        time_t local = seconds + zone * 60;
        struct tm date;
        gmtime_r(&local, &date);
        char text[64], fraction[16];
        snprintf(fraction, sizeof fraction, ".%09" PRId64, ns);
        while (strlen(fraction) > 2 && fraction[strlen(fraction) - 1] == '0') fraction[strlen(fraction) - 1] = '\0';
        size_t at = strftime(text, sizeof text, dice(2) ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &date);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s", ns ? fraction : "");
        int off = zone < 0 ? -zone : zone;
        if (zone) snprintf(text + at, sizeof text - at, "%c%02d:%02d", zone < 0 ? '-' : '+', off / 60, off % 60);
        sim_stamp stamp = { 0 };
        const char *complaint = sim_stamp_parse(text, strlen(text), SIM_UNIT_CALENDAR, &stamp);
        cr_assert_null(complaint, "%s: %s", text, complaint);
        cr_assert_eq(stamp.ns, (int64_t)seconds * 1000000000 + ns, "%s: %" PRId64, text, stamp.ns);
    }
}

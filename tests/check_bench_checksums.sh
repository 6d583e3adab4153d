#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_bench_checksums.sh TABLE PROGRAM: the sums that bench-perfmodel prints must be those of the table (bench.md) to 1e-9.
set -eu
"$2" --quick estimate_ | awk -v table="$1" -F '[:,}]' '
    BEGIN {
        while ((getline line < table) > 0) {
            n = split(line, cell, "|")
            gsub(/ /, "", cell[2])
            gsub(/ /, "", cell[7])
            if (cell[2] ~ /^estimate_/) wanted[cell[2]] = cell[7]
        }
    }
    {
        name = $2
        gsub(/"/, "", name)
        off = ($8 - wanted[name]) / wanted[name]
        if (!(name in wanted) || off > 1e-9 || off < -1e-9) {
            print name ": " $8 ", not " wanted[name]
            n_bad++
        }
        n_seen++
    }
    END {
        print n_seen " checksums, " n_bad + 0 " wrong"
        exit n_bad > 0 || n_seen != 10
    }'

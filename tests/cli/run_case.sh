#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Run one file of command-line cases: run_case.sh PROGRAM_DIR SOURCE_DIR FILE.case
#
# A case file is read line by line; each file has a fresh directory, which is the working directory of its commands:
#   # text            a comment
#   file PATH         the lines up to one that is "." become that file
#   $ COMMAND         run by sh; `forepass` is the program under test, $SOURCE_DIR the source tree. Then:
#   status N          its exit status (default 0)
#   out TEXT          standard output has a line that contains TEXT, runs of blanks taken as one; any number of them
#   err TEXT          the same of standard error
#   out= TEXT         standard output is exactly this line (several: these lines); "out=" alone: it is empty
#   absent PATH       the file does not exist afterwards
# Unasked: a command that begins with `forepass` and fails has exactly one line on standard error, beginning "forepass: ", and one that
# succeeds has none unless an `err` line says so.
set -u
bin=$1 SOURCE_DIR=$2 cases=$3
export SOURCE_DIR
PATH=$bin:$PATH
export PATH
LC_ALL=C
export LC_ALL
dir=$(mktemp -d "${TMPDIR:-/tmp}/forepass-cli-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/work" && cd "$dir/work" || exit 1

failures=0 n_commands=0 command='' place='' wanted=0 has_err=false

complain() {
    echo "$place: $1"
    echo "    \$ $command"
    echo "    status $status"
    sed 's/^/    out: /' "$dir/out" | head -20
    sed 's/^/    err: /' "$dir/err" | head -20
    failures=$((failures + 1))
}

finish() { # what can only be judged when all expectations of a command are read
    [ -n "$command" ] || return
    [ "$status" -eq "$wanted" ] || complain "status $status instead of $wanted"
    if [ -s "$dir/exact" ]; then
        sed 1d "$dir/exact" > "$dir/exact.lines"
        cmp -s "$dir/exact.lines" "$dir/out" || complain "standard output is not what it should be exactly"
    fi
    case $command in
    forepass*)
        lines=$(wc -l < "$dir/err")
        if [ "$status" -ne 0 ]; then
            [ "$lines" -eq 1 ] || complain "$lines lines on standard error instead of 1"
            grep -q '^forepass: ' "$dir/err" || complain 'the error does not begin with "forepass: "'
        elif ! $has_err; then
            [ "$lines" -eq 0 ] || complain "standard error is not empty"
        fi
        ;;
    esac
    command=''
}

line_number=0 file=''
while IFS= read -r line || [ -n "$line" ]; do
    line_number=$((line_number + 1))
    if [ -n "$file" ]; then
        if [ "$line" = . ]; then file=''; else printf '%s\n' "$line" >> "$file"; fi
        continue
    fi
    case $line in
    '' | '#'*) ;;
    'file '*)
        finish
        file=${line#file }
        case $file in */*) mkdir -p "${file%/*}" ;; esac
        : > "$file"
        ;;
    '$ '*)
        finish
        command=${line#'$ '} place="$cases:$line_number" wanted=0 has_err=false
        n_commands=$((n_commands + 1))
        : > "$dir/exact"
        sh -c "$command" > "$dir/out" 2> "$dir/err" < /dev/null
        status=$?
        ;;
    'status '*) wanted=${line#status } ;;
    'out= '*) [ -s "$dir/exact" ] || echo > "$dir/exact"; printf '%s\n' "${line#out= }" >> "$dir/exact" ;;
    'out=') [ -s "$dir/exact" ] || echo > "$dir/exact" ;;
    'out '*) tr -s ' ' < "$dir/out" | grep -qF -e "$(printf '%s' "${line#out }" | tr -s ' ')" || complain "standard output lacks: ${line#out }" ;;
    'err '*)
        has_err=true
        grep -qF -e "${line#err }" "$dir/err" || complain "standard error lacks: ${line#err }"
        ;;
    'absent '*) [ ! -e "${line#absent }" ] || complain "${line#absent } exists" ;;
    *)
        echo "$cases:$line_number: not understood: $line"
        failures=$((failures + 1))
        ;;
    esac
done < "$cases"
finish
echo "$n_commands commands, $failures failures"
[ "$failures" -eq 0 ] && [ "$n_commands" -gt 0 ]

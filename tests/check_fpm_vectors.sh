#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_fpm_vectors.sh PROGRAM: what fpm-vectors says, and its exit status, on files that are wrong in one way or another.
set -eu
program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n_bad=0

# expect STATUS TEXT: the file on standard input must give this exit status and this text in the output.
expect() {
    cat >"$dir/v.jsonl"
    status=0
    "$program" "$dir/v.jsonl" >"$dir/output" 2>&1 || status=$?
    if [ "$status" -ne "$1" ] || ! grep -qF "$2" "$dir/output"; then
        echo "status $status, wanted $1 and \"$2\":"
        cat "$dir/v.jsonl" "$dir/output"
        n_bad=$((n_bad + 1))
    fi
}

expect 0 '0 passed, 0 failed' </dev/null
expect 0 '2 passed, 0 failed' <<'EOF'
{"mode":"native","options":{},"steps":[],"note":"unknown members are fine","more":[1,{"a":null}]}

{"name":"b","mode":"regression","options":{"bucket_count":7},"steps":[{"op":"new","expect_error":"InvalidEngineConfig","message":"m"}]}
EOF
expect 1 '1 passed, 1 failed' <<'EOF'
{"name":"a","mode":"native","options":{},"steps":[{"op":"estimate","ranks":[{}],"expect_ms":0}]}
{"name":"b","mode":"native","options":{},"steps":[{"op":"estimate","ranks":[{}],"expect_ms":1}]}
EOF
expect 1 'b: step 1: outcome is InvalidEngineConfig' <<'EOF'
{"name":"b","mode":"native","options":{"bucket_count":7},"steps":[{"op":"diagnostics","expect":{"source":"aic"}}]}
EOF
expect 1 'b: step 2: ms is null, not a number' <<'EOF'
{"name":"b","mode":"regression","options":{},"steps":[{"op":"new"},{"op":"estimate","ranks":[{"scheduled_requests":{"num_decode_requests":1}}],"expect_ms":1}]}
EOF
expect 3 'v.jsonl:2: the text ends too early' <<'EOF'
{"mode":"native","steps":[]}
{"mode":"native"
EOF
expect 3 'v.jsonl:1: "mode" must be' <<'EOF'
{"mode":"oracle","steps":[]}
EOF
expect 3 'v.jsonl:1: the scenario has no "steps"' <<'EOF'
{"mode":"native"}
EOF
expect 3 'v.jsonl:1: "op" must be' <<'EOF'
{"mode":"native","steps":[{"op":"fly"}]}
EOF
expect 3 'v.jsonl:1: the estimate has no "ranks"' <<'EOF'
{"mode":"native","steps":[{"op":"estimate"}]}
EOF
expect 3 'v.jsonl:1: a whole number >= 0 is wanted here' <<'EOF'
{"mode":"native","steps":[{"op":"tune","iterations":[[{"dp_rank":-1}]]}]}
EOF
expect 3 'v.jsonl:1: an array' <<'EOF'
{"mode":"native","steps":7}
EOF
expect 3 'v.jsonl:1: an object' <<'EOF'
[]
EOF
status=0
"$program" "$dir/none" 2>"$dir/output" || status=$?
[ "$status" -eq 1 ] && grep -q 'none' "$dir/output" || n_bad=$((n_bad + 1))
status=0
"$program" 2>"$dir/output" || status=$?
[ "$status" -eq 2 ] || n_bad=$((n_bad + 1))
echo "$n_bad wrong answers"
[ "$n_bad" -eq 0 ]

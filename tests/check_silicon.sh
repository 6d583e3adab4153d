#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_silicon.sh FOREPASS SILICON_DIR: do the shipped model, curves and calibration still predict measured serving runs as well as README says?
set -eu
forepass=$1 silicon=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n_bad=0

# number FILE KEY: of flat JSON, the first one
number() { sed -n "s/.*\"$2\":[[:space:]]*\([-0-9.e+]*\).*/\1/p" "$1" | head -n 1; }

# expect WHAT VALUE LOW HIGH
expect() {
    if ! awk "BEGIN { exit !($2 >= $3 && $2 <= $4) }"; then
        echo "$1 is $2, wanted $3 to $4"
        n_bad=$((n_bad + 1))
    fi
}

"$forepass" accuracy "$silicon/measured.csv" --format json -q > "$dir/accuracy.json"
expect 'predicted share' "$(number "$dir/accuracy.json" predicted_share)" 0.99 1
expect 'TPOT MAPE' "$(number "$dir/accuracy.json" tpot_mape_pct)" 0 10
expect 'TTFT MAPE' "$(number "$dir/accuracy.json" ttft_mape_pct)" 0 28

# recorded_run NAME_IN_FILE MODEL TENSOR: the requests of one vLLM run, replayed; means within 5, 7 and 15 %, percentiles within 20 %
recorded_run() {
    awk -F, -v name="$1" 'NR == 1 || $2 == name' "$silicon/vllm_requests.csv" > "$dir/requests.csv"
    "$forepass" replay - --set workload.source=trace --set workload.format=csv --set workload.path="$dir/requests.csv" \
        --set csv.arrival=arrival_s --set csv.input_tokens=isl --set csv.output_tokens=osl --set model.name="$2" \
        --set system.name=rtx_pro_6000_server --set parallel.tensor="$3" --set engine.max_num_seqs=128 \
        --set engine.max_num_batched_tokens=2048 --set kv_cache.prefix_caching=false --format json -q \
        < /dev/null > "$dir/run.json"
    # columns of vllm_runs.csv from 19: mean, p50, p90, p95 and p99 of TTFT, of TPOT, of E2E
    awk -F, -v name="$1" '$2 == name { print }' "$silicon/vllm_runs.csv" > "$dir/wanted.csv"
    for metric in ttft:19:15 tpot:24:5 e2e_latency:29:7; do
        key=${metric%%:*} column=${metric#*:} tolerance=${metric##*:}
        column=${column%:*}
        for figure in mean:0:$tolerance median:1:20 p90:2:20 p99:4:20; do
            offset=${figure#*:} percent=${figure##*:}
            wanted=$(cut -d, -f $((column + ${offset%:*})) "$dir/wanted.csv")
            found=$(number "$dir/run.json" "${figure%%:*}_${key}_ms")
            expect "$2 ${figure%%:*} $key" "$found" "$wanted*(1-$percent/100)" "$wanted*(1+$percent/100)"
        done
    done
}
recorded_run meta-llama/Llama-3.1-8B llama-3.1-8b 1
recorded_run Qwen/Qwen3-32B qwen3-32b 2
echo "$n_bad figures out of bounds"
[ "$n_bad" -eq 0 ]

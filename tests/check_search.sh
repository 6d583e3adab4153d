#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# On a grid of 1,000 points over the Mooncake conversation trace a Bayesian search of 100 runs comes within 3 % of the best point in at least 9 of 10 seeds, and a
# random choice of 100 points in fewer; the sweep costs at most 1.1 times its runs: check_search.sh BIN_DIR TRACE
set -eu
bin=$1 trace=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >grid.ini <<INI
[workload]
source = trace
path = $trace
[perfmodel]
estimator = polynomial
[kv_cache]
num_blocks = 20000
[sla]
ttft = 2s
[sweep]
cluster.replicas = 2, 4, 6, 8, 12
engine.max_num_batched_tokens = 2048, 4096, 8192, 16384, 32768
load.speedup = 0.5, 1, 1.5, 2, 3, 4, 6, 8
kv_cache.block_size = 16, 32, 64, 128, 256
objective = goodput_per_gpu_rps
INI
# best: the largest goodput of the ranking in JSON on standard input
best() { awk -F: '/"goodput_per_gpu_rps"/ { gsub(/[ ,\t]/, "", $2); if ($2 + 0 > b) b = $2 + 0 } END { print b }'; }

cpu=$( { time -p "$bin/forepass" sweep grid.ini -qo whole -j 2 >/dev/null; } 2>&1 | awk '/^(user|sys)/ { s += $2 } END { print s }')
# CPU seconds of the runs alone: after loading, before the database
runs=$("$bin/dump-results" whole/sweep.db cpu)
echo "1,000 points: $cpu CPU s, of which $runs in runs"
awk -v a="$cpu" -v b="$runs" 'BEGIN { exit !(a <= 1.1 * b) }'

optimum=$("$bin/forepass" sweep grid.ini -qo whole --resume --format json | best)
# hits METHOD: seeds of 1 to 10 that come within 3 %; runs that the database has are not run again
hits() {
    n=0
    for seed in 1 2 3 4 5 6 7 8 9 10; do
        rm -rf part
        cp -r whole part
        found=$("$bin/forepass" sweep grid.ini -qo part --resume --format json --set sweep.method="$1" --set sweep.samples=100 \
            --set sweep.seed=$seed | best)
        n=$((n + $(awk -v f="$found" -v o="$optimum" 'BEGIN { print (f >= 0.97 * o) }')))
    done
    echo $n
}
bayes=$(hits bayes) random=$(hits random)
echo "within 3 % of $optimum after 100 runs: bayes $bayes of 10 seeds, random $random of 10"
[ "$bayes" -ge 9 ] && [ "$random" -lt "$bayes" ]

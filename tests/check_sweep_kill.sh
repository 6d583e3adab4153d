#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A sweep that is killed at any moment and resumed ends with the database of an undisturbed one: check_sweep_kill.sh BIN_DIR SOURCE_DIR N_KILLS
# The kills take turns: a plain sweep, one that gives dominated points up, a search by halving.
set -eu
bin=$1 fixture=$2/tests/sweep_fixture.ini n_kills=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cp "$fixture" plain.ini
printf 'include = %s\n[sweep]\nearly_stop = dominated\nround = 4\n' "$fixture" >rounds.ini
printf 'include = %s\n[sweep]\nmethod = halving\nsamples = 40\n' "$fixture" >halving.ini
for config in plain rounds halving; do
    "$bin/forepass" sweep $config.ini -qo whole-$config -j 2 >/dev/null
    "$bin/dump-results" whole-$config/sweep.db >whole-$config.txt
done
grep -q stopped whole-rounds.txt
grep -q stopped whole-halving.txt
for config in plain rounds halving; do
    { time -p "$bin/forepass" sweep $config.ini -qo timed-$config -j 2 >/dev/null; } 2>&1 | awk '/^real/ { print $2 }' >seconds-$config
done

kill_number=0 n_hit=0
while [ "$kill_number" -lt "$n_kills" ]; do
    kill_number=$((kill_number + 1))
    case $config in plain) config=rounds ;; rounds) config=halving ;; *) config=plain ;; esac
    rm -rf killed
    "$bin/forepass" sweep $config.ini -qo killed -j 2 >/dev/null &
    pid=$!
    # a fraction of the whole run's time that is another one for each kill and spread over it (golden ratio)
    sleep "$(awk -v i="$kill_number" -v t="$(cat seconds-$config)" 'BEGIN { x = i * 0.618034; printf "%.3f", t * (x - int(x)) }')"
    kill -9 "$pid" 2>/dev/null && n_hit=$((n_hit + 1))
    wait "$pid" 2>/dev/null || true
    "$bin/forepass" sweep $config.ini -qo killed --resume >/dev/null
    "$bin/dump-results" killed/sweep.db >killed.txt
    cmp whole-$config.txt killed.txt || exit 1
    cmp whole-$config/sweep.csv killed/sweep.csv || exit 1
done
echo "$n_hit of $n_kills kills met a running sweep; all $n_kills databases are as that of an undisturbed one"
[ "$n_hit" -gt 0 ]

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A sweep over MPI ranks has the database of one over threads; when a rank dies the run ends with a message and can be resumed:
# check_sweep_mpi.sh BIN_DIR SOURCE_DIR (of a build with FOREPASS_MPI)
set -eu
bin=$1 config=$2/tests/sweep_fixture.ini
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # a container's user is root
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
run() { timeout 120 mpirun --oversubscribe -n "$@"; }

for kind in dominated halving plain; do
    case $kind in
    dominated) set -- --set sweep.early_stop=dominated --set sweep.round=4 ;;
    halving) set -- --set sweep.method=halving --set sweep.samples=40 ;;
    plain) set -- ;;
    esac
    "$bin/forepass" sweep "$config" "$@" -qo threads -j 2 --overwrite >threads.out
    "$bin/dump-results" threads/sweep.db >threads.txt
    for n in 1 2 4; do
        run "$n" "$bin/forepass" sweep "$config" "$@" -qo "ranks$n" --overwrite >"ranks$n.out"
        "$bin/dump-results" "ranks$n/sweep.db" >"ranks$n.txt"
        cmp threads.txt "ranks$n.txt"
        cmp threads.out "ranks$n.out"
    done
    [ $kind = plain ] || grep -q stopped threads.txt
done

# what is wrong is said once, by rank 0
if run 3 "$bin/forepass" sweep "$config" --set sweep.cluster.replcas=1 2>err >out; then exit 1; fi
[ "$(grep -c '^forepass: .*"cluster.replcas" is no key' err)" = 1 ]

# a rank that dies: the last one forked is a rank above 0, or rank 0 itself; either way the run must end and resume
for victim in first last; do
    rm -rf killed
    run 4 "$bin/forepass" sweep "$config" -qo killed >out 2>err &
    job=$!
    for try in $(seq 100); do # until it has begun to write results
        [ -s killed/sweep.db-wal ] && break
        sleep 0.05
    done
    pids=$(pgrep -f "^$bin/forepass sweep $config -qo killed" | sort -n)
    if [ "$victim" = first ]; then pid=$(echo "$pids" | head -1); else pid=$(echo "$pids" | tail -1); fi
    kill -9 "$pid"
    status=0
    wait "$job" || status=$?
    [ "$status" -ne 0 ]
    grep -qi 'signal 9\|stopped by a signal' err
    [ -z "$(pgrep -f "^$bin/forepass sweep $config -qo killed")" ]
    run 2 "$bin/forepass" sweep "$config" -qo killed --resume >/dev/null
    "$bin/dump-results" killed/sweep.db >killed.txt
    cmp threads.txt killed.txt
done
echo "1, 2 and 4 ranks as threads; a dead rank ends the run and leaves a database to resume"

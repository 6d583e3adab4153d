#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run_if_there.sh FILE COMMAND...: run the command if FILE exists; else say so and exit 77, which ctest counts as skipped.
set -eu
file=$1
shift
if [ ! -e "$file" ]; then
    echo "SKIPPED: $file is not there"
    exit 77
fi
exec "$@"

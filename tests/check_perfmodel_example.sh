#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_perfmodel_example.sh README BUILD_DIR CMAKE CC [CFLAGS...]: install the library into a directory of its own, compile the
# example of the README against that tree alone, run it, and compare with the output the README shows.
set -eu
readme=$1
build=$2
cmake=$3
shift 3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# The n-th fenced block of language $2 ("" = none).
block() {
    awk -v wanted="$1" -v fence="\`\`\`$2" '
        inside && /^```$/ { inside = 0; next }
        inside { if (take) print; next }
        /^```/ { inside = 1; take = ($0 == fence && ++n == wanted) }' "$readme"
}
block 1 c >"$dir/example.c"
block 1 "" >"$dir/expected"
lines=$(wc -l <"$dir/example.c")
if [ "$lines" -lt 20 ] || [ "$lines" -gt 40 ]; then
    echo "the example has $lines lines; it should have up to 40"
    exit 1
fi
"$cmake" --install "$build" --prefix "$dir/installed" --component perfmodel >/dev/null
pc=$(find "$dir/installed" -name forepass-perfmodel.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # words are wanted
"$@" -Wall -Wextra -Werror -o "$dir/example" "$dir/example.c" $(pkg-config --cflags --libs forepass-perfmodel)
"$dir/example" >"$dir/output"
diff -u "$dir/expected" "$dir/output"
echo "example compiled against the installed tree; output as in the README"

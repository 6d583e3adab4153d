#!/bin/sh
# The dependency law of the house, read off the include lines: which room may include which (architecture.md), third-party headers in .c files only,
# printing and exit in cli/ only. Usage: check_includes.sh SOURCE_DIR
set -eu
cd "$1"
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT

# allow ROOM ALLOWED...: complain about every include of ours in ROOM that is none of ALLOWED.
allow() {
    room=$1
    shift
    # A room stands for its folder, a header for itself.
    pattern=$(printf '%s/|' "$room" "$@" | sed 's/|$//; s#\.h/#\\.h"#g')
    grep -rnE '^#include "' "$room" --include='*.[ch]' | grep -vE "#include \"($pattern)" |
        sed "s|\$|   ($room may not include it)|" >>"$failures" || true
}

allow perfmodel
allow sim/kernel
allow sim/config
allow sim/tuning sim/kernel sim/config perfmodel/perfmodel.h perfmodel/json_writer.h
allow sim/workload sim/kernel sim/config perfmodel/json_scanner.h perfmodel/line_reader.h perfmodel/perfmodel.h
allow sim/engine sim/kernel sim/config perfmodel
allow sim/deployment sim/kernel sim/config sim/engine sim/workload/csv_row.h sim/workload/growable.h perfmodel
allow sim/cluster sim/kernel sim/config sim/tuning sim/engine sim/workload perfmodel
allow sim/report sim/kernel sim/config sim/tuning sim/engine sim/workload sim/cluster perfmodel
allow sim/experiment sim/kernel sim/config sim/tuning sim/engine sim/deployment sim/workload sim/cluster sim/report perfmodel
allow sim/cli sim/experiment sim/report sim/config sim/tuning sim/workload sim/engine sim/deployment perfmodel/perfmodel.h

grep -rnE '^#include [<"](gsl/|ini\.h|cjson/|cJSON|sqlite3|zstd|zlib|xxhash)' perfmodel sim --include='*.h' |
    sed 's|$|   (third-party headers belong in .c files)|' >>"$failures" || true
grep -rnE '(^|[^a-z_])(exit|abort|printf|puts|putchar)\(|stdout' perfmodel sim --include='*.c' | grep -v '^sim/cli/' |
    grep -vE '(fs|s|sn|vsn|as|f)printf\(' | sed 's|$|   (only cli/ prints and exits)|' >>"$failures" || true

if [ -s "$failures" ]; then
    cat "$failures"
    exit 1
fi
echo "the dependency law holds"

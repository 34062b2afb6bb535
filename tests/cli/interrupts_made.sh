#!/bin/sh
# interrupts_made.sh BENCH_MAKE_DUMP INTERRUPTS HEAPDEX OBJECTS TRIES LIMIT_MS [COMMAND...]: runs tests/cli/interrupts
# on a generated dump.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make_dump=$1 interrupts=$2 heapdex=$3 objects=$4
shift 4
"$make_dump" "$folder/made.hprof" "objects=$objects" >/dev/null
"$interrupts" "$heapdex" "$folder/made.hprof" "$folder" "$@"

#!/bin/sh
# interrupts_made.sh BENCH_MAKE_DUMP INTERRUPTS HEAPDEX OBJECTS TRIES LIMIT_MS: tests/cli/interrupts on a dump that is
# made for it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder/made.hprof" "objects=$4" >/dev/null
"$2" "$3" "$folder/made.hprof" "$folder" "$5" "$6"

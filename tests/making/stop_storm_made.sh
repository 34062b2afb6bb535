#!/bin/sh
# stop_storm_made.sh BENCH_MAKE_DUMP STOP_STORM HEAPDEX OBJECTS SECONDS [OPTIONS...]
# tests/making/stop_storm on a dump that is made for it
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make=$1 storm=$2 heapdex=$3 objects=$4 seconds=$5
shift 5
"$make" "$folder/made.hprof" "objects=$objects" >/dev/null
"$storm" "$heapdex" "$folder/made.hprof" "$seconds" "$folder/made.hdx" "$@"

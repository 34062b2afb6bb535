#!/bin/sh
# Dumps of bench_make_dump match their arguments, are valid, are equal for equal arguments, and give valid indexes.
#     make_dump.sh BENCH_MAKE_DUMP HEAPDEX
set -eu
make=$1 heapdex=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
dump=$folder/made.hprof

sound() { # objects arguments...
    objects=$1
    shift
    "$make" "$dump" "objects=$objects" "$@" > /dev/null
    rm -rf "$dump.hdx"
    "$heapdex" index "$dump" > "$folder/index" 2> "$folder/words"
    "$heapdex" verify --full "$dump" > /dev/null
    "$heapdex" info --format json "$dump" > "$folder/info"
    for wanted in '"damage": *\[\]' '"warnings": *\[\]' "\"objects\": *$((objects + 1))," \
        '"dangling_references": *0,' '"dangling_roots": *0,'; do
        grep -q "$wanted" "$folder/info" ||
            { echo "objects=$objects $*: no $wanted in" && cat "$folder/info" && exit 1; }
    done
    if [ -s "$folder/words" ]; then echo "objects=$objects $*:" && cat "$folder/words" && exit 1; fi
}

sound 1000
sound 66000 ids=4 segment=65536
sound 150001
"$make" "$folder/again" objects=150001 > /dev/null
cmp "$dump" "$folder/again"
sound 140003 segment=whole order=shuffled layout=breadth garbage=20
sound 200000 ids=4 segment=whole order=shuffled seed=7 gz
sound 150000 shape=tiny garbage=90
if "$make" "$folder/much" ids=4 objects=4000000000 > /dev/null 2>&1; then
    echo "4-byte ids for more than 4 GB of addresses" && exit 1
fi

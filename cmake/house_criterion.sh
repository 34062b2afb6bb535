#!/usr/bin/env bash
# A machine without Criterion: configuring says so in one line, and everything else is built and tested as ever.
#
#     house_criterion.sh TREE CC
set -uo pipefail
tree=$1 cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! cmake -G Ninja -S "$tree" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PROJECT_INCLUDE="$tree/cmake/house_criterion.cmake" >"$work/log" 2>&1; then
    tail -n 20 "$work/log"
    echo "without Criterion nothing can be configured"
    exit 1
fi
failed=0
if [ "$(grep -ci criterion "$work/log")" != 1 ] || grep -iE 'warning|error' "$work/log"; then
    cat "$work/log"
    echo "not one line about Criterion"
    failed=1
fi
grep -i criterion "$work/log"
ctest --test-dir "$work/build" -N >"$work/tests"
grep -q 'base\.test_base' "$work/tests" && { echo "tests that cannot be built are listed"; failed=1; }
for name in house.includes fuzz.dump threads.readers cli.interrupts; do
    grep -q " $name\$" "$work/tests" || { echo "$name needs no Criterion and is not there"; failed=1; }
done
if ! ninja -C "$work/build" -n all >"$work/plan" 2>&1; then
    tail -n 5 "$work/plan"
    failed=1
fi
exit $failed

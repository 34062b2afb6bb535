#!/usr/bin/env bash
# test.sh BUILD TREE: installs BUILD into a separate folder and builds walk.c against it, by pkg-config (shared) and by
# find_package (shared and static); all three must print the same tree. documents.cc, in C++, must print the same as the
# program.
set -euo pipefail
build=$1 tree=$2
flags=${3:-}
work=$(mktemp -d "$build/install-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Not where it was configured for: heapdex.pc and the CMake package have to find their files from where they lie.
cmake --install "$build" --prefix "$work/prefix" --component heapdex >"$work/install.log"
for file in bin/heapdex include/heapdex/heapdex.h share/man/man1/heapdex.1 share/man/man1/heapdex-path.1 \
    share/man/man5/heapdex-index.5 share/man/man7/heapdex.7 \
    share/bash-completion/completions/heapdex share/zsh/vendor-completions/_heapdex \
    share/fish/vendor_completions.d/heapdex.fish \
    share/doc/heapdex/doc/mat.md share/doc/heapdex/examples/graph.c share/doc/heapdex/examples/report.png; do
    [ -s "$work/prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
if [ -e "$build/heapdex_sqlite.so" ]; then # built where SQLite is
    find "$work/prefix" -name heapdex_sqlite.so -size +0 | grep -q . ||
        { echo "not installed: heapdex_sqlite.so"; exit 1; }
fi
pc=$(find "$work/prefix" -name heapdex.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=$(dirname "$pc")
"$work/prefix/bin/heapdex" --version | grep -q "$(pkg-config --modversion heapdex)" ||
    { echo "versions differ"; exit 1; }

dump=$tree/examples/bookshop.hprof.gz
# shellcheck disable=SC2046,SC2086
cc -std=c11 -Wall -Wextra -Wpedantic -Werror $flags -o "$work/walk" "$tree/tests/install/walk.c" \
    $(pkg-config --cflags --libs heapdex)
LD_LIBRARY_PATH=$libdir "$work/walk" "$dump" "$work/index" >"$work/shared.txt"
grep -q 'bookshop.Bookshop$SessionCache@0x' "$work/shared.txt" ||
    { echo "the cache is not among the largest:"; cat "$work/shared.txt"; exit 1; }

cmake -G Ninja -S "$tree/tests/install" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_CXX_FLAGS="$flags" >"$work/cmake.log"
cmake --build "$work/build" >>"$work/cmake.log"
LD_LIBRARY_PATH=$libdir "$work/build/walk" "$dump" "$work/index" | cmp - "$work/shared.txt"
"$work/build/walk_static" "$dump" "$work/index" | cmp - "$work/shared.txt"
cat "$work/shared.txt"

if [ -x "$work/build/documents" ]; then
    "$work/prefix/bin/heapdex" histogram "$dump" --index-dir "$work/index" --by package --format json \
        >"$work/document.json"
    LD_LIBRARY_PATH=$libdir "$work/build/documents" "$dump" "$work/index" | cmp - "$work/document.json"
    "$work/build/documents_static" "$dump" "$work/index" | cmp - "$work/document.json"
    grep -c '"package"' "$work/document.json"
else
    echo "no C++ compiler: C only"
fi

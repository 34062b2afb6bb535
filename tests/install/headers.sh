#!/usr/bin/env bash
# headers.sh BUILD TREE CC [FLAGS]: each public header compiles alone, as C99 and as C++11, without a warning; and a C++
# program that names all their functions links with the library, so each function is declared extern "C".
set -uo pipefail
build=$1 tree=$2 cc=$3 flags=${4:-}
work=$(mktemp -d "$build/headers-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
case $cc in # flags of one do not suit the other
    *clang*) cxx=$(command -v clang++ || true) ;;
    *) cxx=$(command -v g++ || command -v c++ || true) ;;
esac
[ -n "$cxx" ] || echo "no C++ compiler: C only"

# COMPILER SUFFIX STANDARD: every header alone, twice: what guards it is tried as well.
alone() {
    local compiler=$1 suffix=$2 standard=$3 header name
    for header in "$tree"/include/heapdex/*.h; do
        name=heapdex/$(basename "$header")
        printf '#include <%s>\n#include <%s>\nextern int something;\n' "$name" "$name" >"$work/alone.$suffix"
        "$compiler" -std="$standard" -pedantic -Wall -Wextra -Werror -I"$tree/include" -fsyntax-only \
            "$work/alone.$suffix" || {
            echo "not clean alone under $compiler -std=$standard: $name"
            failed=1
        }
    done
}
alone "$cc" c c99
alone "$cc" c c11

if [ -n "$cxx" ]; then
    alone "$cxx" cc c++11
    "$tree/cmake/house_api.sh" "$tree/include" >"$work/functions"
    {
        printf '#include <heapdex/heapdex.h>\n#include <cstdio>\n'
        printf 'typedef void (*function)();\nstatic const function all[] = {\n'
        sed 's/.*/    reinterpret_cast<function>(\&&),/' "$work/functions"
        printf '};\nint main() { std::printf("%%zu\\n", sizeof all / sizeof *all); return 0; }\n'
    } >"$work/all.cc"
    # shellcheck disable=SC2086
    if "$cxx" -std=c++11 -Wall -Wextra -Werror $flags -I"$tree/include" "$work/all.cc" -o "$work/all" \
        -L"$build" -lheapdex && LD_LIBRARY_PATH=$build "$work/all" >"$work/count" &&
        [ "$(cat "$work/count")" = "$(wc -l <"$work/functions")" ]; then
        echo "$(cat "$work/count") functions by name from C++"
    else
        echo "C++ does not reach every function"
        failed=1
    fi
fi
exit $failed

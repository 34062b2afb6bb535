#!/usr/bin/env bash
# The functions that public headers mark HDX_API, one a line: a declaration's name stands before its first parenthesis.
#
#     house_api.sh INCLUDE
set -euo pipefail
export LC_ALL=C.UTF-8
perl -0777 -ne 's{/\*.*?\*/}{}gs; s{^\s*#.*$}{}gm; print "$1\n" while /\bHDX_API\b[^;({]*?(\w+)\s*\(/g' \
    "$1"/heapdex/*.h | sort -u

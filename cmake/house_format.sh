#!/usr/bin/env bash
# Every file of C is laid out as .clang-format says, and no line is longer than 120 columns.
# Other versions of clang-format than 14, which Debian 12 has, differ in details: without it lines alone are checked.
#
#     house_format.sh TREE
set -uo pipefail
export LC_ALL=C.UTF-8
cd "$1" || exit 1
failed=0
mapfile -t files < <(find include src tests bench indexes examples \( -name '*.[ch]' -o -name '*.cc' \) -type f | sort)
if grep -nE '^.{121,}$' "${files[@]}"; then
    echo "lines longer than 120 columns"
    failed=1
fi
if clang-format --version 2>/dev/null | grep -q ' version 14\.'; then
    printf '%s\n' "${files[@]}" | xargs -P 2 -n 40 clang-format --dry-run -Werror || failed=1
else
    echo "clang-format 14 is not here: layout was not checked"
fi
exit $failed

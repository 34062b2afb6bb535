#!/usr/bin/env bash
# Every file of C is laid out as .clang-format says, and no line of anything written by hand is longer than 120 columns,
# but for tables and addresses of pages in Markdown. Other versions of clang-format than 14, which Debian 12 has, differ
# in details: without it lines alone are checked.
#
#     house_format.sh TREE
set -uo pipefail
export LC_ALL=C.UTF-8
cd "$1" || exit 1
failed=0
# long FILE...: complains of lines that are too long.
long() {
    if grep -HnE '^.{121,}$' "$@"; then
        echo "lines longer than 120 columns"
        failed=1
    fi
}
mapfile -t files < <(find include src tests bench indexes examples \( -name '*.[ch]' -o -name '*.cc' \) -type f | sort)
long "${files[@]}"
mapfile -t others < <(find . -path ./build -prune -o -path ./.git -prune -o \
    \( -name '*.cmake' -o -name CMakeLists.txt -o -name '*.json' -o -name '*.sh' -o -name '*.py' \) \
    -type f -print | sort)
long "${others[@]}"
# Programs without a suffix: what begins with #! and was not found yet.
mapfile -t programs < <(find . -path ./build -prune -o -path ./.git -prune -o -type f -perm -u+x ! -name '*.*' -print |
    sort | xargs -d '\n' grep -lm 1 '^#!')
[ ${#programs[@]} -gt 5 ] || { echo "where are the programs?"; failed=1; }
long "${programs[@]}"
mapfile -t pages < <(find . -path ./build -prune -o -path ./.git -prune -o -name '*.md' -type f -print | sort)
if grep -HnE '^.{121,}$' "${pages[@]}" | grep -vE '^[^:]*:[0-9]+:(\||.*https?://)'; then
    echo "lines longer than 120 columns"
    failed=1
fi

if clang-format --version 2>/dev/null | grep -q ' version 14\.'; then
    printf '%s\n' "${files[@]}" | xargs -P 2 -n 40 clang-format --dry-run -Werror ||
        { failed=1; echo "clang-format -i FILE lays out a file"; }
else
    echo "clang-format 14 is not here: layout was not checked"
fi
exit $failed

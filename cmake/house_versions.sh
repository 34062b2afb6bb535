#!/usr/bin/env bash
# The format versions that pages state, against the constants of the code.
#
#     house_versions.sh TREE
#
# A page says "format version: N", "format version** (N" or, in a table, "| format | N" (the catalog's). Pages that have
# to say it are named below; any other that does is compared as well.
set -uo pipefail
export LC_ALL=C.UTF-8
cd "$1" || exit 1
failed=0
# constant FILE NAME: the number after `#define NAME`.
constant() { sed -nE "s/^#define $2 +([0-9]+)u?( .*)?$/\1/p" "$1"; }
index=$(constant indexes/indexes.h HDX_INDEX_FORMAT)
catalog=$(constant src/catalog/catalog.h HDX_CATALOG_FORMAT)
[[ $index =~ ^[0-9]+$ && $catalog =~ ^[0-9]+$ ]] || { echo "no constants found: '$index', '$catalog'"; exit 1; }

declare -A seen
# compare PATTERN WANTED NAME: every page with a line that has PATTERN, whose first group is the number.
compare() {
    local file line
    while IFS=: read -r file line; do
        seen[$file]=1
        if [[ $line =~ $1 ]] && [ "${BASH_REMATCH[1]}" != "$2" ]; then
            echo "$file: says ${BASH_REMATCH[1]}, $3 is $2: $line"
            failed=1
        fi
    done < <(find . \( -path ./build -o -path ./.git \) -prune -o \( -name '*.md' -o -name '*.1' \) -type f -print0 |
        xargs -0 grep -HE "$1" | sed 's#^\./##')
}
compare 'format version[*]*:? [(]?([0-9]+)' "$index" HDX_INDEX_FORMAT
compare '[|] format [|] ([0-9]+)' "$catalog" HDX_CATALOG_FORMAT
for page in indexes/README.md indexes/container/README.md src/catalog/README.md; do
    [ -n "${seen[$page]:-}" ] || { echo "$page does not state its format version"; failed=1; }
done
[ $failed -eq 0 ] && echo "${#seen[@]} pages say $index and $catalog"
exit $failed

#!/usr/bin/env bash
# Names that the linker sees. The static library defines none but hdx_..., so that it clashes with nobody's program; the
# shared one exports what public headers mark HDX_API, no more and no less.
#
#     house_symbols.sh NM STATIC SHARED INCLUDE
set -uo pipefail
export LC_ALL=C.UTF-8
nm=$1 static=$2 shared=$3 include=$4
failed=0
# Defined and global (i: a function with several bodies, base/clones.h). In the archive names with a dot, and
# __odr_asan, are the compiler's own.
names() { awk 'NF >= 3 && $(NF - 1) ~ /^[A-TV-Ziuw]$/ { print $NF }' | sort -u; }

inside=$("$nm" --defined-only "$static" | names | grep -vE '\.|^__odr_asan')
count=$(wc -l <<<"$inside")
[ "$count" -gt 500 ] || { echo "$static: $count names only; is this the library?"; exit 1; }
if grep -v '^hdx_' <<<"$inside"; then
    echo "$static: global names without hdx_"
    failed=1
fi

exported=$("$nm" -D --defined-only "$shared" | names | grep -v '^__odr_asan')
marked=$("$(dirname "$0")/house_api.sh" "$include")
if ! diff <(echo "$marked") <(echo "$exported") |
    sed -n 's/^</marked HDX_API, not exported:/p; s/^>/exported, not marked HDX_API:/p' | { ! grep .; }; then
    failed=1
fi
[ $failed -eq 0 ] && echo "$count names in the static library, $(wc -l <<<"$exported") exported by the shared one"
exit $failed

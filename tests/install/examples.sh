#!/usr/bin/env bash
# examples.sh PROGRAMS TREE [write]: the examples in public headers equal examples/*.c byte for byte; and each of these
# programs, run as its head describes, prints the output in its head.
#
# In a program:   // answer.h          In that header:    * Example (examples/answer.c):
#                 ...                                     *     ...
#                 // end
#
# With `write`, the headers are updated from the programs, and the heads from their output.
set -uo pipefail
export LC_ALL=C.UTF-8
programs=$1 tree=$2 write=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
cp "$tree/examples/bookshop.hprof.gz" "$work"
cd "$work" || exit 1

python3 - "$tree" "$write" <<'EOF' || failed=1
import re, sys, textwrap
from pathlib import Path

tree, write = Path(sys.argv[1]), sys.argv[2] == "write"
wrong, shown = [], 0
parts = {}
for program in sorted((tree / "examples").glob("*.c")):
    for header, text in re.findall(r"^ *// (\w+\.h)\n(.*?)^ *// end\n", program.read_text(), re.M | re.S):
        parts[header, "examples/" + program.name] = "".join(
            (" *     " + line).rstrip() + "\n" for line in textwrap.dedent(text).splitlines())
    if not any(of == "examples/" + program.name for _, of in parts):
        wrong.append(f"{program.name}: no header shows anything of it")
for header in sorted((tree / "include/heapdex").glob("*.h")):
    text = header.read_text()
    def put(match):
        global shown
        shown += 1
        has = parts.pop((header.name, match[2]), None)
        if has is None:
            wrong.append(f"{header.name}: {match[2]} has no part for it")
        elif has != match[3] and not write:
            wrong.append(f"{header.name}: not what {match[2]} says:\n{match[3]}--\n{has}")
        return match[1] + (has or match[3])
    # An example ends at an empty line of the comment that no indented line follows.
    example = r"( \* Example \((examples/\w+\.c)\):\n)((?: \*     .*\n| \*\n(?= \*     ))*)"
    new = re.sub(example, put, text)
    if write and new != text:
        header.write_text(new)
    for line in re.sub(example, "", text).splitlines():
        if re.match(r" \*    .*(;|\{|\}|\.\.\.\))$", line):
            wrong.append(f"{header.name}: code that no program has: {line}")
wrong += [f"{program}: {header} does not show it" for header, program in parts]
print("\n".join(wrong))
print(f"{shown} examples in headers")
sys.exit(1 if wrong or shown == 0 else 0)
EOF

for file in "$tree"/examples/*.c; do
    name=$(basename "$file" .c)
    command=$(sed -n "s/^ \*     \\$ $name /example_$name /p" "$file")
    [ -n "$command" ] || { echo "$name.c does not say how it is run"; failed=1; continue; }
    if ! (eval "$programs/$command") >"$name.out" 2>"$name.err" || [ -s "$name.err" ]; then
        echo "$name: failed"
        cat "$name.err"
        failed=1
    fi
    if [ "$write" = write ]; then
        OUT=$name.out perl -0777 -i -pe '
            BEGIN { local $/; open my $f, "<", $ENV{OUT}; $out = <$f>; $out =~ s/^(?=.)/ *     /gm }
            s/^( \*     \$ [^\n]*\n)(?: \*     [^\n]*\n)*/$1$out/m' "$file"
    elif ! diff <(sed -n '/^ \*     \$ /,/^ \*\(\/\|$\)/{ /^ \*     \$ /d; s/^ \*     //p }' "$file") "$name.out"; then
        echo "$name: prints something else than its head says"
        failed=1
    fi
done
[ -z "$(find . -name '*.part')" ] || failed=1
exit $failed

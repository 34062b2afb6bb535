#!/usr/bin/env bash
# house_words.sh TREE: words that readers did not understand, in messages (string literals of src and indexes) and in
# public headers. Prints the lines that have one; exit code 1 then.
cd "$1" || exit 1
words='nobody|whoever|anew|at hand|what there is|unless told|night|(is|are) told|tells? apart|beside it|goes on behind'
words+='|is nothing of|kept beside|(is|are) kept|stays? behind|how-manieth|come out even|told of|(is|are) taken'
found=$(
    grep -rnE --include='*.c' --include='*.h' "\"[^\"]*\\b($words)\\b[^\"]*\"" src indexes |
        grep -vE ':[0-9]+: ?(/?\*|//)'
    grep -nE "\\b($words)\\b" include/heapdex/*.h
)
[ -z "$found" ] && exit 0
echo "$found"
echo "words that readers did not understand: use the ordinary word"
exit 1

#!/usr/bin/env bash
# Tests heapdex_sqlite.so in the sqlite3 shell and in Python: two dumps with names, tables of classes, refused input.
#
#     extension.sh EXTENSION DUMP NM
set -uo pipefail
export LC_ALL=C.UTF-8
extension=$(realpath "$1") nm=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$2" "$work/app.hprof.gz"
cp "$2" "$work/old.hprof.gz"
cd "$work" || exit 1
failed=0

expect() { # WHAT WANTED GOT
    if [ "$2" != "$3" ]; then
        printf '%s: wanted\n%s\nbut it is\n%s\n' "$1" "$2" "$3"
        failed=1
    fi
}

expect "names that a loader sees" sqlite3_heapdexsqlite_init \
    "$("$nm" -D --defined-only "$extension" | awk '{ print $NF }' | grep -v '^__odr_asan')"

read -r -d '' statements <<'END'
SELECT heapdex_open('app.hprof.gz');
SELECT heapdex_open('old.hprof.gz', 'old', 'all');
SELECT count(*) FROM objects;
SELECT count(*) FROM old.objects;
SELECT count(*) FROM objects a JOIN old.objects b ON a.address = b.address WHERE a.class = 'java.lang.Thread';
SELECT count(*) FROM "java.util.HashMap";
SELECT heapdex_table('instanceof java.util.AbstractMap', 'old');
SELECT (SELECT count(*) FROM old."instanceof java.util.AbstractMap") > (SELECT count(*) FROM "java.util.HashMap");
SELECT name FROM threads WHERE name = 'clerk';
SELECT count(*) FROM main.sqlite_master;
END
read -r -d '' answers <<'END'
23875
23875
23875
24100
5
261
instanceof java.util.AbstractMap
1
clerk
0
END

if command -v sqlite3 >/dev/null; then
    got=$(printf '.load %s\n%s\n' "$extension" "$statements" | sqlite3 2>&1)
    if grep -q 'unknown command\|unrecognized command\|not authorized' <<<"$got"; then
        echo "this sqlite3 loads no extensions: that part is skipped"
    else
        expect "the sqlite3 shell" "$answers" "$got"
        refused() { # MESSAGE STATEMENT...
            local message=$1
            shift
            got=$(sqlite3 "${base:-:memory:}" ".load $extension" "$@" 2>&1)
            case $got in
                *"$message"*) ;;
                *) expect "$*" "...$message..." "$got" ;;
            esac
        }
        refused "no such file" "SELECT heapdex_open('missing.hprof')"
        refused "already has a dump" "SELECT heapdex_open('app.hprof.gz')" "SELECT heapdex_open('old.hprof.gz', 'TEMP')"
        refused "heapdex_open(DUMP [, SCHEMA" "SELECT heapdex_open('app.hprof.gz', 'x', 'some')"
        refused "heapdex_open(DUMP [, SCHEMA" "SELECT heapdex_open(NULL)"
        refused "the schema has no open dump" "SELECT heapdex_table('java.util.HashMap')"
        refused "unknown class name" "SELECT heapdex_open('app.hprof.gz')" "SELECT heapdex_table('no.Such')"
        refused "no dump has the schema" "SELECT label(1)"
        refused "unsafe use of heapdex_open" "CREATE VIEW v AS SELECT heapdex_open('app.hprof.gz')" "SELECT * FROM v"
        base=file.db refused "is a file" "SELECT heapdex_open('app.hprof.gz', 'main')"
        expect "a file stays empty" 0 "$(sqlite3 file.db 'SELECT count(*) FROM sqlite_master')"
    fi
else
    echo "there is no sqlite3: that part is skipped"
fi

cat >ask.py <<'END'
import sqlite3, sys
connection = sqlite3.connect(":memory:")
if not hasattr(connection, "enable_load_extension"):
    sys.exit(77)
connection.enable_load_extension(True)
connection.load_extension(sys.argv[1])
connection.enable_load_extension(False)
for line in sys.stdin.read().split(";\n"):
    for row in connection.execute(line):
        print(*row)
connection.close()
END
python=/usr/bin/python3
if [ -x $python ]; then
    got=$($python ask.py "$extension" <<<"$statements" 2>&1)
    if [ $? = 77 ]; then
        echo "this Python loads no extensions: that part is skipped"
    else
        expect "Python" "$answers" "$got"
    fi
else
    echo "there is no $python: that part is skipped"
fi
exit $failed

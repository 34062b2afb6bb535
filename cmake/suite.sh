# suite PRESET TARGET SECONDS [OPTION OF CTEST...]: configures one build, makes a target of it and tests it; read by
# ./check, .ci/run and tests/long. The time limit is for tests that hang, on a machine however busy. Exit code 0:
# everything passed.
suite() {
    local preset=$1 target=$2 seconds=$3 log=build/check-$1.log began=$SECONDS code=0
    shift 3
    mkdir -p build
    printf '== %s: building (log: %s)\n' "$preset" "$log"
    if ! { cmake --preset "$preset" -DBUILD_TESTING=ON &&
        cmake --build --preset "$preset" -t "$target"; } >"$log" 2>&1; then
        grep -E 'error|warning: unused|undefined' "$log" | head -n 30
        tail -n 5 "$log"
        printf '== %s: THE BUILD FAILED\n' "$preset"
        return 1
    fi
    if grep -q 'warning:' "$log"; then
        printf '== %s: warnings of the compiler\n' "$preset"
        grep 'warning:' "$log" | head -n 20
    fi
    printf '== %s: testing, after %s s\n' "$preset" $((SECONDS - began))
    # files of a user in the folder where tests run: none may change them (doc/files.md)
    tests/cli/decoys --make "build/$preset" || code=1
    # one more than there are processors: some tests wait for others to end, or for time to pass
    timeout "$seconds" ctest --preset "$preset" -j "$(($(nproc) + 1))" "$@" >>"$log" 2>&1
    case $? in
        0) ;;
        124)
            printf '== %s: the tests took longer than %s s\n' "$preset" "$seconds"
            code=1
            ;;
        *)
            sed -n '/The following tests FAILED/,$p' "$log"
            code=1
            ;;
    esac
    grep -E 'tests passed|tests failed|Total Test time' "$log" | tail -n 2
    tests/cli/decoys --compare "build/$preset" || code=1
    printf '== %s: %s s in all\n' "$preset" $((SECONDS - began))
    return $code
}

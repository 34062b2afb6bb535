# need_venv FOLDER SECONDS MODULES PACKAGE...: packages of PyPI in a venv in FOLDER, which later runs use again; $python
# is its interpreter. It is made unless it has all MODULES ("pyarrow, duckdb"). If that is not possible, the script ends
# with code 77: nothing was tested. Sourced by run, notebook and spark_cluster.
skip() {
    echo "skipped: $1"
    exit 77
}
need_venv() {
    local folder=$1 seconds=$2 modules=$3
    shift 3
    python=$folder/bin/python3
    "$python" -c "import $modules" 2>/dev/null && return
    command -v python3 >/dev/null || skip "there is no python3"
    exec 9>"$folder.lock"
    flock 9 # another preset may be making it
    if ! "$python" -c "import $modules" 2>/dev/null; then
        rm -rf "$folder"
        python3 -m venv "$folder" 2>/dev/null || skip "python3 -m venv does not work here"
        timeout "$seconds" "$python" -m pip install -q --disable-pip-version-check "$@" >"$folder.log" 2>&1 ||
            skip "$* cannot be installed: $(tail -1 "$folder.log")"
    fi
    exec 9>&-
}

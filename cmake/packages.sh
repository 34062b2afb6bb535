# need_packages NAME...: installs Debian packages that are missing; says plainly what to do where that is not possible.
# Sourced by run and check.
need_packages() {
    local missing=() name as_root=()
    command -v dpkg-query >/dev/null || return 0 # another system: cmake names what it does not find
    for name in "$@"; do
        # A compiler or cmake that did not come as a package will do as well.
        case $name in
            gcc | cmake | clang) command -v "$name" >/dev/null && continue ;;
            ninja-build) command -v ninja >/dev/null && continue ;;
            pkg-config) command -v pkg-config >/dev/null && continue ;;
        esac
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "missing packages: ${missing[*]}; as root: apt-get install ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "installing ${missing[*]} ..."
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c \
        'apt-get -q update && apt-get -q -y install --no-install-recommends "$@"' sh "${missing[@]}" >/dev/null; then
        echo "could not install: ${missing[*]}; as root: apt-get install ${missing[*]}" >&2
        return 1
    fi
}
# want_packages NAME...: the same for packages that heapdex does without: no word where they are not to be had.
want_packages() {
    local name had=()
    command -v apt-cache >/dev/null || return 0
    for name in "$@"; do
        apt-cache show "$name" >/dev/null 2>&1 && had+=("$name")
    done
    [ ${#had[@]} -eq 0 ] || need_packages "${had[@]}" 2>/dev/null || true
}

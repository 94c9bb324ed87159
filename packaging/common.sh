# packaging/common.sh: what packaging/quickstart, packaging/test and packaging/coverage share.
# Sourced by bash, from the top of the source tree.

export LC_ALL=C.UTF-8

# Debian 12's names. gcc does not bring the C library's headers along by itself.
build_packages=(gcc libc6-dev meson ninja-build pkg-config libunistring-dev
    libevent-dev libcsv-dev libinih-dev libsystemd-dev libxxhash-dev)
# `telnet` is the name of an empty package that brings inetutils-telnet.
demo_packages=(netcat-openbsd inetutils-telnet curl)
test_packages=(clang libclang-rt-14-dev llvm clang-format libcmocka-dev libjansson-dev
    python3 python3-pytest python3-pytest-xdist strace procps binutils gcovr valgrind mawk man-db groff-base mandoc)

say()
{
    printf '%s\n' "$*"
}

# A heading: what follows is one step.
step()
{
    printf '\n== %s\n\n' "$*"
}

# Says on standard error what is wrong and what to do about it, one argument a line; ends with 1.
die()
{
    printf '\n' >&2
    printf '%s\n' "$@" >&2
    exit 1
}

missing_packages()
{
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            printf '%s\n' "$package"
    done
}

# Installs those of the packages that are missing. Asks nothing: a password prompt in a script
# that somebody left running is worse than a message.
need_packages()
{
    command -v dpkg-query >/dev/null ||
        die "This script installs what it needs with Debian's apt-get, which is not here." \
            "On another system, install what these Debian 12 packages hold, and build by hand:" \
            "    $*" \
            "    meson setup build -Dtests=disabled && ninja -C build"

    local missing
    mapfile -t missing < <(missing_packages "$@")
    if [ ${#missing[@]} -eq 0 ]; then
        say "everything needed is installed already"
        return
    fi

    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        sudo -n true 2>/dev/null ||
            die "Packages are missing, and to install them takes root, or sudo without a password." \
                "Run this, then start again:" \
                "    sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}"
        as_root=(sudo -n)
    fi
    say "installing: ${missing[*]}"
    apt_get update && apt_get install --no-install-recommends "${missing[@]}" ||
        die "apt-get failed: the last lines above say why."
}

# Uses need_packages's as_root.
apt_get()
{
    local log
    log=$(mktemp)
    if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
        -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
        "$@" </dev/null >"$log" 2>&1; then
        rm -f "$log"
    else
        tail -n 20 "$log" >&2
        rm -f "$log"
        return 1
    fi
}

# run_quietly LOG COMMAND...: the output goes to LOG; when the command fails, its end is shown.
run_quietly()
{
    local log=$1
    shift
    "$@" </dev/null >"$log" 2>&1 && return
    say "failed: $*" >&2
    tail -n 40 "$log" >&2
    return 1
}

# configure DIR OPTIONS...: makes the build directory, or gives an old one these options.
configure()
{
    local dir=$1
    shift
    mkdir -p "$dir"
    if [ -f "$dir/build.ninja" ]; then
        run_quietly "$dir/configure.log" meson setup --reconfigure "$dir" "$@"
    else
        run_quietly "$dir/configure.log" meson setup "$dir" "$@"
    fi
}

#!/bin/sh
# Installs the staged files, or removes what an installation has put there. Nothing is half-installed: every file is copied beside its
# place before the first one is renamed into it.
# Usage: packaging/install.sh PROGRAMS [DESTDIR]PREFIX…: see `make install`, which calls this script with PREFIX and DESTDIR in the environment.
#   packaging/install.sh install PROGRAMS
#   packaging/install.sh uninstall
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prefix=${PREFIX:-/usr/local}
target=${DESTDIR:-}$prefix
list=share/doc/player-monitor/installed-files

fail() {
    echo "$action: $*" >&2
    exit 1
}

# The nearest folder above a path that exists.
existing() {
    path=$1
    while [ ! -e "$path" ]; do path=$(dirname "$path"); done
    echo "$path"
}

install_files() {
    stage=$(mktemp -d)
    marker=.new-$$
    trap 'cleanup' EXIT
    trap 'exit 130' INT TERM
    cleanup() {
        [ ! -f "$stage/list" ] || while read -r file; do rm -f "$target/$file$marker"; done <"$stage/list"
        rm -rf "$stage"
    }
    "$here/stage.sh" "$programs" "$stage/root" "$prefix"
    (cd "$stage/root$prefix" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >"$stage/list"
    echo "$list" >>"$stage/list"
    mkdir -p "$stage/root$prefix/$(dirname "$list")"
    cp "$stage/list" "$stage/root$prefix/$list"
    while read -r file; do
        folder=$(existing "$(dirname "$target/$file")")
        [ -d "$folder" ] || fail "$folder is in the way of $target/$file: expected a folder. Nothing was installed."
        [ -w "$folder" ] || fail "cannot write to $folder. Run the command as another user, or with PREFIX=\$HOME/.local. Nothing was installed."
        [ ! -d "$target/$file" ] || fail "$target/$file is a folder: expected a file. Nothing was installed."
    done <"$stage/list"
    while read -r file; do
        mkdir -p "$(dirname "$target/$file")" && cp -p "$stage/root$prefix/$file" "$target/$file$marker" ||
            fail "cannot copy to $(dirname "$target/$file"). Nothing was installed."
    done <"$stage/list"
    # Files that an earlier version had and this one does not have.
    old=$target/$list
    [ ! -f "$old" ] || LC_ALL=C sort "$old" >"$stage/old"
    while read -r file; do mv -f "$target/$file$marker" "$target/$file"; done <"$stage/list"
    if [ -f "$stage/old" ]; then
        LC_ALL=C sort "$stage/list" | LC_ALL=C comm -13 - "$stage/old" | while read -r file; do remove_file "$file"; done
    fi
    echo "Installed $(wc -l <"$stage/list") files in $target. 'make uninstall' with the same PREFIX and DESTDIR removes them."
}

remove_file() {
    case $1 in
    /* | ../* | */../*) fail "$target/$list is damaged: it names '$1'" ;;
    esac
    rm -f "$target/$1"
    folder=$(dirname "$1")
    while [ "$folder" != . ] && rmdir "$target/$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
}

uninstall_files() {
    [ -f "$target/$list" ] || fail "$target has no installation: $target/$list does not exist"
    [ -w "$(dirname "$target/$list")" ] || fail "cannot write to $(dirname "$target/$list"). Run the command as another user."
    files=$(cat "$target/$list")
    for file in $files; do remove_file "$file"; done
    echo "Removed the files of $target. The service's state, if any, stays in /var/lib/player-monitor."
}

action=${1:-install}
case $action in
install)
    [ $# -eq 2 ] || fail "usage: packaging/install.sh install PROGRAMS"
    programs=$2
    install_files
    ;;
uninstall) uninstall_files ;;
*)
    action=install
    fail "usage: packaging/install.sh install PROGRAMS | uninstall"
    ;;
esac

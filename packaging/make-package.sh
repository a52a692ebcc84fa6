#!/bin/sh
# Makes the Debian package and the archive for other distributions from linked programs. The same programs give the same bytes: all times
# are SOURCE_DATE_EPOCH, by default the time of the last commit.
# Usage: packaging/make-package.sh PROGRAMS OUTPUT
# LEVEL in the environment is the level of the compression, 0 to 9: 6 for a release, 0 for a test.
set -eu

fail() {
    echo "package: $*" >&2
    exit 1
}

[ $# -eq 2 ] || fail "usage: packaging/make-package.sh PROGRAMS OUTPUT"
here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "$1" 2>/dev/null && pwd) || fail "there is no folder '$1'"
mkdir -p "$2"
output=$(cd "$2" && pwd)
for tool in dpkg-deb:dpkg dpkg-shlibdeps:dpkg-dev xz:xz-utils; do
    command -v "${tool%%:*}" >/dev/null || fail "${tool%%:*} is missing. Install the package ${tool#*:} and repeat the command."
done
version=$("$here/version.sh")
debian=$("$here/version.sh" --debian)
level=${LEVEL:-6}
# In an archive of the sources, which has no history, every file has the time of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || stat -c %Y "$here/../CHANGELOG.md")}
export SOURCE_DATE_EPOCH
export LC_ALL=C
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-Instrument maintainers} <${DEBEMAIL:-maintainers@packages.invalid}>"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
umask 022

# The Debian packages: player-monitor, and test-origin, which needs ffmpeg.
"$here/stage.sh" "$programs" "$work/player-monitor" /usr
mkdir -p "$work/debian" "$work/player-monitor/etc/player-monitor"
cp "$here/debian/control" "$work/debian/control"
mv "$work/player-monitor/usr/share/zsh/site-functions" "$work/player-monitor/usr/share/zsh/vendor-completions"
(cd "$work/player-monitor" && find . -type f -name '*test-origin*') | while read -r file; do
    mkdir -p "$work/test-origin/$(dirname "$file")"
    mv "$work/player-monitor/$file" "$work/test-origin/$file"
done
install -D -m 644 "$here/debian/README.Debian" "$work/player-monitor/usr/share/doc/player-monitor/README.Debian"
install -D -m 644 "$here/debian/lintian-overrides" "$work/player-monitor/usr/share/lintian/overrides/player-monitor"
mkdir "$work/player-monitor/DEBIAN"
for script in postinst prerm postrm; do install -m 755 "$here/debian/$script" "$work/player-monitor/DEBIAN/$script"; done

for package in player-monitor test-origin; do
    root=$work/$package
    mkdir -p "$root/DEBIAN"
    install -D -m 644 "$here/debian/copyright" "$root/usr/share/doc/$package/copyright"
    printf '%s (%s) unstable; urgency=medium\n\n  * Version %s. CHANGELOG.md of the sources lists the changes.\n\n -- %s  %s\n' \
        "$package" "$debian" "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$root/usr/share/doc/$package/changelog.gz"
    later=$programs/$package-loads-later.so
    depends=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/$package" $([ ! -f "$later" ] || echo "$later") 2>"$work/errors") || {
        cat "$work/errors" >&2
        fail "dpkg-shlibdeps found no package for a library of $package"
    }
    size=$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)
    awk -v name="$package" '/^Package:/ { inside = $2 == name } inside && NF' "$here/debian/control" |
        sed -e "s/\${shlibs:Depends}/${depends#shlibs:Depends=}/" -e "s/\${architecture}/$architecture/" \
            -e "/^Package:/a Version: $debian\nMaintainer: $maintainer\nInstalled-Size: $size\nSection: video\nPriority: optional" \
            >"$root/DEBIAN/control"
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz "-z$level" --threads-max=2 --build "$root" "$work/package.deb" >/dev/null
    mv "$work/package.deb" "$output/${package}_${debian}_$architecture.deb"
    echo "$output/${package}_${debian}_$architecture.deb"
done

# The archive.
name=player-monitor-$version-linux-$(uname -m)
"$here/stage.sh" "$programs" "$work/archive" /usr/local
tree=$work/tar/$name
mkdir -p "$work/tar"
mv "$work/archive/usr/local" "$tree"
install -m 644 "$here/../LICENSE" "$tree/LICENSE"
install -m 644 "$here/debian/copyright" "$tree/share/doc/player-monitor/copyright"
{
    cat "$here/INSTALL"
    echo
    objdump -p "$programs"/* | sed -n 's/^ *NEEDED */    /p' | sort -u
} >"$tree/INSTALL"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work/tar" -cf - "$name" |
    xz "-$level" --threads=2 >"$work/archive.tar.xz"
mv "$work/archive.tar.xz" "$output/$name.tar.xz"
echo "$output/$name.tar.xz"

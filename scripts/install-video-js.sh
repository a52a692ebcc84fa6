#!/bin/sh
# Installs Video.js 7.5.5 for `make compare-players`, from a package of PyPI that contains Video.js (js.videojs 7.5.5), beside the build. Can be
# run again; needs python3 with pip. Without Video.js its rows are left out; the script exits with 3.
set -u

cd "$(dirname "$0")/.." || exit 1
directory=${VIDEO_JS_DIRECTORY:-.build/video-js}
version=7.5.5

is_version() { head -c 300 "$directory/video.js" 2>/dev/null | grep -qF "Video.js $version"; }
is_version && exit 0
mkdir -p "$directory"

skip() {
    echo "SKIPPED: the comparison with Video.js, because $1" >&2
    exit 3
}
command -v python3 >/dev/null 2>&1 || skip "there is no python3"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$directory" "js-videojs==$version" >&2 \
    || skip "the package is not available"
python3 - "$directory" "$version" <<'PYTHON' || skip "the package has no Video.js"
import glob, sys, tarfile
directory, version = sys.argv[1:]
for path in glob.glob(f"{directory}/js*videojs-{version}.tar.gz"):
    archive = tarfile.open(path)
    for name in archive.getnames():
        if name.endswith("/resources/video.min.js"):
            open(directory + "/video.js", "wb").write(archive.extractfile(name).read())
            sys.exit(0)
sys.exit(1)
PYTHON
is_version || skip "the package has another version of Video.js than $version"

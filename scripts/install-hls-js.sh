#!/bin/sh
# Installs hls.js 1.6.15 for the tests that compare the probe with hls.js in Chromium, from a wheel of PyPI that contains hls.js
# (gradio 6.31.0), beside the build. Can be run again; needs python3 with pip. Without hls.js the comparisons are skipped; the script exits
# with 3. Both versions are fixed, so that a comparison that fails shows a change of the probe and not one of hls.js.
set -u

cd "$(dirname "$0")/.." || exit 1
directory=${HLS_JS_DIRECTORY:-.build/hls-js}
wheel=6.31.0
version=1.6.15

# hls.js names its version in a message.
is_version() { grep -qF "hls.js version $version" "$directory/hls.js" 2>/dev/null; }
is_version && exit 0
mkdir -p "$directory"

skip() {
    echo "SKIPPED: the comparison with hls.js, because $1" >&2
    exit 3
}
command -v python3 >/dev/null 2>&1 || skip "there is no python3"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$directory" "gradio==$wheel" >&2 \
    || skip "the wheel is not available"
python3 - "$directory" "$wheel" <<'PYTHON' || skip "the wheel has no hls.js"
import glob, sys, zipfile
directory, version = sys.argv[1:]
for wheel in glob.glob(f"{directory}/gradio-{version}-*.whl"):
    archive = zipfile.ZipFile(wheel)
    for name in archive.namelist():
        if "/templates/frontend/assets/hls-" in name and name.endswith(".js"):
            open(directory + "/hls.js", "wb").write(archive.read(name))
            sys.exit(0)
sys.exit(1)
PYTHON
is_version || skip "the wheel has another version of hls.js than $version"

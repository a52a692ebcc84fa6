#!/bin/sh
# Installs hls.js for the test that compares its schedule of interstitials with the probe's, from a wheel of PyPI that contains hls.js
# (gradio), beside the build. Can be run again; needs python3 with pip. Without hls.js the test is skipped; the script exits with 3.
set -u

cd "$(dirname "$0")/.." || exit 1
directory=${HLS_JS_DIRECTORY:-.build/hls-js}
[ -f "$directory/hls.js" ] && exit 0
mkdir -p "$directory"

skip() {
    echo "SKIPPED: the comparison with hls.js, because $1" >&2
    exit 3
}
command -v python3 >/dev/null 2>&1 || skip "there is no python3"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$directory" "gradio>=6" >&2 \
    || skip "the wheel is not available"
python3 - "$directory" <<'PYTHON' || skip "the wheel has no hls.js"
import glob, sys, zipfile
directory = sys.argv[1]
for wheel in glob.glob(directory + "/gradio-*.whl"):
    archive = zipfile.ZipFile(wheel)
    for name in archive.namelist():
        if "/templates/frontend/assets/hls-" in name and name.endswith(".js"):
            open(directory + "/hls.js", "wb").write(archive.read(name))
            sys.exit(0)
sys.exit(1)
PYTHON

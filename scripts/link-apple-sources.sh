#!/bin/sh
# Makes Tests/AppleStubs/Linked: links to the sources of this package that the package AppleStubs compiles as they are. The links are made
# here rather than committed, so that archives and systems without symbolic links carry the repository whole.
set -eu

cd "$(dirname "$0")/../Tests/AppleStubs"
rm -rf Linked
mkdir -p Linked/Tests
ln -s ../../../Sources Linked/Sources
for tests in Shared Support Trackers; do ln -s "../../../$tests" "Linked/Tests/$tests"; done
ln -s ../../../Examples/SwiftUIPlayer/Sources/SwiftUIPlayer Linked/SwiftUIPlayer

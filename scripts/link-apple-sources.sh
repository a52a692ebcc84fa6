#!/bin/sh
# Makes Tests/AppleStubs/Linked: links to the sources of this package that the package AppleStubs compiles as they are. The links are made
# here rather than committed, so that archives and systems without symbolic links carry the repository whole.
set -eu

cd "$(dirname "$0")/../Tests/AppleStubs"
rm -rf Linked
mkdir -p Linked/Instrument
for source in Instrument Hubs Metricalcs; do ln -s "../../../../Sources/$source" "Linked/Instrument/$source"; done
for source in AVPlayer CSignalShim CZlib Compression Files HTTP IMA JSON Sensors SwiftUIAnalytics TestKit Text Trackers; do
    ln -s "../../../Sources/$source" "Linked/$source"
done
# The transport over URLSession, without the one over libcurl.
mkdir Linked/Transport Linked/TransportTests
for source in Exchange.swift HTTPRequest+Sending.swift SystemTransport.swift TransportConfiguration.swift URLSession; do
    ln -s "../../../../Sources/Transport/$source" "Linked/Transport/$source"
done
for tests in ReceivingTests RedirectTests; do
    ln -s "../../../TransportTests/$tests.swift" "Linked/TransportTests/$tests.swift"
done
for tests in AVPlayerTests IMATests LoopbackServers TestTraits; do ln -s "../../../Tests/$tests" "Linked/$tests"; done
ln -s ../../../Examples/SwiftUIPlayer/Sources/SwiftUIPlayer Linked/SwiftUIPlayer

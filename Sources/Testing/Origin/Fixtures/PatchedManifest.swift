internal import Instrument
internal import InstrumentText

/// The manifest of an endless stream that lists its segments, and its patches (ISO/IEC 23009-1, 5th edition, 5.15).
///
/// The manifest changes with each segment and is published when the segment is complete, so that manifest and patches
/// are functions of the number of segments.
struct PatchedManifest: Sendable {
    private static let name = "origin-live"
    /// The time for which a patch is available after its manifest, in seconds.
    private static let life = 60

    private let tracks: [(set: Int, name: String, file: FragmentedFile, attributes: String)]
    private let window: LiveWindow
    private let length: Int
    private let now: WallTime

    init(_ fixtures: Fixtures, at moment: Moment, window length: Int) {
        window = .live(at: moment, segment: Int64(Fixtures.segmentSeconds) * 1_000, window: length)
        now = moment.now
        self.length = length
        let pictures = zip(Fixtures.variants, fixtures.video).map { variant, file in
            let size = "width=\"\(variant.width)\" height=\"\(variant.height)\" frameRate=\"25\""
            return (0, variant.name, file, Self.attributes(variant.name, file, of: fixtures) + " " + size)
        }
        let sound = zip(Fixtures.languages, fixtures.audio).enumerated().map { place, track in
            let attributes = Self.attributes(track.0.name, track.1, of: fixtures) + " audioSamplingRate=\"48000\""
            return (place + 1, track.0.name, track.1, attributes)
        }
        tracks = pictures + sound
    }

    // MARK: Values
    /// The attributes of a representation that every track has.
    private static func attributes(_ name: String, _ file: FragmentedFile, of fixtures: Fixtures) -> String {
        "codecs=\"\(file.codecs)\" bandwidth=\"\(fixtures.track(name, .fragmented)?.peakBitrate ?? 0)\""
    }

    private func published(_ end: Int) -> String {
        WallTime(milliseconds: window.start.milliseconds &+ Int64(end * Fixtures.segmentSeconds) &* 1_000).rfc3339
    }

    private func location(_ end: Int) -> String {
        "<PatchLocation ttl=\"\(Self.life)\">patch.mpp?from=\(end)&amp;window=\(length)</PatchLocation>"
    }

    private func row(_ number: Int, _ file: FragmentedFile) -> String {
        let (round, place) = number.quotientAndRemainder(dividingBy: max(1, file.fragments.count))
        guard file.fragments.indices.contains(place) else { return "" }
        let fragment = file.fragments[place]
        return "<S t=\"\(round * file.duration + fragment.start)\" d=\"\(fragment.duration)\"/>"
    }

    // MARK: Documents
    var manifest: String {
        var text =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" id=\"\(Self.name)\" minBufferTime=\"PT2S\" type=\"dynamic\" "
            + "availabilityStartTime=\"\(window.start.rfc3339)\" publishTime=\"\(published(window.listed.upperBound))\" "
            + "minimumUpdatePeriod=\"PT\(Fixtures.segmentSeconds)S\" suggestedPresentationDelay=\"PT6S\" "
            + "timeShiftBufferDepth=\"PT\(length * Fixtures.segmentSeconds)S\" "
            + "profiles=\"urn:mpeg:dash:profile:isoff-live:2011\">\n"
            + "  \(location(window.listed.upperBound))\n  <Period id=\"p0\" start=\"PT0S\">\n"
        for set in Set(tracks.map(\.set)).sorted() {
            let kind = set == 0 ? "video" : "audio"
            let members = tracks.filter { $0.set == set }
            let language = set == 0 ? "" : " lang=\"\(members.first?.name ?? "und")\""
            text += "    <AdaptationSet id=\"\(set)\" contentType=\"\(kind)\" mimeType=\"\(kind)/mp4\"\(language) "
            text += "segmentAlignment=\"true\" startWithSAP=\"1\">\n"
            for track in members {
                text += "      <Representation id=\"\(track.name)\" \(track.attributes)>\n"
                text += "        <SegmentTemplate timescale=\"\(track.file.timescale)\" "
                text += "startNumber=\"\(window.listed.lowerBound)\" initialization=\"\(track.name)/init.mp4\" "
                text += "media=\"\(track.name)/$Number$.m4s\">\n          <SegmentTimeline>"
                text += window.listed.map { row($0, track.file) }.joined()
                text += "</SegmentTimeline>\n        </SegmentTemplate>\n      </Representation>\n"
            }
            text += "    </AdaptationSet>\n"
        }
        let clock = "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\" value=\"\(now.rfc3339)\"/>"
        return text + "  </Period>\n  \(clock)\n</MPD>\n"
    }

    /// The changes since the manifest with the segments before `end`; nil if that one is too old, or in the future.
    func patch(since end: Int) -> String? {
        let newEnd = window.listed.upperBound
        guard end > 0, end <= newEnd, (newEnd - end) * Fixtures.segmentSeconds < Self.life else { return nil }
        let old = max(0, end - length)..<end
        var text =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + "<Patch xmlns=\"urn:mpeg:dash:schema:mpd-patch:2020\" mpdId=\"\(Self.name)\" "
            + "originalPublishTime=\"\(published(end))\" publishTime=\"\(published(newEnd))\">\n"
            + "  <replace sel=\"/MPD/@publishTime\">\(published(newEnd))</replace>\n"
            + "  <replace sel=\"/MPD/PatchLocation[1]\">\(location(newEnd))</replace>\n"
            + "  <replace sel=\"/MPD/UTCTiming/@value\">\(now.rfc3339)</replace>\n"
        for track in tracks {
            let template =
                "/MPD/Period[@id='p0']/AdaptationSet[@id='\(track.set)']/Representation[@id='\(track.name)']"
                + "/SegmentTemplate"
            for _ in old.lowerBound..<min(window.listed.lowerBound, old.upperBound) {
                text += "  <remove sel=\"\(template)/SegmentTimeline/S[1]\"/>\n"
            }
            text += "  <replace sel=\"\(template)/@startNumber\">\(window.listed.lowerBound)</replace>\n"
            let new = max(end, window.listed.lowerBound)..<newEnd
            guard !new.isEmpty else { continue }
            text += "  <add sel=\"\(template)/SegmentTimeline\">\(new.map { row($0, track.file) }.joined())</add>\n"
        }
        return text + "</Patch>\n"
    }
}

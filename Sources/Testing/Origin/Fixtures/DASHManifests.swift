internal import Instrument
internal import InstrumentText

/// How a manifest declares its segments (ISO/IEC 23009-1, 5.3.9).
enum DASHAddressing: String, Sendable, CaseIterable {
    /// SegmentTemplate with `$Number$` and a constant duration.
    case number
    /// SegmentTimeline with `$Time$`.
    case time
    /// SegmentTimeline with `$Number$`.
    case timeline
    /// SegmentList.
    case list
    /// SegmentBase: one file with an index.
    case base
    /// Two periods, each by `number`.
    case periods

    var summary: String {
        switch self {
        case .number: "SegmentTemplate, $Number$, constant duration"
        case .time: "SegmentTimeline, $Time$"
        case .timeline: "SegmentTimeline, $Number$"
        case .list: "SegmentList"
        case .base: "SegmentBase: one file each, with sidx"
        case .periods: "two periods"
        }
    }
}

extension Fixtures {
    /// Returns a manifest of the whole media.
    /// - Parameters:
    ///   - servers: where the segments are; none for beside the manifest.
    ///   - steering: the steering server, of which the servers are service locations.
    func manifest(
        _ addressing: DASHAddressing,
        servers: [PlaylistServer] = [],
        steering: SteeringServer? = nil
    ) -> String {
        let half = segmentCount / 2
        let periods: [Range<Int>] = addressing == .periods ? [0..<half, half..<segmentCount] : [0..<segmentCount]
        let profile = addressing == .base ? "isoff-on-demand" : addressing == .list ? "full" : "isoff-live"
        let head =
            "type=\"static\" mediaPresentationDuration=\"PT\(seconds)S\" profiles=\"urn:mpeg:dash:profile:\(profile):2011\""
        var places = servers.map { server in
            let location = server.name.map { " serviceLocation=\"\($0)\"" } ?? ""
            return "  <BaseURL\(location)>\(server.prefix(of: "vod/dash/"))</BaseURL>\n"
        }
        if let steering, let first = servers.first?.name {
            let attributes = "defaultServiceLocation=\"\(first)\" queryBeforeStart=\"true\""
            places.append("  <ContentSteering \(attributes)>\(steering.address)</ContentSteering>\n")
        }
        let texts = periods.enumerated().map { period("p\($0.offset)", $0.element, addressing) }
        return document(head, places + texts, after: "")
    }

    /// Returns a manifest of the whole media in periods, each of an asset.
    func manifest(ofPeriods periods: [(segments: Range<Int>, asset: String)]) -> String {
        let head =
            "type=\"static\" mediaPresentationDuration=\"PT\(seconds)S\" profiles=\"urn:mpeg:dash:profile:isoff-live:2011\""
        let texts = periods.enumerated().map { number, part in
            let asset = "    <AssetIdentifier schemeIdUri=\"urn:org:example:assets\" value=\"\(part.asset)\"/>\n"
            return period("p\(number)", part.segments, .periods, asset)
        }
        return document(head, texts, after: "")
    }

    /// Returns a manifest of an endless stream: segments by number, and the server's clock.
    func liveManifest(at moment: Moment, window: Int, clock: DASHClock = .direct, base: String = "/") -> String {
        let start = WallTime(milliseconds: moment.originStart.milliseconds &- LiveWindow.headStart)
        let depth = window * Self.segmentSeconds
        let head =
            "type=\"dynamic\" availabilityStartTime=\"\(start.rfc3339)\" publishTime=\"\(moment.now.rfc3339)\" "
            + "minimumUpdatePeriod=\"PT2S\" timeShiftBufferDepth=\"PT\(depth)S\" suggestedPresentationDelay=\"PT6S\" "
            + "profiles=\"urn:mpeg:dash:profile:isoff-live:2011\""
        return document(head, [period("p0", nil, .number)], after: clock.element(at: moment, base: base))
    }

    private func document(_ attributes: String, _ periods: [String], after: String) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" minBufferTime=\"PT2S\" \(attributes)>\n"
            + periods.joined() + after + "</MPD>\n"
    }

    /// Returns a period of these segments; nil for an endless period. `elements` come first in it.
    private func period(
        _ name: String,
        _ segments: Range<Int>?,
        _ addressing: DASHAddressing,
        _ elements: String = ""
    ) -> String {
        let start = (segments?.lowerBound ?? 0) * Self.segmentSeconds
        var attributes = "id=\"\(name)\" start=\"PT\(start)S\""
        if let segments { attributes += " duration=\"PT\(segments.count * Self.segmentSeconds)S\"" }
        var text = "  <Period \(attributes)>\n" + elements
        text +=
            "    <AdaptationSet contentType=\"video\" mimeType=\"video/mp4\" segmentAlignment=\"true\" startWithSAP=\"1\">\n"
        for (variant, file) in zip(Self.variants, video) {
            let size = "width=\"\(variant.width)\" height=\"\(variant.height)\" frameRate=\"25\""
            text += representation(variant.name, file, size, segments, addressing)
        }
        text += "    </AdaptationSet>\n"
        for (language, file) in zip(Self.languages, audio) {
            text += "    <AdaptationSet contentType=\"audio\" mimeType=\"audio/mp4\" lang=\"\(language.name)\" "
            text += "segmentAlignment=\"true\" startWithSAP=\"1\">\n"
            text += representation(language.name, file, "audioSamplingRate=\"48000\"", segments, addressing)
            text += "    </AdaptationSet>\n"
        }
        return text + "  </Period>\n"
    }

    private func representation(
        _ name: String,
        _ file: FragmentedFile,
        _ attributes: String,
        _ segments: Range<Int>?,
        _ addressing: DASHAddressing
    ) -> String {
        let bandwidth = track(name, .fragmented)?.peakBitrate ?? 0
        return
            "      <Representation id=\"\(name)\" codecs=\"\(file.codecs)\" bandwidth=\"\(bandwidth)\" \(attributes)>\n"
            + self.addressing(name, file, segments, addressing).map { "        \($0)\n" }.joined()
            + "      </Representation>\n"
    }

    private func addressing(
        _ name: String,
        _ file: FragmentedFile,
        _ segments: Range<Int>?,
        _ addressing: DASHAddressing
    ) -> [String] {
        let scale = "timescale=\"\(file.timescale)\""
        let length = "duration=\"\(file.timescale * Self.segmentSeconds)\""
        let start = "initialization=\"\(name)/init.mp4\""
        switch addressing {
        case .number, .periods:
            let first = segments?.lowerBound ?? 0
            let offset = first == 0 ? "" : " presentationTimeOffset=\"\(first * Self.segmentSeconds * file.timescale)\""
            let media = "media=\"\(name)/$Number$.m4s\" startNumber=\"\(first)\""
            return ["<SegmentTemplate \(scale) \(length) \(start) \(media)\(offset)/>"]
        case .time, .timeline:
            let media = addressing == .time ? "t$Time$" : "$Number$"
            return ["<SegmentTemplate \(scale) \(start) media=\"\(name)/\(media).m4s\" startNumber=\"0\">"]
                + timeline(file) + ["</SegmentTemplate>"]
        case .list:
            return ["<SegmentList \(scale) \(length)>", "  <Initialization sourceURL=\"\(name)/init.mp4\"/>"]
                + file.fragments.indices.map { "  <SegmentURL media=\"\(name)/\($0).m4s\"/>" } + ["</SegmentList>"]
        case .base:
            let index = "\(file.index.lowerBound)-\(file.index.upperBound - 1)"
            let head = "\(file.initialization.lowerBound)-\(file.initialization.upperBound - 1)"
            return [
                "<BaseURL>\(name).mp4</BaseURL>", "<SegmentBase \(scale) indexRange=\"\(index)\">",
                "  <Initialization range=\"\(head)\"/>", "</SegmentBase>",
            ]
        }
    }

    /// Runs of equal durations in one element each.
    private func timeline(_ file: FragmentedFile) -> [String] {
        var runs: [(start: Int, duration: Int, count: Int)] = []
        for fragment in file.fragments {
            if let last = runs.last, last.duration == fragment.duration {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((fragment.start, fragment.duration, 1))
            }
        }
        let rows = runs.map { run in
            let again = run.count > 1 ? " r=\"\(run.count - 1)\"" : ""
            return "    <S t=\"\(run.start)\" d=\"\(run.duration)\"\(again)/>"
        }
        return ["  <SegmentTimeline>"] + rows + ["  </SegmentTimeline>"]
    }
}

extension Fixtures {
    /// A manifest of an endless stream whose segments are listed one by one (`SegmentTimeline`).
    func liveTimelineManifest(at moment: Moment, window: Int) -> String {
        let listed = LiveWindow.live(at: moment, segment: Int64(Self.segmentSeconds) * 1_000, window: window).listed
        var text = ManifestText(liveManifest(at: moment, window: window))
        text.lines = text.lines.flatMap { line -> [String] in
            guard line.contains("<SegmentTemplate"), let name = Self.trackName(in: line),
                let file = fragmentedFile(name)
            else { return [line] }
            var template = ManifestText(line)
            template.changeAttribute("duration") { _ in nil }
            template.changeAttribute("startNumber") { _ in "\(listed.lowerBound)" }
            template.replace("/>", with: ">")
            return template.lines + ["  <SegmentTimeline>"] + listed.map { Self.entry($0, file) }
                + ["  </SegmentTimeline>", "</SegmentTemplate>"]
        }
        return text.text
    }

    private static func entry(_ number: Int, _ file: FragmentedFile) -> String {
        let count = file.fragments.count
        let fragment = file.fragments[number % count]
        return "    <S t=\"\(number / count * file.duration + fragment.start)\" d=\"\(fragment.duration)\"/>"
    }

    /// The track in `media="NAME/$Number$.m4s"`.
    private static func trackName(in line: String) -> String? {
        line.firstRange(of: "media=\"").flatMap { range in
            line[range.upperBound...].split(separator: "/").first.map(String.init)
        }
    }
}

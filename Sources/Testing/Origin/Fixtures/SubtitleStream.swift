internal import Instrument
internal import InstrumentText

/// Subtitles of the fixtures in one language: a cue for each second of the media, which shows its position.
struct SubtitleTrack: Sendable {
    /// The format of a file with cues.
    enum Format: String, Sendable {
        /// WebVTT (W3C; in HLS, RFC 8216 section 3.5).
        case webVTT = "vtt"
        /// Timed Text Markup Language (W3C TTML2).
        case timedText = "ttml"

        var contentType: String { self == .webVTT ? "text/vtt" : "application/ttml+xml" }
    }

    /// The timestamp with which ffmpeg begins transport streams: 1.4 s, in ticks of 90 kHz.
    private static let firstTimestamp = 126_000

    let language: String

    /// A file with the cues of these seconds, counted from the start of the media.
    func text(_ format: Format, _ seconds: Range<Int>) -> String {
        let isXML = format == .timedText
        let cues = seconds.map { second in
            let (begin, end) = (Self.time(second, "000"), Self.time(second, "900"))
            return isXML
                ? "<p begin=\"\(begin)\" end=\"\(end)\">\(second) s</p>\n" : "\(begin) --> \(end)\n\(second) s\n\n"
        }
        if isXML {
            return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                + "<tt xmlns=\"http://www.w3.org/ns/ttml\" xml:lang=\"\(language)\"><body><div>\n" + cues.joined()
                + "</div></body></tt>\n"
        }
        let map = "X-TIMESTAMP-MAP=MPEGTS:\(Self.firstTimestamp),LOCAL:00:00:00.000"
        return "WEBVTT\n\(map)\n\n" + cues.joined()
    }

    private static func time(_ second: Int, _ thousandths: String) -> String {
        let parts = [second / 3600, second / 60 % 60, second % 60]
        return parts.map { $0.padded(2) }.joined(separator: ":") + "." + thousandths
    }
}

/// Streams with subtitles: the video and audio of other streams, and subtitles beside them.
struct SubtitleStream: Sendable {
    let fixtures: Fixtures

    /// A resource under `vod/subtitles/` or `live/subtitles/`.
    func resource(_ kind: StreamKind, _ names: [String], _ query: StreamQuery, _ moment: Moment) -> Resource? {
        guard let name = names.first else { return nil }
        let window = fixtures.window(kind, .transport, fixtures.segmentCount, query, moment)
        if names.count == 2 {
            let parts = names[1].split(separator: ".", omittingEmptySubsequences: false)
            if let fragment = fragment(name, names[1], in: window) { return fragment }
            guard parts.count == 2, let number = Int(parts[0]), window.available.contains(number) else { return nil }
            // The transport stream restarts its timestamps with each loop; the fragments do not.
            let isLooped = parts[1] == SubtitleTrack.Format.webVTT.rawValue
            let first = (isLooped ? number % fixtures.segmentCount : number) * Fixtures.segmentSeconds
            return file(name, parts[1], first..<(first + Fixtures.segmentSeconds))
        }
        guard names.count == 1 else { return nil }
        switch (kind, name) {
        case (_, "master.m3u8"): return Resource(ContentType.hls, Body(masterPlaylistWithSubtitles(query.text)))
        case (.vod, "vtt.mpd"): return Resource(ContentType.dash, Body(manifestWithSubtitles(.webVTT)))
        case (.vod, "ttml.mpd"): return Resource(ContentType.dash, Body(manifestWithSubtitles(.timedText)))
        case (.vod, "wvtt.mpd"): return Resource(ContentType.dash, Body(manifestWithFragments(.webVTT)))
        case (.vod, "stpp.mpd"): return Resource(ContentType.dash, Body(manifestWithFragments(.timedText)))
        case (.live, "ttml.mpd"):
            return Resource(ContentType.dash, Body(liveManifestWithSubtitles(at: moment, window: query.window)))
        default: break
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] == "m3u8", Fixtures.languages.contains(where: { $0.name == parts[0] }) {
            let track = Track(
                name: String(parts[0]),
                count: fixtures.segmentCount,
                ending: SubtitleTrack.Format.webVTT.rawValue,
                durations: Array(repeating: Double(Fixtures.segmentSeconds), count: fixtures.segmentCount),
                sizes: []
            ) { _ in nil }
            return Resource(
                ContentType.hls,
                Body(fixtures.mediaPlaylist(track, .transport, kind, window, query: query.text))
            )
        }
        return kind == .vod ? file(String(parts[0]), parts[1], 0..<fixtures.seconds) : nil
    }

    /// `LANGUAGE-CODING/init.mp4` or `LANGUAGE-CODING/NUMBER.m4s`.
    private func fragment(_ folder: String, _ name: String, in window: LiveWindow) -> Resource? {
        let parts = folder.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let coding = SubtitleFragment(rawValue: String(parts[1])),
            Fixtures.languages.contains(where: { $0.name == parts[0] })
        else { return nil }
        if name == "init.mp4" { return Resource("application/mp4", Body(coding.initialization)) }
        guard name.hasSuffix(".m4s"), let number = Int(name.dropLast(4)), window.available.contains(number) else {
            return nil
        }
        let first = number * Fixtures.segmentSeconds
        let track = SubtitleTrack(language: String(parts[0]))
        return Resource("application/mp4", Body(coding.segment(track, first..<(first + Fixtures.segmentSeconds))))
    }

    private func file(_ language: String, _ ending: Substring, _ seconds: Range<Int>) -> Resource? {
        guard let format = SubtitleTrack.Format(rawValue: String(ending)),
            Fixtures.languages.contains(where: { $0.name == language })
        else { return nil }
        return Resource(format.contentType, Body(SubtitleTrack(language: language).text(format, seconds)))
    }

    /// The playlist of the transport stream, with subtitles of which those in the first language are the default.
    private func masterPlaylistWithSubtitles(_ query: String) -> String {
        let media = Fixtures.languages.enumerated().map { index, language in
            "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"text\",NAME=\"\(language.title)\",LANGUAGE=\"\(language.name)\","
                + "DEFAULT=\(index == 0 ? "YES" : "NO"),AUTOSELECT=YES,FORCED=NO,URI=\"\(language.name).m3u8\(query)\""
        }
        let plain = fixtures.masterPlaylist(.transport, query: query).split(separator: "\n").map { line in
            if line.hasPrefix("#EXT-X-STREAM-INF") { return "\(line),SUBTITLES=\"text\"" }
            return line.hasPrefix("#") ? String(line) : "../\(Track.Packaging.transport.rawValue)/\(line)"
        }
        let head = plain.prefix { !$0.hasPrefix("#EXT-X-STREAM-INF") }
        return (head + media + plain.dropFirst(head.count)).joined(separator: "\n") + "\n"
    }

    /// The manifest by number, with subtitles in one file for each language.
    private func manifestWithSubtitles(_ format: SubtitleTrack.Format) -> String {
        adding(to: fixtures.manifest(.number), format) { "<BaseURL>../subtitles/\($0).\(format.rawValue)</BaseURL>" }
    }

    /// The manifest of the endless stream, with subtitles in segments.
    private func liveManifestWithSubtitles(at moment: Moment, window: Int) -> String {
        adding(to: fixtures.liveManifest(at: moment, window: window), .timedText) { language in
            "<SegmentTemplate timescale=\"1\" duration=\"\(Fixtures.segmentSeconds)\" startNumber=\"0\" "
                + "media=\"../subtitles/\(language)/$Number$.ttml\"/>"
        }
    }

    /// The manifest by number, with subtitles in segments of fragmented MP4.
    private func manifestWithFragments(_ coding: SubtitleFragment) -> String {
        let times = "timescale=\"1000\" duration=\"\(Fixtures.segmentSeconds * 1_000)\" startNumber=\"0\""
        return adding(to: fixtures.manifest(.number), "application/mp4\" codecs=\"\(coding.codecs)") { language in
            let folder = "../subtitles/\(language)-\(coding.rawValue)"
            return "<SegmentTemplate \(times) initialization=\"\(folder)/init.mp4\" media=\"\(folder)/$Number$.m4s\"/>"
        }
    }

    private func adding(to manifest: String, _ format: SubtitleTrack.Format, addressing: (String) -> String) -> String {
        adding(to: manifest, format.contentType, addressing: addressing)
    }

    private func adding(to manifest: String, _ type: String, addressing: (String) -> String) -> String {
        let sets = Fixtures.languages.enumerated().map { index, language in
            "    <AdaptationSet contentType=\"text\" mimeType=\"\(type)\" lang=\"\(language.name)\">"
                + "<Role schemeIdUri=\"urn:mpeg:dash:role:2011\" value=\"\(index == 0 ? "main" : "subtitle")\"/>"
                + "<Representation id=\"text-\(language.name)\" bandwidth=\"500\">\(addressing(language.name))"
                + "</Representation></AdaptationSet>"
        }
        return manifest.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            switch line {
            // Video and audio are those of the stream without subtitles.
            case _ where line.hasPrefix("  <Period"): ["  <BaseURL>../dash/</BaseURL>", String(line)]
            case "  </Period>": sets + [String(line)]
            default: [String(line)]
            }
        }.joined(separator: "\n")
    }

    /// The paths that a player may open.
    static var catalogue: [CatalogueEntry] {
        [
            CatalogueEntry("vod/subtitles/master.m3u8", "HLS, transport stream, subtitles in WebVTT"),
            CatalogueEntry("vod/subtitles/vtt.mpd", "DASH, subtitles in one WebVTT file for each language"),
            CatalogueEntry("vod/subtitles/ttml.mpd", "DASH, subtitles in one TTML file for each language"),
            CatalogueEntry("vod/subtitles/wvtt.mpd", "DASH, subtitles in fragmented MP4, WebVTT (wvtt)"),
            CatalogueEntry("vod/subtitles/stpp.mpd", "DASH, subtitles in fragmented MP4, TTML (stpp)"),
            CatalogueEntry("live/subtitles/master.m3u8", "live HLS, transport stream, subtitles in WebVTT"),
            CatalogueEntry("live/subtitles/ttml.mpd", "live DASH, subtitles in segments of TTML"),
        ]
    }
}

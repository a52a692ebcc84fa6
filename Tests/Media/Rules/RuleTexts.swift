import Instrument
import InstrumentHTTP
import InstrumentManifests
import InstrumentRules

/// The rules that texts break: each fetched some seconds after the one before, as one media playlist or MPD.
func broken(_ texts: [String], every seconds: Int = 6, at path: String = "live.m3u8") throws -> [String] {
    var run = RuleRun()
    for (place, text) in texts.enumerated() { run.observe(try fetched(text, seconds * place, path), as: .root) }
    return run.findings.map(\.rule.description)
}

/// The rules that the media playlists of variants break, all of them fetched every six seconds.
func broken(variants: [String: [String]]) throws -> [String] {
    var run = RuleRun()
    let names = variants.keys.sorted()
    let lines = names.enumerated().map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)00000\n\($1).m3u8\n" }
    run.observe(try fetched("#EXTM3U\n" + lines.joined(), 0, "master.m3u8"), as: .root)
    for round in 0..<(variants.values.map(\.count).max() ?? 0) {
        for (name, rendition) in zip(names, run.history.presentation?.renditions ?? []) {
            guard let texts = variants[name], texts.indices.contains(round) else { continue }
            run.observe(
                try fetched(texts[round], round * 6, "\(name).m3u8"),
                as: .rendition(rendition.id.description)
            )
        }
    }
    return run.findings.map(\.rule.description)
}

func fetched(_ text: String, _ second: Int, _ path: String = "live.m3u8") throws -> FetchedText {
    FetchedText(
        url: try HTTPURL("http://example.org/\(path)"),
        bytes: Array(text.utf8),
        fetched: Timestamp(
            instant: MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000),
            wallTime: WallTime(milliseconds: 1_767_225_600_000 + Int64(second) * 1_000)
        )
    )
}

/// A live playlist of six-second segments.
func live(
    _ first: Int,
    count: Int = 4,
    head: String = "",
    segment: (Int) -> String = { "#EXTINF:6,\n\($0).ts" }
) -> String {
    "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(first)\n\(head)"
        + (first..<(first + count)).map { segment($0) + "\n" }.joined()
}

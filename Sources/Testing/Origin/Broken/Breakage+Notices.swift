extension Breakage {
    /// Faults that parsers notice, and faults of values and identifiers.
    static let notices: [Breakage] = [
        .playlist("playlist-encoding") { text in text.lines[0] = "\u{FEFF}" + text.lines[0] },
        .playlist("playlist-loose") { text in text.replace("#EXTINF:", with: "#EXTINF: ") },
        .playlist("start-outside") { text in text.insert("#EXT-X-START:TIME-OFFSET=3600", before: "#EXTINF") },
        .playlist("extinf-missing") { text in text.insert("extra.ts", before: "#EXTINF") },
        .playlist("extinf-negative") { text in
            if let place = text.placeInside { text.lines[place] = "#EXTINF:-2.000000," }
        },
        .playlist("program-date-time-invalid") { text in
            text.insert("#EXT-X-PROGRAM-DATE-TIME:yesterday", before: "#EXTINF")
        },
        .playlist("sequence-number-late") { text in text.insert("#EXT-X-MEDIA-SEQUENCE:7", before: "#EXT-X-ENDLIST") },
        .playlist("playlist-type-unknown") { text in
            text.replace("#EXT-X-PLAYLIST-TYPE:VOD", with: "#EXT-X-PLAYLIST-TYPE:vod")
        },
        .playlist("daterange-incomplete") { text in
            text.insert("#EXT-X-DATERANGE:START-DATE=\"2026-01-01T00:00:00Z\"", before: "#EXTINF")
        },
        .playlist("byte-range-without-start") { text in
            if let place = text.placeInside { text.lines.insert("#EXT-X-BYTERANGE:1000", at: place) }
        },
        .playlist("target-duration-missing") { text in text.remove("#EXT-X-TARGETDURATION") },
        .playlist("target-duration-fraction") { text in
            text.replace("#EXT-X-TARGETDURATION:2", with: "#EXT-X-TARGETDURATION:2.4")
        },
        .master("playlist-attribute-invalid") { text in text.changeAttribute("RESOLUTION") { _ in "large" } },
        .playlist("ad-signal-wrong") { text in text.insert("#EXT-OATCLS-SCTE35:AAAA", before: "#EXTINF") },
        .playlist("endlist-missing") { text in text.remove("#EXT-X-ENDLIST") },
        .playlist("limit-exceeded") { text in
            text.insert("#EXT-X-NOTE:" + String(repeating: "a", count: 70_000), before: "#EXTINF")
        },
        .master("steering-without-server") { text in
            text.insert("#EXT-X-CONTENT-STEERING:PATHWAY-ID=\".\"", before: "#EXT-X-STREAM-INF")
        },
        .master("stream-inf-missing") { text in text.insert("extra.m3u8", before: "#EXT-X-STREAM-INF") },
        .master("media-tag-incomplete") { text in
            text.insert("#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"English\"", before: "#EXT-X-STREAM-INF")
        },
        .master("reference-refused") { text in
            text.insert("#EXT-X-STREAM-INF:BANDWIDTH=1000\nftp://example.org/v.m3u8", before: "#EXT-X-STREAM-INF")
        },
        .master("codecs-unknown") { text in text.changeAttribute("CODECS") { $0 + ",zzzz.1" } },
        .document("remote-element-missing", "vod/dash/periods.mpd") { text, _ in
            let names = "xmlns:xlink=\"http://www.w3.org/1999/xlink\" xlink:href=\"gone.xml\""
            text.insert("<Period \(names) xlink:actuate=\"onLoad\"/>", before: "</MPD>")
        },
        .document("period-without-start", "vod/dash/periods.mpd") { text, _ in
            text.lines = text.lines.map { line in
                guard line.contains("<Period ") else { return line }
                var period = ManifestText(line)
                if line.contains("id=\"p1\"") { period.changeAttribute("start") { _ in nil } }
                period.changeAttribute("duration") { _ in nil }
                return period.text
            }
        },
        .document("period-track-missing", "vod/dash/periods.mpd") { text, _ in
            var (period, isLeftOut) = (0, false)
            text.lines = text.lines.filter { line in
                if line.contains("<Period ") { period += 1 }
                if period == 2, line.contains("<AdaptationSet contentType=\"audio\"") { isLeftOut = true }
                defer { if line.contains("</AdaptationSet>") { isLeftOut = false } }
                return !isLeftOut
            }
        },
        .document("representation-unplayable", "vod/dash/number.mpd") { text, _ in
            guard let last = text.lines.lastIndex(where: { $0.contains("$Number$") }) else { return }
            var line = ManifestText(text.lines[last])
            line.replace("$Number$", with: "$Nmber$")
            text.lines[last] = line.text
        },
        .document("timeline-entry-invalid", "vod/dash/timeline.mpd") { text, _ in
            text.lines = text.lines.flatMap { $0.contains("</SegmentTimeline>") ? ["<S r=\"1\"/>", $0] : [$0] }
        },
        .document("identifier-duplicate", "vod/dash/number.mpd") { text, _ in
            text.replace("<AdaptationSet ", with: "<AdaptationSet id=\"1\" ")
        },
        .document("segment-duration-ambiguous", "vod/dash/timeline.mpd") { text, _ in
            text.replace("<SegmentTemplate ", with: "<SegmentTemplate duration=\"90000\" ")
        },
        .document("mpd-attribute-invalid", "vod/dash/number.mpd") { text, _ in
            text.changeAttribute("frameRate") { _ in "fast" }
        },
    ]

    /// Changes the media playlists of a recording.
    private static func playlist(_ rule: String, change: @escaping @Sendable (inout ManifestText) -> Void) -> Breakage {
        .document(rule, "vod/ts/master.m3u8") { text, request in if !request.isMaster { change(&text) } }
    }

    /// Changes the multivariant playlist of a recording.
    private static func master(_ rule: String, change: @escaping @Sendable (inout ManifestText) -> Void) -> Breakage {
        .document(rule, "vod/ts/master.m3u8") { text, request in if request.isMaster { change(&text) } }
    }
}

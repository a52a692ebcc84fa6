extension Breakage {
    /// Faults of low-latency streams.
    static let lowLatency: [Breakage] = [
        .parts("low-latency-tag-invalid") { text, _ in
            text.insert("#EXT-X-PART:DURATION=0.5", before: "#EXT-X-PRELOAD-HINT")
        },
        .parts("part-target-exceeded") { text, _ in text.scale("PART-TARGET", by: 0.7) },
        .parts("part-too-short") { text, _ in text.scale("PART-TARGET", by: 1.4) },
        .parts("part-durations-differ") { text, _ in
            // The last part of each segment is longer than the rest of the segment.
            text.changeAttribute("DURATION") { Double($0).map { $0 < 0.5 } == true ? "0.480000" : $0 }
        },
        .parts("parts-kept-too-long") { text, request in
            if request.document.hasPrefix("v") { text.keepOldParts() }
        },
        .parts("part-target-missing") { text, _ in text.remove("#EXT-X-PART-INF") },
        .parts("part-target-changed") { text, request in
            if request.elapsed > onset { text.scale("PART-TARGET", by: 1.1) }
        },
        .parts("hold-back-too-short") { text, _ in text.scale("PART-HOLD-BACK", by: 0.4) },
        .parts("skip-until-too-short") { text, _ in text.scale("CAN-SKIP-UNTIL", by: 0.5) },
        .parts("blocking-reload-missing") { text, _ in text.changeAttribute("CAN-BLOCK-RELOAD") { _ in "NO" } },
        .parts("preload-hint-not-kept") { text, _ in
            text.lines = text.lines.map { line in
                guard line.hasPrefix("#EXT-X-PRELOAD-HINT") else { return line }
                var hint = ManifestText(line)
                hint.changeAttribute("URI") { "hinted/" + $0 }
                return hint.text
            }
        },
        .parts("rendition-report-wrong") { text, _ in
            text.changeAttribute("LAST-MSN") { Int($0).map { "\($0 + 50)" } }
        },
        .request("blocking-reload-ignored", "live/ll/master.m3u8") { $0.query.directives.sequence = nil },
        .parts("delta-update-differs") { text, request in
            guard request.query.directives.skips else { return }
            text.lines = text.lines.map { $0.hasPrefix("#EXTINF") ? "#EXTINF:1.500000," : $0 }
        },
        .document("availability-offset-wrong", "live/ll/low-latency.mpd") { text, _ in
            text.changeAttribute("availabilityTimeOffset") { _ in nil }
        },
        .document("service-description-wrong", "live/ll/low-latency.mpd") { text, _ in
            text.replace("min=\"1500\"", with: "min=\"9000\"")
        },
        .document("producer-reference-wrong", "live/ll/low-latency.mpd") { text, _ in
            let element =
                "<ProducerReferenceTime id=\"0\" type=\"encoder\" wallClockTime=\"noon\" presentationTime=\"0\"/>"
            text.insert(element, before: "      <Representation ")
        },
    ]

    /// Changes the media playlists of a low-latency stream.
    private static func parts(
        _ rule: String,
        change: @escaping @Sendable (inout ManifestText, BrokenRequest) -> Void
    ) -> Breakage {
        .document(rule, "live/ll/master.m3u8") { text, request in if !request.isMaster { change(&text, request) } }
    }
}

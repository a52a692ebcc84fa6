internal import Instrument
internal import InstrumentText
internal import NIOCore

extension Breakage {
    /// Faults of multivariant playlists, and between variants.
    static let ladders: [Breakage] = [
        .document("bandwidth-missing", "vod/ts/master.m3u8") { text, _ in
            guard let first = text.lines.firstIndex(where: { $0.hasPrefix("#EXT-X-STREAM-INF") }) else { return }
            var line = ManifestText(text.lines[first])
            line.changeAttribute("BANDWIDTH") { _ in nil }
            text.lines[first] = line.text
        },
        .document("score-missing", "vod/ts/master.m3u8") { text, _ in
            guard let first = text.lines.firstIndex(where: { $0.hasPrefix("#EXT-X-STREAM-INF") }) else { return }
            text.lines[first] += ",SCORE=2"
        },
        .document("rendition-group-duplicate", "vod/fmp4/master.m3u8") { text, _ in
            text.replace("NAME=\"Français\"", with: "NAME=\"English\"")
        },
        .document("rendition-group-missing", "vod/fmp4/master.m3u8") { text, _ in
            guard let last = text.lines.lastIndex(where: { $0.hasPrefix("#EXT-X-STREAM-INF") }) else { return }
            var line = ManifestText(text.lines[last])
            line.changeAttribute("AUDIO") { _ in "music" }
            text.lines[last] = line.text
        },
        .document("rendition-group-members-differ", "vod/fmp4/master.m3u8") { text, request in
            guard request.isMaster else { return }
            let member = "TYPE=AUDIO,GROUP-ID=\"other\",NAME=\"English\",LANGUAGE=\"en\",DEFAULT=YES,AUTOSELECT=YES"
            text.insert("#EXT-X-MEDIA:\(member),URI=\"en.m3u8\"", before: "#EXT-X-STREAM-INF")
        },
        .document("variant-target-duration-differs", "vod/ts/master.m3u8") { text, request in
            if request.document == "v1.m3u8" { text.change("#EXT-X-TARGETDURATION") { $0 + 1 } }
        },
        .request("variant-lags", "live/fmp4/master.m3u8") { request in
            guard request.document == "v1.m3u8" else { return }
            request.moment.now = WallTime(milliseconds: request.moment.now.milliseconds &- 12_000)
        },
        .document("variant-discontinuities-differ", "live/ts/master.m3u8") { text, request in
            if request.document == "v1.m3u8" { text.change("#EXT-X-DISCONTINUITY-SEQUENCE") { $0 + 1 } }
        },
        .document("keyframe-playlist-wrong", "vod/ts/master.m3u8") { text, request in
            guard request.isMaster else { return }
            text.insert("#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000", before: "#EXT-X-STREAM-INF")
        },
        .document("steering-wrong", "vod/ts/master.m3u8") { text, request in
            guard request.isMaster else { return }
            text.insert("#EXT-X-CONTENT-STEERING:SERVER-URI=\"nothing.json\"", before: "#EXT-X-STREAM-INF")
        },
        .document("codecs-mismatch", "vod/ts/master.m3u8", "vod/fmp4/master.m3u8", "vod/dash/number.mpd") { text, _ in
            text.changeAttribute("CODECS") { codecs in
                "hvc1.1.6.L93.B0" + (codecs.firstIndex(of: ",").map { String(codecs[$0...]) } ?? "")
            }
            text.changeAttribute("codecs") { $0.hasPrefix("avc1") ? "hvc1.1.6.L93.B0" : $0 }
        },
        .document("bandwidth-exceeded", "vod/ts/master.m3u8", "vod/fmp4/master.m3u8", "vod/dash/number.mpd") {
            text,
            _ in
            text.changeAttribute("BANDWIDTH") { Int($0).map { "\($0 / 2)" } }
            text.changeAttribute("AVERAGE-BANDWIDTH") { Int($0).map { "\($0 / 4)" } }
            text.changeAttribute("bandwidth") { Int($0).map { "\($0 / 4)" } }
        },
    ]

    /// Faults of MPDs.
    static let manifests: [Breakage] = [
        .document("mpd-malformed", "vod/dash/number.mpd") { text, _ in text.remove("</MPD>") },
        .document("mpd-attribute-missing", "vod/dash/number.mpd") { text, _ in
            text.changeAttribute("minBufferTime") { _ in nil }
        },
        .document("mpd-type-contradicted", "vod/dash/number.mpd") { text, _ in
            text.replace("type=\"static\"", with: "type=\"static\" minimumUpdatePeriod=\"PT2S\"")
        },
        .document("mpd-patch-wrong", "live/dash/patch.mpd") { text, _ in text.replace(" id=\"origin-live\"", with: "")
        },
        .document("trick-mode-wrong", "vod/dash/number.mpd") { text, _ in
            guard let start = text.lines.firstIndex(where: { $0.contains("<AdaptationSet") }),
                let end = text.lines[start...].firstIndex(where: { $0.contains("</AdaptationSet") })
            else { return }
            var set = text.lines[start...end].map { $0.replacing(" id=\"", with: " id=\"fast-") }
            let scheme = "schemeIdUri=\"http://dashif.org/guidelines/trickmode\""
            set.insert("      <EssentialProperty \(scheme) value=\"none\"/>", at: 1)
            text.lines.insert(contentsOf: set, at: end + 1)
        },
        .document("publish-time-backwards", "live/dash/number.mpd") { text, request in
            let time = request.moment.sessionStart.milliseconds &- request.elapsed
            text.changeAttribute("publishTime") { _ in WallTime(milliseconds: time).rfc3339 }
        },
        .document("update-period-not-kept", "live/dash/number.mpd") { text, request in
            let time = request.moment.sessionStart.milliseconds &+ request.elapsed / 2
            text.changeAttribute("publishTime") { _ in WallTime(milliseconds: time).rfc3339 }
        },
        Breakage(
            rule: "mpd-stale",
            bases: ["live/dash/timeline.mpd"],
            request: { request in
                request.realTime = request.moment.now
                request.moment = request.moment.frozen
            },
            document: { text, request in
                text.lines = text.lines.map { line in
                    guard line.contains("<UTCTiming"), let now = request.realTime else { return line }
                    var timing = ManifestText(line)
                    timing.changeAttribute("value") { _ in now.rfc3339 }
                    return timing.text
                }
            }
        ),
        .document("timeline-gap", "vod/dash/timeline.mpd") { text, _ in
            text.splitTimelines { ticks, count in [(0, ticks, 8), (8 * ticks + ticks / 4, ticks, count - 8)] }
        },
        .document("timeline-overlap", "vod/dash/timeline.mpd") { text, _ in
            text.splitTimelines { ticks, count in [(0, ticks, 8), (8 * ticks - ticks / 4, ticks, count - 8)] }
        },
        .document("segment-timeline-mismatch", "vod/dash/timeline.mpd") { text, _ in
            text.splitTimelines { ticks, count in
                [(0, ticks / 4 * 5, 1), (ticks / 4 * 5, ticks / 4 * 3, 1), (2 * ticks, ticks, count - 2)]
            }
        },
        .document("period-boundary", "vod/dash/periods.mpd") { text, _ in
            text.lines = text.lines.map { line in
                guard line.contains("<Period id=\"p1\"") else { return line }
                var period = ManifestText(line)
                period.changeAttribute("start") { start in
                    Int(start.dropFirst(2).dropLast()).map { "PT\($0 + 1)S" }
                }
                return period.text
            }
        },
        .document("availability-start-changed", "live/dash/number.mpd") { text, request in
            if request.elapsed > onset { text.shiftStart(by: 1_000) }
        },
        .document("availability-time-wrong", "live/dash/number.mpd") { text, _ in text.shiftStart(by: -20_000) },
        .document("utc-timing-wrong", "live/dash/number.mpd") { text, request in
            let time = request.moment.now.milliseconds &- 30_000
            text.changeAttribute("value") { _ in WallTime(milliseconds: time).rfc3339 }
        },
    ]

    /// Faults of segments.
    static let segments: [Breakage] = [
        .segment("segment-unavailable", "vod/dash/number.mpd") { number, _, request, _ in
            request.names.contains("v1") && number == 0 ? .missing : nil
        },
        .segment("segment-unreadable", "vod/ts/master.m3u8") { number, _, request, _ in
            guard request.names.contains("v1"), number == 0 else { return nil }
            let page = "<!doctype html><title>Sorry</title><p>Please try again later.</p>\n"
            return .replaced(Resource("video/mp2t", Body(page)))
        },
        .segment("expired-segment-listed", "live/ts/master.m3u8", "live/dash/number.mpd") { number, _, request, _ in
            let window = LiveWindow.live(at: request.moment, segment: 2_000, window: request.query.window)
            return number <= window.listed.lowerBound ? .missing : nil
        },
        .segment("segment-content-changed", "live/ts/master.m3u8") { _, made, request, _ in
            guard request.elapsed >= onset, case .buffer(var bytes) = made.body else { return nil }
            // A packet without payload (ISO/IEC 13818-1, 2.4.3.2): other bytes, the same media.
            bytes.writeBytes(TransportStream.nullPacket)
            return .replaced(Resource(made.contentType, .buffer(bytes)))
        },
        .document("segment-duration-mismatch", "vod/ts/master.m3u8") { text, _ in
            text.replace("#EXTINF:2.000000", with: "#EXTINF:2.400000")
        },
        .document("discontinuity-unmarked", "live/ts/master.m3u8") { text, _ in
            text.remove("#EXT-X-DISCONTINUITY")
        },
    ]
}

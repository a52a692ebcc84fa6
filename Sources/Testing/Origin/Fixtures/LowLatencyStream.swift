internal import Instrument
internal import InstrumentText

/// What a player asks of a low-latency server (rfc8216bis section 6.2.5).
struct DeliveryDirectives: Hashable, Sendable {
    /// `_HLS_msn` and `_HLS_part`.
    var sequence: Int?
    var part: Int?
    /// `_HLS_skip`.
    var skips = false

    init(_ query: String) {
        for pair in query.split(separator: "&") {
            let (name, value) = pair.split(at: "=")
            switch name {
            case "_HLS_msn": sequence = value.flatMap { Int($0) }
            case "_HLS_part": part = value.flatMap { Int($0) }
            case "_HLS_skip": skips = value == "YES" || value == "v2"
            default: break
            }
        }
    }
}

/// An endless low-latency stream, HLS and DASH, which began a minute before the origin: a pure function of the clock.
///
/// A part exists from its end on. Playlists are held until they have the part that a request names, the hinted part
/// until it exists, and the bytes of a segment leave as its parts come into being.
struct LowLatencyStream: Sendable {
    /// Segments that end longer than this before the live edge are left out of delta updates, in milliseconds: six
    /// segments.
    private static let skipUntil: Int64 = 12_000
    /// Parts are listed for this number of complete segments.
    private static let segmentsWithParts = 3
    /// The number of segments in a playlist: more than the distance of delta updates.
    private static let window = 15
    /// A request that is early by less than this is held, in milliseconds.
    private static let patience: Int64 = 6_000

    let tracks: [LowLatencyTrack]
    let moment: Moment

    private var start: WallTime {
        WallTime(milliseconds: moment.originStart.milliseconds &- LiveWindow.headStart)
    }
    /// The age of the stream, in milliseconds.
    private var age: Int64 { max(0, moment.now.milliseconds &- start.milliseconds) }

    private func hold(until time: Int64) -> Duration { .milliseconds(max(0, time - age)) }

    /// The number of the segment in production, and of its parts that exist.
    private func edge(of track: LowLatencyTrack, at age: Int64) -> (segment: Int, parts: Int) {
        var segment = max(0, Int(clamping: age / Int64(Fixtures.segmentSeconds * 1_000)) - 1)
        while let last = track.parts(of: segment).last, last.end <= age { segment += 1 }
        return (segment, track.parts(of: segment).count { $0.end <= age })
    }
}

// MARK: HLS
extension LowLatencyStream {
    /// A media playlist, once it has what the request names; nil if that is too far away.
    func playlist(_ track: LowLatencyTrack, _ directives: DeliveryDirectives) -> Resource? {
        var wanted = age
        if let segment = directives.sequence {
            // Beyond the next segment, the request is a mistake (section 6.2.5.2).
            guard segment >= 0, segment <= edge(of: track, at: age).segment + 2 else { return nil }
            wanted = max(age, end(of: segment, directives.part, track))
        }
        guard wanted - age <= Self.patience else { return nil }
        var resource = Resource(ContentType.hls, Body(text(of: track, at: wanted, skips: directives.skips)))
        resource.delay = hold(until: wanted)
        return resource
    }

    /// The end of a part, of the next segment's first part where the segment has fewer, or of the segment.
    private func end(of segment: Int, _ part: Int?, _ track: LowLatencyTrack) -> Int64 {
        let parts = track.parts(of: segment)
        guard let part else { return parts.last?.end ?? 0 }
        return parts.first { $0.place == part }?.end ?? track.parts(of: segment + 1).first?.end ?? 0
    }

    private func text(of track: LowLatencyTrack, at age: Int64, skips: Bool) -> String {
        let edge = edge(of: track, at: age)
        let first = max(0, edge.segment - Self.window)
        let target = decimal(track.partTarget)
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:\(skips ? 9 : 6)", "#EXT-X-TARGETDURATION:\(Fixtures.segmentSeconds)",
            "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=\(decimal(Double(Self.skipUntil) / 1_000)),"
                + "PART-HOLD-BACK=\(decimal(track.partTarget * 3))",
            "#EXT-X-PART-INF:PART-TARGET=\(target)", "#EXT-X-MEDIA-SEQUENCE:\(first)",
        ]
        let edgeTime = track.parts(of: edge.segment).last { $0.end <= age }?.end ?? age
        let skipped = (first..<edge.segment).prefix { number in
            skips && edgeTime - (track.parts(of: number).last?.end ?? 0) > Self.skipUntil
        }
        if skipped.isEmpty {
            lines.append("#EXT-X-MAP:URI=\"\(track.name)/init.mp4\"")
        } else {
            lines.append("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped.count)")
        }
        for number in (first + skipped.count)..<edge.segment {
            let parts = track.parts(of: number)
            lines += dated(parts)
            if number >= edge.segment - Self.segmentsWithParts { lines += parts.map { line($0, track) } }
            let length = (parts.last?.end ?? 0) - (parts.first?.start ?? 0)
            lines += ["#EXTINF:\(decimal(Double(length) / 1_000)),", "\(track.name)/\(number).m4s"]
        }
        let open = track.parts(of: edge.segment)
        lines += dated(open) + open.prefix(edge.parts).map { line($0, track) }
        lines.append("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(track.name)/\(edge.segment).\(edge.parts).m4s\"")
        for other in tracks where other.name != track.name && other.isSound == track.isSound {
            lines.append(report(of: other, at: age))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func dated(_ parts: [LowLatencyTrack.Part]) -> [String] {
        guard let first = parts.first else { return [] }
        return ["#EXT-X-PROGRAM-DATE-TIME:\(WallTime(milliseconds: start.milliseconds &+ first.start).rfc3339)"]
    }

    private func line(_ part: LowLatencyTrack.Part, _ track: LowLatencyTrack) -> String {
        "#EXT-X-PART:DURATION=\(decimal(Double(part.end - part.start) / 1_000)),"
            + "URI=\"\(track.name)/\(part.segment).\(part.place).m4s\"" + (part.isIndependent ? ",INDEPENDENT=YES" : "")
    }

    private func report(of track: LowLatencyTrack, at age: Int64) -> String {
        let edge = edge(of: track, at: age)
        let last =
            edge.parts > 0
            ? (edge.segment, edge.parts - 1) : (edge.segment - 1, track.parts(of: max(0, edge.segment - 1)).count - 1)
        return "#EXT-X-RENDITION-REPORT:URI=\"\(track.name).m3u8\",LAST-MSN=\(last.0),LAST-PART=\(last.1)"
    }

    /// A part, once it exists; nil if it is too far away or long gone.
    func part(_ track: LowLatencyTrack, segment: Int, place: Int) -> Resource? {
        let edge = edge(of: track, at: age)
        guard segment >= max(0, edge.segment - Self.window), segment <= edge.segment + 1,
            let part = track.parts(of: segment).first(where: { $0.place == place }),
            part.end - age <= Self.patience, let body = track.body(of: part)
        else { return nil }
        var resource = Resource("video/mp4", body)
        resource.delay = hold(until: part.end)
        return resource
    }
}

// MARK: DASH
extension LowLatencyStream {
    /// A segment, whose bytes leave as its parts come into being; nil if it is too far away or long gone.
    func segment(_ track: LowLatencyTrack, _ number: Int) -> Resource? {
        let edge = edge(of: track, at: age)
        guard number >= max(0, edge.segment - 2 * Self.window), number <= edge.segment + 1,
            let body = track.body(of: number), let first = track.parts(of: number).first,
            first.end - age <= Self.patience
        else { return nil }
        var resource = Resource("video/mp4", body)
        resource.delay = hold(until: first.end)
        var count = 0
        for part in track.parts(of: number) {
            count += track.body(of: part)?.count ?? 0
            // After the delay, which ends with the first part.
            let wait = hold(until: part.end) - resource.delay
            resource.production.append(Resource.Production(count: count, after: max(.zero, wait)))
        }
        if resource.production.allSatisfy({ $0.after == .zero }) { resource.production = [] }
        return resource
    }

    /// The manifest (ISO/IEC 23009-1, annex K: low-latency operation).
    func manifest(_ fixtures: Fixtures) -> Resource {
        let clock = moment.now.rfc3339
        var text =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" minBufferTime=\"PT1S\" type=\"dynamic\" "
            + "availabilityStartTime=\"\(start.rfc3339)\" publishTime=\"\(clock)\" minimumUpdatePeriod=\"PT10S\" "
            + "timeShiftBufferDepth=\"PT\(Self.window * Fixtures.segmentSeconds)S\" "
            + "suggestedPresentationDelay=\"PT6S\" profiles=\"urn:mpeg:dash:profile:isoff-live:2011\">\n"
            + "  <ServiceDescription id=\"0\"><Latency target=\"2500\" min=\"1500\" max=\"6000\"/>"
            + "<PlaybackRate min=\"0.96\" max=\"1.04\"/></ServiceDescription>\n  <Period id=\"p0\" start=\"PT0S\">\n"
        for isSound in [false, true] {
            let kind = isSound ? "audio" : "video"
            for group in isSound ? tracks.filter(\.isSound).map({ [$0] }) : [tracks.filter { !$0.isSound }] {
                let language = isSound ? " lang=\"\(group.first?.name ?? "und")\"" : ""
                text += "    <AdaptationSet contentType=\"\(kind)\" mimeType=\"\(kind)/mp4\"\(language) "
                text += "segmentAlignment=\"true\" startWithSAP=\"1\">\n"
                text += group.map { representation($0, fixtures) }.joined() + "    </AdaptationSet>\n"
            }
        }
        text += "  </Period>\n  <UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\" value=\"\(clock)\"/>\n</MPD>\n"
        return Resource(ContentType.dash, Body(text))
    }

    private func representation(_ track: LowLatencyTrack, _ fixtures: Fixtures) -> String {
        let variant = Fixtures.variants.first { $0.name == track.name }
        let size = variant.map { "width=\"\($0.width)\" height=\"\($0.height)\" frameRate=\"25\"" }
        let bandwidth = fixtures.track(track.name, .fragmented)?.peakBitrate ?? 0
        let scale = track.file.timescale
        return
            "      <Representation id=\"\(track.name)\" codecs=\"\(track.file.codecs)\" bandwidth=\"\(bandwidth)\" "
            + "\(size ?? "audioSamplingRate=\"48000\"")>\n"
            + "        <SegmentTemplate timescale=\"\(scale)\" duration=\"\(scale * Fixtures.segmentSeconds)\" "
            + "availabilityTimeOffset=\"1.4\" availabilityTimeComplete=\"false\" startNumber=\"0\" "
            + "initialization=\"\(track.name)/init.mp4\" media=\"\(track.name)/$Number$.m4s\"/>\n"
            + "      </Representation>\n"
    }
}

extension LowLatencyTrack {
    var isSound: Bool { file.codecs.hasPrefix("mp4a") }
}

// MARK: Paths
extension LowLatencyStream {
    /// The resources under `live/ll/`.
    func resource(_ names: [String], _ query: StreamQuery, of fixtures: Fixtures) -> Resource? {
        guard let first = names.first else { return nil }
        if names.count == 1 {
            switch first {
            case "master.m3u8": return Resource(ContentType.hls, Body(fixtures.masterPlaylist(.fragmented, query: "")))
            case "low-latency.mpd": return manifest(fixtures)
            default:
                guard first.hasSuffix(".m3u8"), let track = track(String(first.dropLast(5))) else {
                    return nil
                }
                return playlist(track, query.directives)
            }
        }
        guard names.count == 2, let track = track(first) else { return nil }
        if names[1] == "init.mp4" { return Resource("video/mp4", track.file.initializationBody) }
        let numbers = names[1].split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.last == "m4s", let segment = numbers.first.flatMap({ Int($0) }), segment >= 0 else { return nil }
        if numbers.count == 2 { return self.segment(track, segment) }
        guard numbers.count == 3, let place = Int(numbers[1]) else { return nil }
        return part(track, segment: segment, place: place)
    }

    private func track(_ name: String) -> LowLatencyTrack? { tracks.first { $0.name == name } }
}

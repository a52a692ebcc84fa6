internal import Instrument
internal import InstrumentAds
internal import InstrumentHTTP
internal import InstrumentManifests

/// Reads the signals of segments, and keeps what has been warned of.
struct StreamAdReader: Sendable {
    private static let mostWarnings = 200

    /// A segment that begins this far from the one before, in nanoseconds, was reached by a seek.
    private static let longestStep: Int64 = 30_000_000_000

    private var sections = TransportStreamSections()
    private var breaks = BreakSequence(mayHaveBegun: true)
    private var last: Int64?
    private var warned: Set<String> = []

    /// The messages that were not reported before.
    mutating func news(of findings: [AdFinding]) -> [String] {
        findings.compactMap { finding in
            let message = finding.message + " (\(finding.rule))"
            guard warned.count < Self.mostWarnings, warned.insert(message).inserted else { return nil }
            return message
        }
    }

    /// The signals of a segment.
    /// - Parameters:
    ///   - start: the earliest presentation time of the segment, in nanoseconds of the container's timeline.
    ///   - offset: what is added to times of the container to give positions of the presentation.
    ///   - wrap: the interval after which timestamps of the container begin again.
    mutating func signals(in bytes: [UInt8], start: Int64, offset: Int64, wrap: Int64?) -> AdSignals {
        var found = AdSignals()
        if bytes.first == 0x47 {
            found = AdSignals(transportStreamSections: sections.read(bytes))
            for place in found.signals.indices {
                let time = found.signals[place].section?.adjustedTime?.nanoseconds
                let near = time.map { Self.unwrapped($0, near: start, wrap) } ?? start
                found.signals[place].position = max(near, start).saturatingAdd(offset)
            }
        } else {
            for box in Self.messageBoxes(of: bytes) {
                guard let message = EventMessage(box: box) else { continue }
                var carried = AdSignals(message, segmentStart: start)
                for place in carried.signals.indices {
                    carried.signals[place].position = carried.signals[place].position?.saturatingAdd(offset)
                }
                found.signals += carried.signals
                found.findings += carried.findings
            }
        }
        let begin = start.saturatingAdd(offset)
        if let last, begin < last || begin.saturatingSubtract(last) > Self.longestStep { breaks.jump() }
        last = begin
        found.check(&breaks)
        return found
    }

    private static func unwrapped(_ time: Int64, near start: Int64, _ wrap: Int64?) -> Int64 {
        guard let wrap, wrap > 0 else { return time }
        let turns = (Double(start.saturatingSubtract(time)) / Double(wrap)).rounded()
        return time.saturatingAdd(wrap.saturatingMultiply(Int64(clamping: turns)))
    }

    /// The `emsg` boxes at the top level of a segment.
    static func messageBoxes(of bytes: [UInt8]) -> [[UInt8]] {
        var (found, place) = ([[UInt8]](), 0)
        while bytes.count - place >= 8, found.count < 100 {
            let head = bytes[place..<(place + 8)]
            let size = head.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= bytes.count - place else { break }
            if head.dropFirst(4).elementsEqual("emsg".utf8) { found.append(Array(bytes[place..<(place + size)])) }
            place += size
        }
        return found
    }
}

extension StreamPlayback {
    /// Reads the ads of a manifest, if anybody asks.
    mutating func readAds(of presentation: Presentation, _ now: Timestamp) {
        guard ads != nil else { return }
        switch presentation.format {
        case .hls:
            guard
                case .loaded(let playlist)? = presentation.renditions.first(where: { rendition in
                    if case .loaded = rendition.source { true } else { false }
                })?.source, let id = presentation.renditions.first?.id
            else { return }
            tell(playlist, id, now)
        case .dash:
            var findings: [AdFinding] = []
            let index = presentation.variants.first.flatMap { manifest[$0.main]?.index }
            let said = StreamAds(presentation, index: index, &findings)
            warn(findings, presentation.url, now)
            session.tell(said)
        }
    }

    /// Reads the ads of a media playlist that belongs to the main track.
    mutating func readAds(of playlist: HLSMediaPlaylist, _ id: Rendition.ID, _ now: Timestamp) {
        guard ads != nil, tracks[.main]?.renditionInUse == id else { return }
        tell(playlist, id, now)
    }

    private mutating func tell(_ playlist: HLSMediaPlaylist, _ id: Rendition.ID, _ now: Timestamp) {
        var shift: Int64 = 0
        if let last = playlist.segments.last,
            let known = manifest[id]?.index?.last(where: { $0.url == last.url && $0.byteRange == last.byteRange })
        {
            shift = known.start.saturatingSubtract(last.start)
        }
        var findings: [AdFinding] = []
        let said = StreamAds(playlist, movedBy: shift, &findings)
        warn(findings, playlist.url, now)
        session.tell(said)
    }

    /// Reads the signals that a segment of the main track carries.
    mutating func readSignals(
        of response: ResourceResponse,
        _ range: ByteRange?,
        _ content: SegmentContent,
        _ delivery: MediaFeed.Delivery,
        _ now: Timestamp
    ) {
        guard ads != nil, delivery.segment.hasReadableContainer, let bytes = try? response.part(range).array,
            let offset = feed.offset(of: delivery.plan, delivery.role), let main = content.main
        else { return }
        let found = ads?.signals(in: bytes, start: main.start, offset: offset, wrap: content.wrap) ?? AdSignals()
        warn(found.findings, delivery.segment.url, now)
        guard !found.signals.isEmpty else { return }
        var said = StreamAds()
        (said.signals, said.addsSignals) = (found.signals, true)
        session.tell(said)
    }

    private mutating func warn(_ findings: [AdFinding], _ url: HTTPURL, _ now: Timestamp) {
        for message in ads?.news(of: findings) ?? [] { apply(.warned(StreamWarning(.adSignal, message, url)), now) }
    }
}

/// Reads the segments of a playback: the first one of each kind through libavformat, which describes the media; the
/// later ones without, as long as nothing about them is in doubt. The points at which media becomes playable are this
/// reader's for every segment of which nothing is in doubt, because libavformat returns a frame after it has read
/// further.
///
/// A kind of segment (``SegmentSignature``) counts as known once this reader and libavformat have given the same times
/// for one of its segments.
struct SegmentReader: Sendable {
    /// The number of kinds of segments: the rungs and languages of a stream.
    private static let capacity = 32
    /// The number of segments that arrive at the same time.
    private static let mostScans = 4
    /// The number of segments of a kind that were read differently until the reader leaves it to libavformat.
    private static let mostDifferences = 3

    private struct Known: Sendable {
        var signature: SegmentSignature
        var media: KnownMedia?
        var differences = 0
    }

    private var known: [Known] = []
    private var headers: [(initialization: [UInt8], header: MovieHeader?)] = []
    /// A segment in arrival.
    private struct Arriving: Sendable {
        /// The number of the request.
        var request: Int
        /// Nil where libavformat read a part, because its points of playable media are others.
        var scan: SegmentScan?
        /// The description of a kind that is not known yet, from libavformat's look at the first part.
        var media: KnownMedia?
    }

    private var arriving: [Arriving] = []
    /// The number of whole segments that were read without libavformat.
    private(set) var ownCount = 0

    /// Reads a complete segment.
    ///
    /// - Parameters:
    ///   - media: the segment.
    ///   - initialization: the initialization section; empty for a segment without one.
    ///   - isInspected: whether to determine the frame rate as well, for which libavformat is always asked.
    ///   - request: the number of the request, if parts of its response were read.
    mutating func read(
        _ media: FetchedBytes,
        initialization: [UInt8],
        inspecting isInspected: Bool,
        request: Int? = nil
    ) throws(SegmentDemuxer.Failure) -> SegmentContent {
        let demux = { () throws(SegmentDemuxer.Failure) in
            try SegmentDemuxer.demux(media, initialization: initialization, inspecting: isInspected)
        }
        guard var scan = take(request, media, initialization)?.scan else { return try demux() }
        media.withUnsafeBytes { scan.read($0, isWhole: true) }
        guard !scan.isInDoubt, let signature = scan.signature else { return try demux() }
        let entry = known.first { $0.signature == signature }
        if let found = entry?.media, let content = scan.content(of: found) {
            if isInspected { return try demux().withPoints(of: content) }
            ownCount += 1
            return content
        }
        guard entry?.media == nil, entry?.differences ?? 0 < Self.mostDifferences else { return try demux() }
        let look = try SegmentDemuxer.look(at: media, initialization: initialization)
        let own = learn(signature, from: look, scan)
        let content = isInspected ? try demux() : look.content
        return own.map { content.withPoints(of: $0) } ?? content
    }

    /// Reads the part of a segment that has arrived; nil if the part holds no media yet.
    mutating func read(part media: FetchedBytes, initialization: [UInt8], request: Int) -> SegmentContent? {
        // Too few bytes to recognize the format.
        guard media.count > TransportPacket.size else { return nil }
        if var segment = take(request, media, initialization), var scan = segment.scan {
            media.withUnsafeBytes { scan.read($0, isWhole: false) }
            if !scan.isInDoubt {
                segment.media = segment.media ?? description(of: scan, media, initialization)
                let content = segment.media.flatMap { scan.content(of: $0) }
                // Without a description, a track has no frame yet.
                if content != nil || scan.signature == nil {
                    keep(segment, scan)
                    return content
                }
            }
        }
        keep(Arriving(request: request), nil)
        return try? SegmentDemuxer.demux(media, initialization: initialization)
    }

    /// The segment of a request; nil if only libavformat reads it.
    private mutating func take(_ request: Int?, _ media: FetchedBytes, _ initialization: [UInt8]) -> Arriving? {
        if let index = arriving.firstIndex(where: { $0.request == request }) {
            let segment = arriving.remove(at: index)
            guard let scan = segment.scan else { return nil }
            if scan.count <= media.count { return segment }
        }
        let format = media.withUnsafeBytes { SegmentFormat($0) }
        let scan = SegmentScan(format, header(initialization).map { FragmentReader($0, initialization) })
        return scan.map { Arriving(request: request ?? 0, scan: $0) }
    }

    /// The description of the media of a part: that of its kind, or else from libavformat's look; nil if neither has
    /// one.
    private func description(of scan: SegmentScan, _ media: FetchedBytes, _ initialization: [UInt8]) -> KnownMedia? {
        guard let signature = scan.signature else {
            return known.last { $0.media != nil && scan.agrees(with: $0.signature) }?.media
        }
        let found = known.first { $0.signature == signature }
        if let media = found?.media { return media }
        guard found?.differences ?? 0 < Self.mostDifferences else { return nil }
        let look = try? SegmentDemuxer.look(at: media, initialization: initialization)
        return look.flatMap { scan.description(from: $0) }
    }

    private mutating func keep(_ segment: Arriving, _ scan: SegmentScan?) {
        if arriving.count >= Self.mostScans { arriving.removeFirst() }
        arriving.append(Arriving(request: segment.request, scan: scan, media: segment.media))
    }

    private mutating func header(_ initialization: [UInt8]) -> MovieHeader? {
        if let found = headers.first(where: { $0.initialization == initialization }) { return found.header }
        let header = initialization.withUnsafeBytes { MovieHeader($0) }
        if headers.count >= Self.mostScans { headers.removeFirst() }
        headers.append((initialization, header))
        return header
    }

    /// Compares the reading of a segment with libavformat's.
    ///
    /// - Returns: the content by this reader; nil if the readers differ.
    private mutating func learn(
        _ signature: SegmentSignature,
        from look: SegmentLook,
        _ scan: SegmentScan
    ) -> SegmentContent? {
        var scan = scan
        let media = KnownMedia(look)
        let content = media.flatMap { scan.content(of: $0) }
        let own = content?.hasTimes(of: look.content) == true ? content : nil
        let index = known.firstIndex { $0.signature == signature }
        var entry = index.map { known.remove(at: $0) } ?? Known(signature: signature)
        entry.media = own == nil ? nil : media
        if own == nil { entry.differences += 1 }
        known.append(entry)
        if known.count > Self.capacity { known.removeFirst() }
        return own
    }
}

extension SegmentContent {
    /// The same, with the points of another reading of the segment.
    fileprivate func withPoints(of other: SegmentContent) -> SegmentContent {
        var content = self
        for kind in PlaybackModel.Track.allCases {
            if let points = other[kind]?.points { content[kind]?.points = points }
        }
        content.hasCompleteFrames = other.hasCompleteFrames
        return content
    }
}

extension SegmentScan {
    /// The description of the media from libavformat's look at the part that was read; nil where the two do not begin
    /// at the same instant, or one has not met every track.
    fileprivate func description(from look: SegmentLook) -> KnownMedia? {
        var scan = self
        guard let media = KnownMedia(look), let content = scan.content(of: media) else { return nil }
        let agrees = content.streams.allSatisfy { kind in
            content[kind] != nil && content[kind]?.start == look.content[kind]?.start
        }
        return agrees ? media : nil
    }
}

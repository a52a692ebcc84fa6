/// Reads the segments of a playback: the first one of each kind through libavformat, which describes the media; the
/// later ones without, as long as nothing about them is in doubt.
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
    /// Segments in arrival, by the number of their request; without a scan for those of which libavformat read a part,
    /// because its points of playable media are others.
    private var scans: [(request: Int, scan: SegmentScan?)] = []
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
        _ media: [UInt8],
        initialization: [UInt8],
        inspecting isInspected: Bool,
        request: Int? = nil
    ) throws(SegmentDemuxer.Failure) -> SegmentContent {
        guard var scan = takeScan(of: request, media, initialization) else {
            return try SegmentDemuxer.demux(media, initialization: initialization, inspecting: isInspected)
        }
        media.withUnsafeBytes { scan.read($0, isWhole: true) }
        guard !scan.isInDoubt, let signature = scan.signature else {
            return try SegmentDemuxer.demux(media, initialization: initialization, inspecting: isInspected)
        }
        let entry = known.first { $0.signature == signature }
        if let found = entry?.media, !isInspected, let content = scan.content(of: found) {
            ownCount += 1
            return content
        }
        guard entry?.media == nil, entry?.differences ?? 0 < Self.mostDifferences else {
            return try SegmentDemuxer.demux(media, initialization: initialization, inspecting: isInspected)
        }
        let look = try SegmentDemuxer.look(at: media, initialization: initialization)
        learn(signature, from: look, scan)
        return isInspected
            ? try SegmentDemuxer.demux(media, initialization: initialization, inspecting: true) : look.content
    }

    /// Reads the part of a segment that has arrived; nil if the part holds no media yet.
    mutating func read(part media: [UInt8], initialization: [UInt8], request: Int) -> SegmentContent? {
        // Too few bytes to recognize the format.
        guard media.count > TransportPacket.size else { return nil }
        if var scan = takeScan(of: request, media, initialization) {
            media.withUnsafeBytes { scan.read($0, isWhole: false) }
            let signature = scan.isInDoubt ? nil : scan.signature
            // Before the first segment, only libavformat knows anything of the stream.
            let isUndecided = !scan.isInDoubt && signature == nil && !known.isEmpty
            let found = known.first { $0.signature == signature }?.media
            let content = found.flatMap { scan.content(of: $0) }
            if content != nil || isUndecided {
                keep(scan, of: request)
                return content
            }
        }
        keep(nil, of: request)
        return try? SegmentDemuxer.demux(media, initialization: initialization)
    }

    /// The scan of a request, or a new one; nil if only libavformat reads the segment.
    private mutating func takeScan(of request: Int?, _ media: [UInt8], _ initialization: [UInt8]) -> SegmentScan? {
        if let index = scans.firstIndex(where: { $0.request == request }) {
            guard let scan = scans.remove(at: index).scan else { return nil }
            if scan.count <= media.count { return scan }
        }
        let format = media.withUnsafeBufferPointer { SegmentFormat($0) }
        return SegmentScan(format, header(initialization).map { FragmentReader($0, initialization) })
    }

    private mutating func keep(_ scan: SegmentScan?, of request: Int) {
        if scans.count >= Self.mostScans { scans.removeFirst() }
        scans.append((request, scan))
    }

    private mutating func header(_ initialization: [UInt8]) -> MovieHeader? {
        if let found = headers.first(where: { $0.initialization == initialization }) { return found.header }
        let header = initialization.withUnsafeBytes { MovieHeader($0) }
        if headers.count >= Self.mostScans { headers.removeFirst() }
        headers.append((initialization, header))
        return header
    }

    private mutating func learn(_ signature: SegmentSignature, from look: SegmentLook, _ scan: SegmentScan) {
        var scan = scan
        var media = KnownMedia(look)
        if let found = media, let content = scan.content(of: found), content.hasTimes(of: look.content) {
            media = found
        } else {
            media = nil
        }
        let index = known.firstIndex { $0.signature == signature }
        var entry = index.map { known.remove(at: $0) } ?? Known(signature: signature)
        entry.media = media
        if media == nil { entry.differences += 1 }
        known.append(entry)
        if known.count > Self.capacity { known.removeFirst() }
    }
}

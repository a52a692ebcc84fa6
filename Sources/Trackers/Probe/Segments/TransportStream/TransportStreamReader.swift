internal import Instrument

/// Reads the times of a transport stream from the packets of its elementary streams (ISO/IEC 13818-1), without
/// libavformat, while the bytes arrive.
///
/// The reader is in doubt as soon as it meets anything that libavformat might read in another way: lost or damaged
/// packets, tables that change, streams of other codings, access units that do not fill packets, a clock that wraps.
struct TransportStreamReader: Sendable {
    /// The largest packet of an elementary stream: a picture of 8K at its largest.
    private static let mostUnitBytes = 16 << 20
    private static let timescale: Int64 = 90_000
    private static let wrap: Int64 = 1 << 33
    /// libavformat shifts times that are further before the first one, and all times if the first one is this close to
    /// the wrap of the clock.
    private static let wrapMargin: Int64 = 60 * timescale
    private static let tables: Set<UInt16> = [0x10, 0x11, 0x12, 0x14]

    private(set) var isInDoubt = false
    private(set) var tracks: [ElementaryTrack] = []
    private(set) var program: ProgramMap?
    /// The bytes that were read.
    private(set) var position = 0
    private var mapPID: UInt16?
    private var firstTime: Int64?
    private var lastTrack = 0

    /// Reads the packets that have arrived since the last call.
    ///
    /// - Parameters:
    ///   - bytes: the segment from its beginning.
    ///   - isWhole: whether no further bytes will arrive.
    mutating func read(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) {
        while !isInDoubt, position + TransportPacket.size <= bytes.count {
            let end = position + TransportPacket.size
            isInDoubt = !take(UnsafeRawBufferPointer(rebasing: bytes[position..<end]), endingAt: end)
            position = end
        }
        guard isWhole, !isInDoubt else { return }
        isInDoubt = position != bytes.count || !tracks.indices.allSatisfy { finishUnit(of: $0) }
    }

    /// The fields of the stream that must be known from an earlier segment; nil before every track has a frame.
    var signature: SegmentSignature? {
        guard let parts = arrivedParts, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        return SegmentSignature(parts: parts)
    }

    /// The parts of the signature, empty for a track without a frame; nil before the tracks are known.
    var arrivedParts: [[UInt8]]? { program.map { [$0.bytes] + tracks.map(\.configuration) } }

    /// The frames of a track since the last call.
    mutating func takeFrames(of index: Int) -> [SegmentFrame] { tracks[index].takeFrames() }

    private mutating func take(_ bytes: UnsafeRawBufferPointer, endingAt end: Int) -> Bool {
        guard let packet = TransportPacket(bytes), packet.isPlain else { return false }
        if let index = index(of: packet.pid) { return take(packet, bytes, endingAt: end, track: index) }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[packet.payloadOffset...])
        switch packet.pid {
        case TransportPacket.nullPID: return true
        case 0: return packet.hasPayload && packet.startsUnit && takeAssociation(payload)
        case mapPID: return packet.hasPayload && packet.startsUnit && takeMap(payload)
        default:
            // libavformat takes a stream that begins without being in a table for media.
            return !packet.startsUnit || Self.tables.contains(packet.pid)
                || program?.ignored.contains(packet.pid) == true
        }
    }

    private mutating func index(of pid: UInt16) -> Int? {
        if lastTrack < tracks.count, tracks[lastTrack].pid == pid { return lastTrack }
        guard let index = tracks.firstIndex(where: { $0.pid == pid }) else { return nil }
        lastTrack = index
        return index
    }

    private mutating func takeAssociation(_ payload: UnsafeRawBufferPointer) -> Bool {
        guard let found = ProgramAssociation.mapPID(in: payload), mapPID == nil || mapPID == found else { return false }
        mapPID = found
        return true
    }

    private mutating func takeMap(_ payload: UnsafeRawBufferPointer) -> Bool {
        guard let map = ProgramMap(payload) else { return false }
        if let program { return program == map }
        // With two tracks of a kind, libavformat chooses by the order in which its parsers finish frames.
        guard Set(map.streams.map(\.coding.track)).count == map.streams.count else { return false }
        program = map
        tracks = map.streams.map { ElementaryTrack($0) }
        return true
    }

    private mutating func take(
        _ packet: TransportPacket,
        _ bytes: UnsafeRawBufferPointer,
        endingAt end: Int,
        track index: Int
    ) -> Bool {
        guard packet.hasPayload else { return !packet.startsUnit }
        if let last = tracks[index].continuity, packet.continuity != (last + 1) & 0x0F { return false }
        tracks[index].continuity = packet.continuity
        var payload = UnsafeRawBufferPointer(rebasing: bytes[packet.payloadOffset...])
        if packet.startsUnit {
            guard finishUnit(of: index), let header = PESHeader(payload, of: tracks[index].coding.track),
                isNear(header)
            else { return false }
            tracks[index].begin(header)
            payload = UnsafeRawBufferPointer(rebasing: payload[header.size...])
        }
        guard let count = tracks[index].append(payload, endingAt: end),
            count <= tracks[index].header?.length ?? Self.mostUnitBytes
        else { return false }
        return count == tracks[index].header?.length ? finishUnit(of: index) : true
    }

    /// Whether the clock does not wrap between the first time and this one.
    private mutating func isNear(_ header: PESHeader) -> Bool {
        let first = firstTime ?? header.decoded
        firstTime = first
        let range = (first - Self.wrapMargin)...(first + Self.wrap / 2)
        return first < Self.wrap - 2 * Self.wrapMargin && range.contains(header.decoded)
            && range.contains(header.shown)
    }

    /// Takes the frames of a complete packet of an elementary stream; false in doubt.
    private mutating func finishUnit(of index: Int) -> Bool {
        guard let header = tracks[index].header else { return true }
        if let length = header.length, length != tracks[index].unitSize { return false }
        return tracks[index].takeUnit(header)
    }
}

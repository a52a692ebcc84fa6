/// The places at which packets of a transport stream are missing, by the counters of their tracks (ISO/IEC 13818-1,
/// 2.4.3.3).
enum PacketGaps {
    private struct Track {
        var counter: UInt8
        /// Whether the last packet came twice, which is legal once.
        var isRepeated = false
        /// Whether a packet of pictures or sound began.
        var isMedia = false
        var gaps = 0
    }

    /// The number of jumps of the counters of pictures and sound; 0 for other media, and in doubt.
    static func count(in media: UnsafeRawBufferPointer) -> Int {
        guard SegmentFormat(media) == .transportStream else { return 0 }
        let size = TransportPacket.size
        var tracks: [UInt16: Track] = [:]
        for start in stride(from: 0, through: media.count - size, by: size) {
            let bytes = UnsafeRawBufferPointer(rebasing: media[start..<(start + size)])
            guard let packet = TransportPacket(bytes), packet.hasPayload, packet.pid != TransportPacket.nullPID else {
                continue
            }
            let counter = packet.continuity
            var track = tracks[packet.pid] ?? Track(counter: (counter &- 1) & 0x0F)
            let isRepeat = counter == track.counter && !track.isRepeated
            if !packet.announcesDiscontinuity, !isRepeat, counter != (track.counter + 1) & 0x0F { track.gaps += 1 }
            (track.counter, track.isRepeated) = (counter, isRepeat)
            if packet.startsUnit, beginsMedia(bytes, at: packet.payloadOffset) { track.isMedia = true }
            tracks[packet.pid] = track
        }
        return tracks.values.reduce(0) { $0 + ($1.isMedia ? $1.gaps : 0) }
    }

    /// Whether the payload begins with a packet of pictures or sound: a start code, and the identifier of its stream.
    private static func beginsMedia(_ packet: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard offset + 4 <= packet.count, packet[offset] == 0, packet[offset + 1] == 0, packet[offset + 2] == 1 else {
            return false
        }
        return 0xC0...0xEF ~= packet[offset + 3] || packet[offset + 3] == 0xBD || packet[offset + 3] == 0xFD
    }
}

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
            let packet = UnsafeRawBufferPointer(rebasing: media[start..<(start + size)])
            let pid = UInt16(packet[1] & 0x1F) << 8 | UInt16(packet[2])
            guard packet[0] == 0x47, packet[1] & 0x80 == 0, packet[3] & 0x10 != 0, pid != TransportPacket.nullPID else {
                continue
            }
            let counter = packet[3] & 0x0F
            let hasAdaptation = packet[3] & 0x20 != 0 && packet[4] > 0
            var track = tracks[pid] ?? Track(counter: (counter &- 1) & 0x0F)
            let isAnnounced = hasAdaptation && packet[5] & 0x80 != 0
            let isRepeat = counter == track.counter && !track.isRepeated
            if !isAnnounced, !isRepeat, counter != (track.counter + 1) & 0x0F { track.gaps += 1 }
            (track.counter, track.isRepeated) = (counter, isRepeat)
            if packet[1] & 0x40 != 0, beginsMedia(packet) { track.isMedia = true }
            tracks[pid] = track
        }
        return tracks.values.reduce(0) { $0 + ($1.isMedia ? $1.gaps : 0) }
    }

    /// Whether the payload begins with a packet of pictures or sound: a start code, and the identifier of its stream.
    private static func beginsMedia(_ packet: UnsafeRawBufferPointer) -> Bool {
        let offset = packet[3] & 0x20 != 0 ? 5 + Int(packet[4]) : 4
        guard offset + 4 <= packet.count, packet[offset] == 0, packet[offset + 1] == 0, packet[offset + 2] == 1 else {
            return false
        }
        return 0xC0...0xEF ~= packet[offset + 3] || packet[offset + 3] == 0xBD || packet[offset + 3] == 0xFD
    }
}

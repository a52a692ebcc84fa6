/// Packets of 188 bytes (ISO/IEC 13818-1, 2.4.3).
enum TransportStream {
    static let packetLength = 188
    /// The identifier of packets that carry nothing.
    static let nullPID = 0x1FFF
    static let nullPacket: [UInt8] = [0x47, 0x1F, 0xFF, 0x10] + [UInt8](repeating: 0xFF, count: packetLength - 4)

    /// The whole packets of a segment, in order.
    static func packets(of segment: [UInt8]) -> some Sequence<[UInt8]> {
        stride(from: 0, through: segment.count - packetLength, by: packetLength).lazy.map { start in
            Array(segment[start..<(start + packetLength)])
        }
    }

    /// The identifier of a packet.
    static func pid(of packet: some Collection<UInt8>) -> Int {
        let bytes = packet.dropFirst().prefix(2)
        return bytes.reduce(0) { $0 << 8 | Int($1) } & 0x1FFF
    }

    /// The stream with null packets behind it, up to `length` bytes.
    static func padded(_ stream: [UInt8], to length: Int) -> [UInt8] {
        var padded = stream
        while padded.count + packetLength <= length { padded += nullPacket }
        return padded
    }

    /// The packet with bytes of stuffing; nil if it is too long.
    static func filled(_ packet: [UInt8]) -> [UInt8]? {
        guard packet.count <= packetLength else { return nil }
        return packet + [UInt8](repeating: 0xFF, count: packetLength - packet.count)
    }
}

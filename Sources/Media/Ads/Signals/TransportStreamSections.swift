/// Finds sections of splice information in an MPEG-2 transport stream (ISO/IEC 13818-1; SCTE 35, section 8): the
/// streams of type 0x86 that a program map names.
///
/// Keep one value for the segments of one rendition: a section may span two. What is no packet is skipped.
package struct TransportStreamSections: Hashable, Sendable {
    /// Bytes of a packet, and its first byte.
    private static let (packetLength, syncByte) = (188, UInt8(0x47))
    /// `stream_type` of SCTE 35.
    private static let spliceStreamType: UInt8 = 0x86
    /// The streams that are followed at most: a program map from an attacker may name thousands.
    private static let mostStreams = 64

    /// Collects the bytes of sections from the payloads of one stream.
    private struct Assembler: Hashable {
        private var bytes: [UInt8] = []
        private var isAligned = false

        mutating func add(_ payload: ArraySlice<UInt8>, startsSection: Bool) -> [[UInt8]] {
            guard startsSection else {
                if isAligned { bytes += payload }
                return sections()
            }
            guard let pointer = payload.first, payload.count > Int(pointer) else { return [] }
            let rest = payload.dropFirst()
            if isAligned { bytes += rest.prefix(Int(pointer)) }
            let earlier = sections()
            bytes = Array(rest.dropFirst(Int(pointer)))
            isAligned = true
            return earlier + sections()
        }

        /// The whole sections; stuffing ends them.
        private mutating func sections() -> [[UInt8]] {
            var (found, start) = ([[UInt8]](), 0)
            while bytes.count - start >= 3, bytes[start] != 0xFF {
                let length = 3 + (Int(bytes[start + 1] & 0x0F) << 8 | Int(bytes[start + 2]))
                guard bytes.count - start >= length else { break }
                found.append(Array(bytes[start..<(start + length)]))
                start += length
            }
            bytes.removeFirst(start)
            if bytes.first == 0xFF { bytes = [] }
            return found
        }
    }

    private var assemblers: [UInt16: Assembler] = [0: Assembler()]
    private var maps: Set<UInt16> = []
    private var splices: Set<UInt16> = []

    /// Creates a reader that has seen nothing.
    package init() {}

    /// The sections of splice information that a piece of the stream completes, as bytes: a section may be malformed.
    /// The piece begins with a packet, as segments of HLS do.
    package mutating func read(_ piece: [UInt8]) -> [[UInt8]] {
        var (found, start) = ([[UInt8]](), 0)
        while piece.count - start >= Self.packetLength {
            guard piece[start] == Self.syncByte else {
                start += 1
                continue
            }
            found += read(packet: piece[start..<(start + Self.packetLength)])
            start += Self.packetLength
        }
        return found
    }

    private mutating func read(packet: ArraySlice<UInt8>) -> [[UInt8]] {
        let head = Array(packet.prefix(5))
        let pid = UInt16(head[1] & 0x1F) << 8 | UInt16(head[2])
        guard assemblers[pid] != nil, head[1] & 0x80 == 0, head[3] & 0x10 != 0 else { return [] }
        let skipped = 4 + (head[3] & 0x20 != 0 ? 1 + Int(head[4]) : 0)
        guard skipped < Self.packetLength else { return [] }
        let sections = assemblers[pid]?.add(packet.dropFirst(skipped), startsSection: head[1] & 0x40 != 0) ?? []
        if splices.contains(pid) { return sections.filter { $0.first == SpliceInfoSection.tableID } }
        for section in sections where CRC32MPEG2.checksum(of: section) == 0 {
            if pid == 0 { readAssociation(section) } else if maps.contains(pid) { readMap(section) }
        }
        return []
    }

    private mutating func follow(_ pid: UInt16) -> Bool {
        guard assemblers[pid] == nil, assemblers.count < Self.mostStreams else { return assemblers[pid] != nil }
        assemblers[pid] = Assembler()
        return true
    }

    /// The program association table: the streams of program maps.
    private mutating func readAssociation(_ section: [UInt8]) {
        guard section.first == 0, section.count >= 12 else { return }
        for start in stride(from: 8, to: section.count - 7, by: 4) {
            let program = Int(section[start]) << 8 | Int(section[start + 1])
            let pid = UInt16(section[start + 2] & 0x1F) << 8 | UInt16(section[start + 3])
            if program != 0, !splices.contains(pid), follow(pid) { maps.insert(pid) }
        }
    }

    /// A program map: the streams of the program with their types.
    private mutating func readMap(_ section: [UInt8]) {
        guard section.first == 2, section.count >= 16 else { return }
        var start = 12 + (Int(section[10] & 0x0F) << 8 | Int(section[11]))
        while start + 5 <= section.count - 4 {
            let pid = UInt16(section[start + 1] & 0x1F) << 8 | UInt16(section[start + 2])
            if section[start] == Self.spliceStreamType, !maps.contains(pid), pid != 0, follow(pid) {
                splices.insert(pid)
            }
            start += 5 + (Int(section[start + 3] & 0x0F) << 8 | Int(section[start + 4]))
        }
    }
}

/// Encrypts the samples of a transport stream with H.264 and AAC, as ``ElementaryEncryption`` does, and gives its
/// elementary streams the types and descriptors of encrypted ones.
struct TransportEncryption: Sendable {
    private let encryption: ElementaryEncryption

    /// Nil if the key or the vector has not 16 bytes.
    init?(key: [UInt8], vector: [UInt8]) {
        guard let encryption = ElementaryEncryption(key: key, vector: vector) else { return nil }
        self.encryption = encryption
    }

    /// The segment with encrypted samples, padded to its size if that is enough; nil for a segment that no fixture has.
    func segment(_ segment: [UInt8]) -> [UInt8]? {
        guard let parts = TransportParts(segment) else { return nil }
        var writer = TransportWriter(parts)
        for part in parts.all {
            switch part {
            case .map(let map):
                guard let packet = Self.announcing(map, sound: parts.soundConfiguration) else { return nil }
                writer.append(packet)
            case .other(let packet): writer.append(packet)
            case .unit(let index):
                let unit = parts.units[index]
                guard let bytes = encrypted(unit), writer.append(bytes, of: unit, isLast: parts.isLast(index)) else {
                    return nil
                }
            }
        }
        return TransportStream.padded(writer.result, to: segment.count)
    }

    /// A packet of an elementary stream with an encrypted payload.
    private func encrypted(_ unit: TransportParts.Unit) -> [UInt8]? {
        let header = Array(unit.bytes.prefix(unit.headerSize))
        let payload = Array(unit.bytes.dropFirst(unit.headerSize))
        guard let media = unit.coding == .h264 ? encryption.picture(payload) : encryption.sound(payload) else {
            return nil
        }
        // A video stream may leave the length open (ISO/IEC 13818-1, 2.4.3.7), one of sound does not grow.
        let count = header.count + media.count - 6
        let isOpen = header[4] == 0 && header[5] == 0 || count > 0xFFFF
        return Array(header[..<4]) + MP4Box.half(isOpen ? 0 : count) + header[6...] + media
    }

    /// The map of the program with the types of encrypted streams, and descriptors that say what they were.
    private static func announcing(_ map: ProgramMapPacket, sound: [UInt8]) -> [UInt8]? {
        var map = map
        for index in map.streams.indices {
            guard let coding = TransportParts.Coding(rawValue: map.streams[index].type) else { return nil }
            map.streams[index].type = coding.encryptedType
            map.streams[index].descriptors += descriptors(of: coding, sound: sound)
        }
        return map.packet
    }

    /// The descriptor of private data, and for sound the one of registration with what its decoder needs.
    private static func descriptors(of coding: TransportParts.Coding, sound: [UInt8]) -> [UInt8] {
        switch coding {
        case .h264: return [0x0F, 4] + Array("zavc".utf8)
        case .aac:
            let setup = Array("apadzaac".utf8) + [0, 0, 1, UInt8(clamping: sound.count)] + sound
            return [0x0F, 4] + Array("aacd".utf8) + [0x05, UInt8(clamping: setup.count)] + setup
        }
    }
}

/// The packets of a segment, taken apart into units of the elementary streams.
struct TransportParts {
    /// The codings that are encrypted, by the types of their streams.
    enum Coding: UInt8 {
        case h264 = 0x1B
        case aac = 0x0F

        var encryptedType: UInt8 { self == .h264 ? 0xDB : 0xCF }
    }

    /// A packet of an elementary stream: its header, and a picture or frames.
    struct Unit {
        let pid: Int
        let coding: Coding
        /// The adaptation field of its first transport packet, without length and stuffing.
        let adaptation: [UInt8]
        var bytes: [UInt8]

        var headerSize: Int { bytes.count > 8 ? 9 + Int(bytes[8]) : bytes.count }
    }

    enum Part {
        case map(ProgramMapPacket)
        case other([UInt8])
        /// The place of the unit in ``TransportParts/units``.
        case unit(Int)
    }

    /// In the order of their first packets, without stuffing packets.
    private(set) var all: [Part] = []
    private(set) var units: [Unit] = []
    /// The number of packets with a payload of each stream, and the counter of the first one.
    private(set) var counts: [Int: Int] = [:]
    private(set) var firstCounters: [Int: UInt8] = [:]
    private(set) var soundConfiguration: [UInt8] = []

    private var codings: [Int: Coding] = [:]
    /// The place of each stream's last unit.
    private var lastUnits: [Int: Int] = [:]
    private var mapPID: Int?

    init?(_ segment: [UInt8]) {
        for packet in TransportStream.packets(of: segment) {
            guard take(packet) else { return nil }
        }
        if units.isEmpty { return nil }
        guard let sound = units.first(where: { $0.coding == .aac }) else { return }
        guard let header = SoundHeader(sound.bytes[...].dropFirst(sound.headerSize)) else { return nil }
        soundConfiguration = header.configuration
    }

    /// Whether a unit is the last one of its stream.
    func isLast(_ index: Int) -> Bool { lastUnits[units[index].pid] == index }

    /// Takes a packet; false for one that no fixture has.
    private mutating func take(_ packet: [UInt8]) -> Bool {
        let pid = TransportStream.pid(of: packet)
        if pid == TransportStream.nullPID { return true }
        mapPID = ProgramTable.mapPID(in: packet) ?? mapPID
        if pid == mapPID {
            guard let map = ProgramMapPacket(packet) else { return false }
            for stream in map.streams { codings[stream.pid] = Coding(rawValue: stream.type) }
            all.append(.map(map))
            return true
        }
        guard let coding = codings[pid] else {
            all.append(.other(packet))
            return true
        }
        return take(packet, of: pid, coding)
    }

    private mutating func take(_ packet: [UInt8], of pid: Int, _ coding: Coding) -> Bool {
        let hasAdaptation = packet[3] & 0x20 != 0
        let payload = 4 + (hasAdaptation ? 1 + Int(packet[4]) : 0)
        // A packet without a payload would need the counter of the one before it.
        guard packet[3] & 0x10 != 0, payload < TransportStream.packetLength else { return false }
        counts[pid, default: 0] += 1
        if firstCounters[pid] == nil { firstCounters[pid] = packet[3] & 0x0F }
        guard packet[1] & 0x40 != 0 else {
            guard let last = lastUnits[pid] else { return false }
            units[last].bytes += packet[payload...]
            return true
        }
        var adaptation: [UInt8] = []
        if hasAdaptation, packet[4] > 0 {
            // Flags and the clock reference; the fixtures have no other fields.
            guard packet[5] & 0x0F == 0 else { return false }
            adaptation = Array(packet[5..<(packet[5] & 0x10 != 0 ? 12 : 6)])
        }
        lastUnits[pid] = units.count
        all.append(.unit(units.count))
        units.append(Unit(pid: pid, coding: coding, adaptation: adaptation, bytes: Array(packet[payload...])))
        return true
    }
}

/// Writes units as packets again. The counters of the next segment continue those of this one: each stream gets
/// as many packets as before, or a multiple of 16 more.
private struct TransportWriter {
    private static let room = TransportStream.packetLength - 4

    private let counts: [Int: Int]
    private let firstCounters: [Int: UInt8]
    private var written: [Int: Int] = [:]
    /// All packets.
    private(set) var result: [UInt8] = []

    init(_ parts: TransportParts) { (counts, firstCounters) = (parts.counts, parts.firstCounters) }

    mutating func append(_ packet: [UInt8]) { result += packet }

    /// Writes a packet of an elementary stream; false if there is no way to do that.
    mutating func append(_ bytes: [UInt8], of unit: TransportParts.Unit, isLast: Bool) -> Bool {
        let first = Self.room - (unit.adaptation.isEmpty ? 0 : 1 + unit.adaptation.count)
        var packets = 1 + max(0, bytes.count - first + Self.room - 1) / Self.room
        if isLast {
            let missing = (counts[unit.pid] ?? 0) - (written[unit.pid] ?? 0) - packets
            packets += (missing % 16 + 16) % 16
        }
        guard packets <= bytes.count else { return false }
        var rest = bytes[...]
        for number in 0..<packets {
            let adaptation = number == 0 ? unit.adaptation : []
            let most = number == 0 ? first : Self.room
            let taken = rest.prefix(min(most, (rest.count + packets - number - 1) / (packets - number)))
            rest = rest.dropFirst(taken.count)
            append(taken, pid: unit.pid, startsUnit: number == 0, adaptation)
        }
        return rest.isEmpty
    }

    private mutating func append(_ payload: ArraySlice<UInt8>, pid: Int, startsUnit: Bool, _ adaptation: [UInt8]) {
        let number = written[pid, default: 0]
        written[pid] = number + 1
        let counter = (Int(firstCounters[pid] ?? 0) + number) & 0x0F
        let hasField = !adaptation.isEmpty || payload.count < Self.room
        result += [0x47, (startsUnit ? 0x40 : 0) | UInt8(pid >> 8), UInt8(pid & 0xFF)]
        result.append((hasField ? 0x30 : 0x10) | UInt8(counter))
        if hasField {
            let length = Self.room - 1 - payload.count
            result.append(UInt8(length))
            // Flags stand before stuffing.
            let field = adaptation.isEmpty && length > 0 ? [0] : adaptation
            result += field + [UInt8](repeating: 0xFF, count: max(0, length - field.count))
        }
        result += payload
    }
}

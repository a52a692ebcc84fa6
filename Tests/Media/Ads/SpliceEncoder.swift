@testable import InstrumentAds

/// Writes fields of a number of bits.
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var free = 0

    mutating func put(_ count: Int, _ value: some BinaryInteger) {
        for bit in stride(from: count - 1, through: 0, by: -1) {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            free -= 1
            if UInt64(truncatingIfNeeded: value) >> UInt64(bit) & 1 == 1 { bytes[bytes.count - 1] |= 1 << UInt8(free) }
        }
    }

    mutating func put(_ flag: Bool) { put(1, flag ? 1 : 0) }
    mutating func reserve(_ count: Int) { put(count, UInt64.max) }
    mutating func put(bytes others: [UInt8]) { for byte in others { put(8, byte) } }
}

/// Encodes a section with the lengths and the checksum that belong to it: the inverse of the decoder.
extension SpliceInfoSection {
    var encoded: [UInt8] {
        var body = BitWriter()
        body.put(8, protocolVersion)
        body.put(encryption != nil)
        body.put(6, encryption?.algorithm ?? 0)
        body.put(33, ptsAdjustment.rawValue)
        body.put(8, controlWordIndex)
        body.put(12, tier)
        if let encryption {
            body.put(12, commandLength)
            body.put(bytes: encryption.payload)
        } else {
            let command = command?.encoded ?? []
            body.put(12, commandLength == 0xFFF ? 0xFFF : command.count)
            body.put(8, self.command?.type ?? 0)
            body.put(bytes: command)
            let loop = descriptors.flatMap(\.encoded)
            body.put(16, loop.count)
            body.put(bytes: loop + stuffing)
        }
        var section = BitWriter()
        section.put(8, 0xFC)
        section.put(hasLongSyntax)
        section.put(isPrivate)
        section.put(2, sapType)
        section.put(12, body.bytes.count + 4)
        section.put(bytes: body.bytes)
        return Self.sealed(section.bytes)
    }

    /// The bytes with their checksum.
    static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        // The definition of ISO/IEC 13818-1 bit by bit, independent of the decoder's table.
        var register: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            for bit in (0..<8).reversed() {
                let isSet = (register >> 31 ^ UInt32(byte >> UInt8(bit) & 1)) == 1
                register <<= 1
                if isSet { register ^= 0x04C1_1DB7 }
            }
        }
        return bytes + (0..<4).map { UInt8(truncatingIfNeeded: register >> UInt32(24 - 8 * $0)) }
    }
}

extension BitWriter {
    mutating func put(time: SpliceTicks?) {
        put(time != nil)
        if let time {
            reserve(6)
            put(33, time.rawValue)
        } else {
            reserve(7)
        }
    }

    mutating func put(_ duration: BreakDuration?) {
        guard let duration else { return }
        put(duration.isAutoReturn)
        reserve(6)
        put(33, duration.duration.rawValue)
    }
}

extension SpliceCommand {
    var encoded: [UInt8] {
        var writer = BitWriter()
        switch self {
        case .null, .bandwidthReservation: break
        case .schedule(let splices):
            writer.put(8, splices.count)
            for splice in splices { splice.write(to: &writer) }
        case .insert(let insert): insert.write(to: &writer)
        case .timeSignal(let time): writer.put(time: time)
        case .privateCommand(let identifier, let bytes):
            writer.put(32, identifier)
            writer.put(bytes: bytes)
        case .reserved(_, let bytes): writer.put(bytes: bytes)
        }
        return writer.bytes
    }
}

extension SpliceInsert {
    func write(to writer: inout BitWriter) {
        writer.put(32, eventID)
        writer.put(isCancelled)
        writer.reserve(7)
        if isCancelled { return }
        writer.put(isOutOfNetwork)
        writer.put(isProgramSplice)
        writer.put(breakDuration != nil)
        writer.put(isImmediate)
        writer.put(isEventIDCompliant)
        writer.reserve(3)
        if isProgramSplice {
            if !isImmediate { writer.put(time: time) }
        } else {
            writer.put(8, components.count)
            for component in components {
                writer.put(8, component.tag)
                if !isImmediate { writer.put(time: component.time) }
            }
        }
        writer.put(breakDuration)
        writer.put(16, uniqueProgramID)
        writer.put(8, availNumber)
        writer.put(8, availsExpected)
    }
}

extension ScheduledSplice {
    func write(to writer: inout BitWriter) {
        writer.put(32, eventID)
        writer.put(isCancelled)
        writer.put(isEventIDCompliant)
        writer.reserve(6)
        if isCancelled { return }
        writer.put(isOutOfNetwork)
        writer.put(isProgramSplice)
        writer.put(breakDuration != nil)
        writer.reserve(5)
        if isProgramSplice {
            writer.put(32, utcTime ?? 0)
        } else {
            writer.put(8, components.count)
            for component in components {
                writer.put(8, component.tag)
                writer.put(32, component.utcTime)
            }
        }
        writer.put(breakDuration)
        writer.put(16, uniqueProgramID)
        writer.put(8, availNumber)
        writer.put(8, availsExpected)
    }
}

extension SpliceDescriptor {
    var encoded: [UInt8] {
        var body = BitWriter()
        body.put(32, identifier)
        switch content {
        case .avail(let value): body.put(32, value)
        case .dtmf(let value):
            body.put(8, value.preroll)
            body.put(3, value.tones.utf8.count)
            body.reserve(5)
            body.put(bytes: Array(value.tones.utf8))
        case .segmentation(let value): value.write(to: &body)
        case .time(let value):
            body.put(48, value.taiSeconds)
            body.put(32, value.taiNanoseconds)
            body.put(16, value.utcOffset)
        case .audio(let components):
            body.put(4, components.count)
            body.reserve(4)
            for component in components {
                body.put(8, component.tag)
                body.put(bytes: Array(component.language.utf8))
                body.put(3, component.bitStreamMode)
                body.put(4, component.channels)
                body.put(component.isFullService)
            }
        case .other(let bytes): body.put(bytes: bytes)
        }
        body.put(bytes: trailing)
        return [tag, UInt8(body.bytes.count)] + body.bytes
    }
}

extension SegmentationDescriptor {
    func write(to writer: inout BitWriter) {
        writer.put(32, eventID)
        writer.put(isCancelled)
        writer.put(isEventIDCompliant)
        writer.reserve(6)
        if isCancelled { return }
        writer.put(isProgramSegmentation)
        writer.put(duration != nil)
        writer.put(restrictions == nil)
        if let restrictions {
            writer.put(restrictions.isWebDeliveryAllowed)
            writer.put(restrictions.hasNoRegionalBlackout)
            writer.put(restrictions.isArchiveAllowed)
            writer.put(2, restrictions.deviceRestrictions)
        } else {
            writer.reserve(5)
        }
        if !isProgramSegmentation {
            writer.put(8, components.count)
            for component in components {
                writer.put(8, component.tag)
                writer.reserve(7)
                writer.put(33, component.offset.rawValue)
            }
        }
        if let duration { writer.put(40, duration.rawValue) }
        writer.put(8, upid.type.rawValue)
        writer.put(8, upid.bytes.count)
        writer.put(bytes: upid.bytes)
        writer.put(8, type.rawValue)
        writer.put(8, segmentNumber)
        writer.put(8, segmentsExpected)
        if let subSegment {
            writer.put(8, subSegment.number)
            writer.put(8, subSegment.expected)
        }
    }
}

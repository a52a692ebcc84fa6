/// A section of splice information (SCTE 35, section 9.6): the message that marks ads, programs and other events in a
/// stream.
/// A value without clock or network. Names of properties follow the fields of the standard; times are ticks of 90 kHz,
/// and ``SpliceTicks/seconds`` converts them.
package struct SpliceInfoSection: Hashable, Sendable {
    /// The value of `table_id` of every section.
    package static let tableID: UInt8 = 0xFC

    /// The notation in which a section came.
    package enum Notation: Hashable, Sendable {
        /// The bits of the standard's section 9.6, with lengths and a checksum.
        case binary
        /// The elements of the standard's schema, which have neither lengths nor a checksum.
        case xml
    }

    /// The notation in which the section came.
    package var notation = Notation.binary
    /// `section_syntax_indicator`; false in a valid section.
    package var hasLongSyntax = false
    /// `private_indicator`; false in a valid section.
    package var isPrivate = false
    /// `sap_type`: the stream access point type, 0 to 3; 3 where none is specified.
    package var sapType: UInt8 = 3
    /// `section_length`: the number of bytes after this field.
    package var sectionLength: UInt16 = 0
    /// `protocol_version`; 0 in every published edition.
    package var protocolVersion: UInt8 = 0
    /// The encryption; nil for a section in the clear.
    package var encryption: SpliceEncryption?
    /// `pts_adjustment`: the offset that is added to every splice time of the section, in ticks, modulo 2^33.
    package var ptsAdjustment = SpliceTicks(0)
    /// `cw_index`: the control word for the decryption; without meaning in a section in the clear.
    package var controlWordIndex: UInt8 = 0xFF
    /// `tier`: the authorization tier, 12 bits; 0xFFF for no tier.
    package var tier: UInt16 = 0xFFF
    /// `splice_command_length`; 0xFFF from old encoders, which means unknown.
    package var commandLength: UInt16 = 0
    /// The command; nil if the section is encrypted.
    package var command: SpliceCommand?
    /// The descriptors in order; empty if the section is encrypted.
    package var descriptors: [SpliceDescriptor] = []
    /// `alignment_stuffing` and everything else between the last descriptor and the checksum.
    package var stuffing: [UInt8] = []
    /// `CRC_32` as received. A section with another checksum is decoded only if it came in a manifest, with a finding.
    package var crc: UInt32 = 0
    /// Whether `CRC_32` is the checksum of the section; true for a section in XML, which has none.
    package var isChecksumValid = true
    /// Deviations from the standard that do not prevent decoding.
    package var findings: [AdFinding] = []

    /// The first segmentation descriptors, which carry the meaning of a `time_signal`.
    package var segmentations: [SegmentationDescriptor] {
        descriptors.compactMap { if case .segmentation(let value) = $0.content { value } else { nil } }
    }

    /// The time of the splice with `ptsAdjustment` added, modulo 2^33; nil if the section states no time.
    package var adjustedTime: SpliceTicks? {
        command?.time.map { SpliceTicks(($0.rawValue &+ ptsAdjustment.rawValue) & SpliceTicks.mask) }
    }
}

/// The encryption of a section (SCTE 35, section 11). The decoder reports encrypted sections and decodes no more of
/// them.
package struct SpliceEncryption: Hashable, Sendable {
    /// `encryption_algorithm`: 0 none, 1 DES-ECB, 2 DES-CBC, 3 triple DES EDE3-ECB, 32 to 63 private.
    package var algorithm: UInt8
    /// The bytes from `splice_command_type` to `E_CRC_32`, encrypted.
    package var payload: [UInt8]

    /// The name of the algorithm.
    package var algorithmName: String {
        switch algorithm {
        case 0: "none"
        case 1: "DES-ECB"
        case 2: "DES-CBC"
        case 3: "3DES-EDE3-ECB"
        case 32...63: "private"
        default: "reserved"
        }
    }
}

/// A time or duration in ticks of 90 kHz.
package struct SpliceTicks: RawRepresentable, Hashable, Sendable, Comparable {
    /// The 33 bits of a presentation time stamp.
    static let mask: UInt64 = 1 << 33 - 1
    /// The number of ticks.
    package var rawValue: UInt64

    /// Creates a time from a number of ticks.
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Creates a time from a number of ticks.
    package init(_ ticks: UInt64) { rawValue = ticks }

    /// The time in seconds, rounded to microseconds.
    package var seconds: Double {
        let microseconds = (rawValue.multipliedFullWidth(by: 100))
        guard microseconds.high == 0 else { return Double(rawValue) / 90_000 }
        let (quotient, remainder) = microseconds.low.quotientAndRemainder(dividingBy: 9)
        return Double(quotient + (remainder >= 5 ? 1 : 0)) / 1_000_000
    }

    /// The time in nanoseconds, rounded down.
    package var nanoseconds: Int64 {
        let wide = rawValue.multipliedFullWidth(by: 100_000)
        guard wide.high < 9 else { return .max }
        return Int64(clamping: UInt64(9).dividingFullWidth(wide).quotient)
    }

    /// Orders times by their ticks.
    package static func < (left: SpliceTicks, right: SpliceTicks) -> Bool { left.rawValue < right.rawValue }
}

extension SpliceInfoSection {
    /// The segmentation that decides the meaning: one about ads, else the first.
    var decisive: SegmentationDescriptor? {
        segmentations.first { $0.type.isAdvertising && !$0.isCancelled } ?? segmentations.first
    }

    /// The meaning for ad breaks.
    var signalKind: AdSignal.Kind {
        switch command {
        case .insert(let insert) where !insert.isCancelled: return insert.isOutOfNetwork ? .breakBegin : .breakEnd
        case .timeSignal:
            guard let decisive, decisive.type.isAdvertising, !decisive.isCancelled else { return .other }
            return decisive.type.isStart ? .breakBegin : .breakEnd
        default: return .other
        }
    }

    /// The duration of the break, in nanoseconds; nil if the section states none.
    var breakDuration: Int64? {
        if case .insert(let insert) = command { return insert.breakDuration?.duration.nanoseconds }
        return decisive?.duration?.nanoseconds
    }

    /// The identifier of the event.
    var eventID: UInt32? {
        if case .insert(let insert) = command { return insert.eventID }
        return decisive?.eventID
    }

    /// Whether the section says that a signal ends the break: a splice that does not return by itself.
    var announcesEnd: Bool {
        if case .insert(let insert) = command { return insert.breakDuration?.isAutoReturn == false }
        return false
    }
}

internal import Instrument
internal import InstrumentText

/// The identifier of content (`segmentation_upid`, SCTE 35, section 10.3.3.1).
package struct SegmentationUPID: Hashable, Sendable {
    /// The kind of an identifier (`segmentation_upid_type`); an open set.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        /// The value on the wire.
        package var rawValue: UInt8
        /// Creates a kind from its value.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// No identifier.
        package static let notUsed = Kind(rawValue: 0x00)
        /// User defined; deprecated.
        package static let userDefined = Kind(rawValue: 0x01)
        /// ISCI: eight characters; deprecated.
        package static let isci = Kind(rawValue: 0x02)
        /// Ad-ID: twelve characters.
        package static let adID = Kind(rawValue: 0x03)
        /// UMID: 32 bytes (SMPTE 330).
        package static let umid = Kind(rawValue: 0x04)
        /// ISAN: 8 bytes; deprecated.
        package static let shortISAN = Kind(rawValue: 0x05)
        /// ISAN with version: 12 bytes (ISO 15706-2).
        package static let isan = Kind(rawValue: 0x06)
        /// TID of Tribune Media Systems: twelve characters.
        package static let tid = Kind(rawValue: 0x07)
        /// AiringID: 8 bytes, formerly of Turner.
        package static let airingID = Kind(rawValue: 0x08)
        /// ADI: a CableLabs asset.
        package static let adi = Kind(rawValue: 0x09)
        /// EIDR: 12 bytes, the compact form of a DOI.
        package static let eidr = Kind(rawValue: 0x0A)
        /// An ATSC content identifier (A/57B).
        package static let atsc = Kind(rawValue: 0x0B)
        /// MPU: private content of a registered owner.
        package static let managedPrivate = Kind(rawValue: 0x0C)
        /// MID: several identifiers.
        package static let multiple = Kind(rawValue: 0x0D)
        /// ADS: information for ad decisions.
        package static let ads = Kind(rawValue: 0x0E)
        /// A URI.
        package static let uri = Kind(rawValue: 0x0F)
        /// A UUID: 16 bytes.
        package static let uuid = Kind(rawValue: 0x10)
        /// SCR: service content restrictions.
        package static let scr = Kind(rawValue: 0x11)

        /// The short name in the standard.
        package var name: String {
            let names = [
                "Not Used", "User Defined", "ISCI", "Ad-ID", "UMID", "ISAN (deprecated)", "ISAN", "TID", "AiringID",
                "ADI",
                "EIDR", "ATSC Content Identifier", "MPU", "MID", "ADS Information", "URI", "UUID", "SCR",
            ]
            return rawValue < names.count ? names[Int(rawValue)] : "Reserved"
        }

        /// The length that the standard prescribes, in bytes; nil if variable.
        var fixedLength: Int? {
            switch self {
            case .notUsed: 0
            case .isci, .shortISAN, .airingID: 8
            case .adID, .isan, .tid, .eidr: 12
            case .umid: 32
            case .uuid: 16
            default: nil
            }
        }
    }

    /// The value of an identifier.
    package enum Value: Hashable, Sendable {
        /// No identifier.
        case none
        /// An identifier in characters; for binary ones, in the registry's own notation.
        case text(String)
        /// A number (AiringID).
        case number(UInt64)
        /// Bytes without a notation.
        case bytes([UInt8])
        /// Private content (MPU): the owner's registered identifier, and the content.
        case managedPrivate(format: UInt32, bytes: [UInt8])
        /// An ATSC content identifier.
        case atsc(ATSCContentIdentifier)
        /// Several identifiers (MID).
        case multiple([SegmentationUPID])
    }

    /// `segmentation_upid_type`.
    package var type: Kind
    /// The bytes on the wire.
    package var bytes: [UInt8]
    /// The value of the identifier.
    package var value: Value
    /// Whether the length is not the one that the standard prescribes for the type. Its value is then `bytes`.
    package var isMalformed = false

    /// Decodes an identifier. A length that the type does not allow marks the identifier as malformed.
    package init(type: Kind, bytes: [UInt8]) { self.init(type: type, bytes: bytes, depth: 0) }

    private init(type: Kind, bytes: [UInt8], depth: Int) {
        (self.type, self.bytes) = (type, bytes)
        if let length = type.fixedLength, length != bytes.count {
            (value, isMalformed) = (.bytes(bytes), true)
        } else if let decoded = Self.value(type, bytes, depth) {
            value = decoded
        } else {
            (value, isMalformed) = (.bytes(bytes), true)
        }
    }

    private static func value(_ type: Kind, _ bytes: [UInt8], _ depth: Int) -> Value? {
        switch type {
        case .notUsed: .some(.none)
        case .isci, .adID, .tid, .adi, .ads, .uri, .scr:
            String(validating: bytes, as: UTF8.self).map { .text($0.streamSafe) }
        case .airingID: .number(bytes.reduce(0) { $0 << 8 | UInt64($1) })
        case .isan, .shortISAN: .text(groups(bytes, of: 2))
        case .umid: .text(groups(bytes, of: 4, separator: "."))
        case .eidr: eidr(bytes)
        case .uuid: .text(uuid(bytes))
        case .atsc: ATSCContentIdentifier(bytes).map(Value.atsc)
        case .managedPrivate:
            bytes.count >= 4
                ? .managedPrivate(
                    format: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) },
                    bytes: Array(bytes.dropFirst(4))
                ) : nil
        case .multiple: depth > 0 ? nil : multiple(bytes)
        default: .bytes(bytes)
        }
    }

    /// The members of a MID; nil if the lengths do not add up. A MID in a MID is malformed.
    private static func multiple(_ bytes: [UInt8]) -> Value? {
        var (members, rest) = ([SegmentationUPID](), bytes[...])
        while let type = rest.popFirst() {
            guard let length = rest.popFirst(), rest.count >= Int(length) else { return nil }
            let content = Array(rest.prefix(Int(length)))
            members.append(SegmentationUPID(type: Kind(rawValue: type), bytes: content, depth: 1))
            rest = rest.dropFirst(Int(length))
        }
        return .multiple(members)
    }

    /// `10.5240/7791-8534-2C23-9030-8610-5`: the prefix, the identifier, and the check character (ISO 7064 MOD 37,36).
    private static func eidr(_ bytes: [UInt8]) -> Value? {
        guard bytes.count == 12 else { return nil }
        let prefix = Int(bytes[0]) << 8 | Int(bytes[1])
        let suffix = bytes.dropFirst(2).hexadecimal(uppercase: true)
        var product = 36
        for digit in suffix.utf8.compactMap(\.hexDigitValue) {
            let sum = (product + Int(digit)) % 36
            product = (sum == 0 ? 36 : sum) * 2 % 37
        }
        let check = String((37 - product) % 36, radix: 36, uppercase: true)
        return .text("10.\(prefix)/\(groups(Array(bytes.dropFirst(2)), of: 2))-\(check)")
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { bytes[$0].hexadecimal() }.joined(separator: "-")
    }

    private static func groups(_ bytes: [UInt8], of size: Int, separator: String = "-") -> String {
        stride(from: 0, to: bytes.count, by: size).map { start in
            bytes[start..<min(start + size, bytes.count)].hexadecimal(uppercase: true)
        }.joined(separator: separator)
    }
}

/// An ATSC content identifier (A/57B, as SCTE 35 section 10.3.3.3 repeats it).
package struct ATSCContentIdentifier: Hashable, Sendable {
    /// `TSID`.
    package var transportStreamID: UInt16
    /// `end_of_day`: the hour at which the day ends in which the identifier is unique.
    package var endOfDay: UInt8
    /// `unique_for`: the number of days in which the identifier is unique.
    package var uniqueFor: UInt16
    /// `content_id`.
    package var contentID: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4 else { return nil }
        transportStreamID = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        // Two reserved bits, five bits of end_of_day, nine bits of unique_for.
        let word = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        endOfDay = UInt8(truncatingIfNeeded: word >> 9 & 0x1F)
        uniqueFor = word & 0x1FF
        contentID = Array(bytes.dropFirst(4))
    }
}

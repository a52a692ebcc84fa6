/// The identifier of a sample in a log: the same at every attempt, and unlike any other sample's anywhere.
///
/// Laid out as a UUID of version 4 (RFC 9562, section 5.4), because some servers check the version: 62 random bits that all
/// samples of a log share, and 60 bits of the sample's number, mixed so that neighbours do not look alike. A log would
/// have to take 2^60 samples before two were the same.
public struct SampleID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// Creates the identifier of sample `sequence` in the log that has the random number `log` (62 bits of it count).
    public init(log: UInt64, sequence: UInt64) {
        let log = log & 0x3FFF_FFFF_FFFF_FFFF
        let top = log >> 2
        high = (top >> 12) << 16 | 0x4000 | top & 0xFFF
        low = 0x8000_0000_0000_0000 | (log & 3) << 60 | Self.mix(sequence)
    }

    /// Reads an identifier back from its text; nil if that is no UUID.
    public init?(_ description: String) {
        let digits = description.utf8.filter { $0 != UInt8(ascii: "-") }
        guard description.utf8.count == 36, digits.count == 32,
            let high = UInt64(String(decoding: digits.prefix(16), as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits.suffix(16), as: UTF8.self), radix: 16)
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// The random number of the sample's log: 62 bits, the same for all samples of a log.
    public var log: UInt64 { ((high >> 16) << 12 | high & 0xFFF) << 2 | low >> 60 & 3 }

    /// A UUID in upper case.
    public var description: String { UUIDText.describe(high: high, low: low) }

    /// One to one on 60 bits: odd factors and shifts to the right can be undone.
    private static func mix(_ number: UInt64) -> UInt64 {
        let mask: UInt64 = 0x0FFF_FFFF_FFFF_FFFF
        var mixed = number & mask
        mixed = (mixed ^ mixed >> 31) &* 0x9E37_79B9_7F4A_7C15 & mask
        mixed = (mixed ^ mixed >> 29) &* 0xBF58_476D_1CE4_E5B9 & mask
        return mixed ^ mixed >> 32
    }
}

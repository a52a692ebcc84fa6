/// The globally unique identifier of a sample, the same at every delivery attempt.
///
/// A UUID of version 4 (RFC 9562, section 5.4), because some servers check the version. It has 62 random bits that all
/// samples of a log share, and 60 bits of the sample's sequence number, mixed so that consecutive samples have
/// dissimilar identifiers. Identifiers repeat only after 2^60 samples of a log.
public struct SampleID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// Creates the identifier of sample `sequence` in the log with the random number `log`, of which 62 bits are used.
    public init(log: UInt64, sequence: UInt64) {
        let log = log & 0x3FFF_FFFF_FFFF_FFFF
        let top = log >> 2
        high = (top >> 12) << 16 | 0x4000 | top & 0xFFF
        low = 0x8000_0000_0000_0000 | (log & 3) << 60 | Self.mix(sequence)
    }

    /// Creates the identifier of the two halves of a UUID.
    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Parses an identifier; nil if the text is not a UUID.
    public init?(_ description: String) {
        guard let words = UUIDText.read(description) else { return nil }
        (high, low) = words
    }

    /// Writes the text of the identifier to memory of `UUIDText.length` bytes.
    package func write(to memory: UnsafeMutableBufferPointer<UInt8>) {
        UUIDText.write(high: high, low: low, to: memory)
    }

    /// The random number of the sample's log: 62 bits, the same for all samples of a log.
    public var log: UInt64 { ((high >> 16) << 12 | high & 0xFFF) << 2 | low >> 60 & 3 }

    /// A UUID in upper case.
    public var description: String { UUIDText.describe(high: high, low: low) }

    /// A permutation of 60-bit numbers: multiplication by odd factors and shifts to the right are invertible.
    private static func mix(_ number: UInt64) -> UInt64 {
        let mask: UInt64 = 0x0FFF_FFFF_FFFF_FFFF
        var mixed = number & mask
        mixed = (mixed ^ mixed >> 31) &* 0x9E37_79B9_7F4A_7C15 & mask
        mixed = (mixed ^ mixed >> 29) &* 0xBF58_476D_1CE4_E5B9 & mask
        return mixed ^ mixed >> 32
    }
}

internal import Instrument
internal import InstrumentText

/// The idempotency key of a request: equal for equal identifiers in the same order, and for no others.
///
/// FNV-1a of 128 bits over the identifiers' texts with a line break behind each, as 32 hexadecimal digits. It need not
/// withstand an attacker: whoever sends requests chooses their keys.
enum IdempotencyKey {
    private static let basis: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
    private static let prime: UInt128 = 1 << 88 | 0x13B

    static func key(of identifiers: [SampleID]) -> String {
        identifiers.reduce(basis) { add(Array(($1.description + "\n").utf8), to: $0) }
            .padded(32, radix: 16, uppercase: true)
    }

    static func hash(_ bytes: [UInt8]) -> UInt128 { add(bytes, to: basis) }

    private static func add(_ bytes: [UInt8], to hash: UInt128) -> UInt128 {
        bytes.reduce(hash) { ($0 ^ UInt128($1)) &* prime }
    }
}

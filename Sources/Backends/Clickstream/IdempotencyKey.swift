internal import Instrument
internal import InstrumentText

/// The idempotency key of a request: equal for equal identifiers in the same order, and for no others.
///
/// FNV-1a of 128 bits over the identifiers' texts with a line break behind each, as 32 hexadecimal digits. It need not
/// withstand an attacker, because the sender of a request chooses its key.
enum IdempotencyKey {
    static func key(of identifiers: [SampleID]) -> String {
        FNV1a.hash128(identifiers.lazy.flatMap { Array(($0.description + "\n").utf8) })
            .padded(32, radix: 16, uppercase: true)
    }
}

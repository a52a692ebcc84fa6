/// The source of an instrument's randomness, for identifiers and the jitter of retries.
///
/// Inject one over a seeded generator, and a session gives the same identifiers each time. Safe from any thread.
public struct RandomSource: Sendable {
    private final class Storage: Sendable {
        let generator: Lock<any RandomNumberGenerator & Sendable>
        init(_ generator: any RandomNumberGenerator & Sendable) { self.generator = Lock(generator) }
    }

    private let storage: Storage

    /// Creates a source over `generator`; by default the system's.
    public init(_ generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        storage = Storage(generator)
    }

    /// 64 random bits.
    public func next() -> UInt64 { storage.generator.withLock { $0.next() } }

    /// A number from `range`, each as likely as any other.
    public func number(in range: ClosedRange<Double>) -> Double {
        let share = Double(next() >> 11) / Double(UInt64(1) << 53 - 1)
        return range.lowerBound + (range.upperBound - range.lowerBound) * share
    }

    /// A random identifier in the form of a UUID, version 4 (RFC 9562, section 5.4), in upper case.
    public func identifier() -> String {
        UUIDText.describe(
            high: next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
            low: next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        )
    }
}

/// The text form of a UUID (RFC 9562, section 4), without Foundation.
package enum UUIDText {
    /// The bytes of a UUID as text.
    package static let length = 36

    /// The two halves of a UUID of 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12 (RFC 9562, section 4); nil for
    /// any other text.
    package static func read(_ text: String) -> (high: UInt64, low: UInt64)? {
        var (high, low, digits): (UInt64, UInt64, Int) = (0, 0, 0)
        guard text.utf8.count == 36 else { return nil }
        for (index, byte) in text.utf8.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard byte < 0x80, let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            if digits < 16 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
            digits += 1
        }
        return (high, low)
    }

    package static func describe(high: UInt64, low: UInt64) -> String {
        String(unsafeUninitializedCapacity: length) { buffer in
            write(high: high, low: low, to: buffer)
            return length
        }
    }

    /// Writes a UUID to memory of ``length`` bytes.
    package static func write(high: UInt64, low: UInt64, to buffer: UnsafeMutableBufferPointer<UInt8>) {
        var index = 0
        for digit in 0..<32 {
            if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                buffer[index] = UInt8(ascii: "-")
                index += 1
            }
            let word = digit < 16 ? high : low
            let value = UInt8(truncatingIfNeeded: word &>> UInt64(60 - 4 * (digit & 15))) & 15
            buffer[index] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
            index += 1
        }
    }
}

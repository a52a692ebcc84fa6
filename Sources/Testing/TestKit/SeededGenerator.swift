internal import Instrument

/// A small generator with a seed, so that a failing case can be repeated (SplitMix64, Steele, Lea and Flood 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var generator: SplitMix64

    /// Creates a generator; the same seed gives the same numbers.
    public init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    /// Returns the next number.
    public mutating func next() -> UInt64 { generator.next() }
}

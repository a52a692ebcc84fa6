/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a small generator whose numbers follow from its seed.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var state: UInt64

    /// Creates a generator; the same seed gives the same numbers.
    package init(seed: UInt64) { state = seed }

    /// Returns the next number.
    package mutating func next() -> UInt64 {
        defer { state &+= Self.step }
        return Self.mixed(state)
    }

    /// The first number of the generator with this seed. Distributes numbers that are close to each other.
    package static func mixed(_ seed: UInt64) -> UInt64 {
        var word = seed &+ step
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

internal import Instrument

/// A part of the streams, for several processes that share them: `2/5` is the second of five.
///
/// Rendezvous hashing: each name belongs to the shard with the largest hash of name and shard, so that another number
/// of shards moves only the streams that have to move.
package struct Shard: Hashable, Sendable {
    /// The number of this shard, from 1.
    package let number: Int
    /// The number of shards.
    package let count: Int

    /// Creates a shard; nil unless `number` is between 1 and `count`, and `count` at most 10,000.
    package init?(number: Int, of count: Int) {
        guard (1...10_000).contains(count), (1...count).contains(number) else { return nil }
        (self.number, self.count) = (number, count)
    }

    /// Reads `NUMBER/COUNT`; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let number = Int(parts[0]), let count = Int(parts[1])
        else { return nil }
        self.init(number: number, of: count)
    }

    /// Whether a stream of this name belongs to the shard.
    package func contains(_ name: String) -> Bool {
        let hash = FNV1a.hash64(name.utf8)
        var best: (weight: UInt64, number: Int) = (0, 1)
        for candidate in 1...count {
            let weight = SplitMix64.mixed(hash ^ SplitMix64.mixed(UInt64(candidate)))
            if weight > best.weight { best = (weight, candidate) }
        }
        return best.number == number
    }
}

/// How fast a link carries bytes.
public struct Bandwidth: Hashable, Comparable, Sendable {
    /// Bits of payload a second; heads of responses and the network's own headers weigh nothing.
    public let bitsPerSecond: Int

    /// Creates a bandwidth of bits a second; below zero counts as zero, which is a link that stands still.
    public init(bitsPerSecond: Int) { self.bitsPerSecond = min(max(0, bitsPerSecond), Self.most) }

    /// Thousands of bits a second.
    public static func kilobits(_ count: Int) -> Bandwidth {
        let (bits, overflow) = count.multipliedReportingOverflow(by: 1_000)
        return Bandwidth(bitsPerSecond: overflow ? (count < 0 ? 0 : most) : bits)
    }

    /// A link that holds nothing up: bytes leave at once. Counted as 2^62 bits a second.
    public static let unlimited = Bandwidth(bitsPerSecond: most)

    /// A link that stands still.
    public static let none = Bandwidth(bitsPerSecond: 0)

    private static var most: Int { 1 << 62 }

    /// Slower.
    public static func < (left: Bandwidth, right: Bandwidth) -> Bool { left.bitsPerSecond < right.bitsPerSecond }
}

extension Bandwidth: CustomStringConvertible {
    /// As the text of a schedule has it: `4000k`, `64001`, `unlimited`.
    public var description: String {
        if self == .unlimited { return "unlimited" }
        return bitsPerSecond % 1_000 == 0 ? "\(bitsPerSecond / 1_000)k" : "\(bitsPerSecond)"
    }
}

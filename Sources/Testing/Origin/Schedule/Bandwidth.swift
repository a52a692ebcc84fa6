/// The bandwidth of a link.
public struct Bandwidth: Hashable, Comparable, Sendable {
    /// Bits of payload per second; heads of responses and headers of the network do not count.
    public let bitsPerSecond: Int

    /// Creates a bandwidth in bits per second; a negative value counts as zero, which is an outage.
    public init(bitsPerSecond: Int) { self.bitsPerSecond = min(max(0, bitsPerSecond), Self.most) }

    /// Creates a bandwidth in thousands of bits per second.
    public static func kilobits(_ count: Int) -> Bandwidth {
        let (bits, overflow) = count.multipliedReportingOverflow(by: 1_000)
        return Bandwidth(bitsPerSecond: overflow ? (count < 0 ? 0 : most) : bits)
    }

    /// No limit: bytes leave immediately. Counts as 2^62 bits per second.
    public static let unlimited = Bandwidth(bitsPerSecond: most)

    /// An outage: the link carries nothing.
    public static let none = Bandwidth(bitsPerSecond: 0)

    private static var most: Int { 1 << 62 }

    /// Whether the first bandwidth is lower.
    public static func < (left: Bandwidth, right: Bandwidth) -> Bool { left.bitsPerSecond < right.bitsPerSecond }
}

extension Bandwidth: CustomStringConvertible {
    /// The text for a schedule: `4000k`, `64001`, `unlimited`.
    public var description: String {
        if self == .unlimited { return "unlimited" }
        return bitsPerSecond % 1_000 == 0 ? "\(bitsPerSecond / 1_000)k" : "\(bitsPerSecond)"
    }
}

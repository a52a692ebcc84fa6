internal import InstrumentText

/// Which parts of a video were played, in the order of playing, over all attempts of a registration.
///
/// Whole milliseconds inside, so that what is rounded is rounded once. The wire form is `0[.]12.5[,]30[.]42`: seconds
/// with three decimals at most.
///
/// Source: xAPI Video Profile 1.0, played-segments and progress.
public struct PlayedSegments: Hashable, Sendable, CustomStringConvertible {
    /// The parts from and to, in milliseconds; each goes forwards.
    public private(set) var ranges: [Range<Int>] = []

    /// Creates the parts of a video of which nothing was played.
    public init() {}

    /// Reads the wire form back; nil if it is none.
    public init?(_ text: String) {
        for part in text.isEmpty ? [] : text.split(separator: "[,]", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "[.]", omittingEmptySubsequences: false).map(Self.milliseconds)
            guard ends.count == 2, let from = ends[0], let to = ends[1], from <= to else { return nil }
            append(from: from, to: to)
        }
    }

    /// Adds a part that was played, in milliseconds. What does not go forwards is no part.
    public mutating func append(from: Int, to: Int) {
        if from >= 0, from < to { ranges.append(from..<to) }
    }

    /// The parts within the first `length` milliseconds; nothing is played behind the end of a video.
    public func clipped(toMilliseconds length: Int) -> PlayedSegments {
        var clipped = PlayedSegments()
        for range in ranges { clipped.append(from: range.lowerBound, to: min(range.upperBound, length)) }
        return clipped
    }

    /// How much was played at least once, in milliseconds: what was played twice counts once.
    public var coveredMilliseconds: Int {
        var (covered, end) = (0, 0)
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > end {
            covered += range.upperBound - max(end, range.lowerBound)
            end = range.upperBound
        }
        return covered
    }

    /// The share of a video of that length that was played, from 0 to 1, rounded down to three decimals, so that only
    /// what was played wholly is 1.
    public func progress(ofMilliseconds length: Int) -> Double {
        guard length > 0 else { return 0 }
        let thousandths = coveredMilliseconds.multipliedReportingOverflow(by: 1000)
        if thousandths.overflow { return 1 }
        return Double(min(1000, thousandths.partialValue / length)) / 1000
    }

    /// The wire form.
    public var description: String {
        ranges.map { Self.seconds($0.lowerBound) + "[.]" + Self.seconds($0.upperBound) }.joined(separator: "[,]")
    }

    /// 12500 as `12.5`.
    private static func seconds(_ milliseconds: Int) -> String {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        if rest == 0 { return String(whole) }
        var digits = String(String(rest + 1000).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }

    /// `12.5` as 12500; further decimals are cut off.
    private static func milliseconds(_ text: Substring) -> Int? {
        var cursor = TextCursor(text)
        guard let whole = cursor.digits(), whole.count < 13 else { return nil }
        let fraction = cursor.take(".") ? cursor.digits() : []
        guard let fraction, cursor.isAtEnd else { return nil }
        return TextCursor.number(whole) * 1000 + TextCursor.number((fraction + [48, 48, 48]).prefix(3))
    }
}

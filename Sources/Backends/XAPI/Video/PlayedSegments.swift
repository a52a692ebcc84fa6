internal import InstrumentText

/// The played segments of a video, in the order of playing, over all attempts of a registration.
///
/// The segments are stored in whole milliseconds, so that each time is rounded only once. The wire form is
/// `0[.]12.5[,]30[.]42`: seconds with at most three decimals.
///
/// Source: xAPI Video Profile 1.0, played-segments and progress.
package struct PlayedSegments: Hashable, Sendable, CustomStringConvertible {
    /// The segments in milliseconds.
    package private(set) var ranges: [Range<Int>] = []

    /// Creates an empty list of segments.
    package init() {}

    /// Reads the wire form; nil if the text has another form.
    package init?(_ text: String) {
        for part in text.isEmpty ? [] : text.split(separator: "[,]", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "[.]", omittingEmptySubsequences: false).map(Self.milliseconds)
            guard ends.count == 2, let from = ends[0], let to = ends[1], from <= to else { return nil }
            append(from: from, to: to)
        }
    }

    /// Adds a played segment, in milliseconds. An empty segment, or one that ends before it starts, is ignored.
    package mutating func append(from: Int, to: Int) {
        if from >= 0, from < to { ranges.append(from..<to) }
    }

    /// Returns the segments within the first `length` milliseconds, because no segment extends beyond the end
    /// of a video.
    package func clipped(toMilliseconds length: Int) -> PlayedSegments {
        var clipped = PlayedSegments()
        for range in ranges { clipped.append(from: range.lowerBound, to: min(range.upperBound, length)) }
        return clipped
    }

    /// The length of the union of all segments, in milliseconds.
    package var coveredMilliseconds: Int {
        var (covered, end) = (0, 0)
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > end {
            covered += range.upperBound - max(end, range.lowerBound)
            end = range.upperBound
        }
        return covered
    }

    /// Returns the played share of a video with that length, from 0 to 1, rounded down to three decimals, so
    /// that only a completely played video has 1.
    package func progress(ofMilliseconds length: Int) -> Double {
        guard length > 0 else { return 0 }
        let thousandths = coveredMilliseconds.multipliedReportingOverflow(by: 1000)
        if thousandths.overflow { return 1 }
        return Double(min(1000, thousandths.partialValue / length)) / 1000
    }

    /// The wire form.
    package var description: String {
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

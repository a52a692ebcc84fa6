internal import InstrumentText

/// The differences between two sets of sessions, and how likely they are to be chance.
package struct Comparison: Sendable {
    /// One compared quantity.
    package struct Row: Sendable {
        /// The quantity.
        package let title: String
        /// The values for people.
        package let this: String
        package let other: String
        /// The difference for people, with a sign.
        package let difference: String
        /// The p-value after the correction for several tests; nil if there were too few sessions for a test.
        package let p: Double?
        /// The method.
        package let method: String
        /// Whether the larger value is the worse one.
        let isMoreWorse: Bool
        /// Whether this set's value is the larger one; nil for equal values.
        let isMore: Bool?

        /// Whether the difference is unlikely to be chance.
        package var isSignificant: Bool { (p ?? 1) < Comparison.level }

        /// The result in words.
        package var verdict: String {
            guard let p else { return "too few sessions for a test" }
            if !isSignificant { return "no significant difference (\(Decimal.probability(p)))" }
            guard let isMore else { return "significant difference (\(Decimal.probability(p)))" }
            return (isMore == isMoreWorse ? "worse" : "better") + " (\(Decimal.probability(p)))"
        }
    }

    /// A p-value below this is significant.
    static let level = 0.05
    /// The fewest sessions of each set for a test.
    static let fewest = 3

    /// The names of the methods, for the page.
    package static let methods = """
        Values per session are compared with the Mann–Whitney U test (two-sided; exact for up to \(RankTest.largestExactSize) sessions \
        each without equal values, otherwise the normal approximation with corrections for ties and continuity). Shares are compared \
        with Fisher's exact test (two-sided). The p-values are corrected for the number of tests by Holm's method; a difference is \
        significant if the corrected p-value is below 0.05. Medians and shares count each session with its sampling weight; the tests \
        count each recorded session once.
        """

    /// The other set.
    package let other: SessionSet
    /// The rows.
    package let rows: [Row]

    /// Compares a set with another one, for example of yesterday.
    package init(_ this: SessionSet, against other: SessionSet) {
        self.other = other
        let shares: [(String, KeyPath<SessionCounts, Int>)] = [
            ("Sessions with a start failure", \.startFailures), ("Sessions left before the start", \.exitsBeforeStart),
            ("Sessions left in a stall", \.exitsDuringRebuffer),
            ("Sessions with a playback failure", \.playbackFailures), ("Sessions with a stall", \.stalled),
        ]
        let drafts =
            Measure.all.map { Self.compare($0, this, other) }
            + shares.map { Self.compare($0.0, $0.1, this, other) }
        let adjusted = HolmCorrection.adjust(drafts.map(\.p))
        rows = zip(drafts, adjusted).map { row, p in
            Row(
                title: row.title,
                this: row.this,
                other: row.other,
                difference: row.difference,
                p: p,
                method: row.method,
                isMoreWorse: row.isMoreWorse,
                isMore: row.isMore
            )
        }
    }

    private static func compare(_ measure: Measure, _ this: SessionSet, _ other: SessionSet) -> Row {
        let (mine, others) = (this.values[measure.position], other.values[measure.position])
        let (median, otherMedian) = (this.quantile(0.5, of: measure), other.quantile(0.5, of: measure))
        let isEnough = min(mine.count, others.count) >= fewest
        let test = isEnough ? RankTest(mine.map(\.value), others.map(\.value)) : nil
        let difference = median.flatMap { median in otherMedian.map { median - $0 } }
        return Row(
            title: "\(measure.title), median",
            this: median.map(measure.text) ?? "–",
            other: otherMedian.map(measure.text) ?? "–",
            difference: difference.map { ($0 > 0 ? "+" : "") + measure.text($0) } ?? "–",
            p: test?.p,
            method: "Mann–Whitney U",
            isMoreWorse: measure != .bitrate && measure != .playTime,
            isMore: test.flatMap { $0.superiority == 0.5 ? nil : $0.superiority > 0.5 }
        )
    }

    private static func compare(
        _ title: String,
        _ hits: KeyPath<SessionCounts, Int>,
        _ this: SessionSet,
        _ other: SessionSet
    ) -> Row {
        let (mine, others) = (this.estimated, other.estimated)
        let share = Double(mine[keyPath: hits]) / Double(max(1, mine.sessions))
        let otherShare = Double(others[keyPath: hits]) / Double(max(1, others.sessions))
        let test =
            min(this.count, other.count) >= fewest
            ? ShareTest(this.recorded[keyPath: hits], of: this.count, other.recorded[keyPath: hits], of: other.count)
            : nil
        let points = 100 * (share - otherShare)
        return Row(
            title: title,
            this: text(mine[keyPath: hits], of: mine.sessions),
            other: text(others[keyPath: hits], of: others.sessions),
            difference: (points > 0 ? "+" : "") + points.fixed(digits: 1) + " points",
            p: test?.p,
            method: "Fisher's exact test",
            isMoreWorse: true,
            isMore: share == otherShare ? nil : share > otherShare
        )
    }

    private static func text(_ hits: Int, of count: Int) -> String {
        "\(Decimal.percent(hits, of: count)) (\(hits) of \(count))"
    }
}

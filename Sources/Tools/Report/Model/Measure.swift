internal import InstrumentQuality
internal import InstrumentText

/// A value of each session that reports show as a distribution and compare: a metric of `Dialect.instrument`.
package struct Measure: Hashable, Sendable {
    /// The name of the metric.
    package let metric: String
    /// The name for people.
    package let title: String
    /// The unit for people.
    package let unit: String
    /// The factor from the metric's value to the unit.
    let factor: Double
    /// Digits after the point.
    let digits: Int
    /// The position in ``all``.
    let position: Int

    static let startTime = Measure(
        metric: "StartTime",
        title: "Start time",
        unit: "s",
        factor: 0.001,
        digits: 2,
        position: 0
    )
    static let rebufferRatio = Measure(
        metric: "RebufferRatio",
        title: "Rebuffer ratio",
        unit: "%",
        factor: 100,
        digits: 2,
        position: 1
    )
    static let bitrate = Measure(
        metric: "AverageBitrate",
        title: "Average bitrate",
        unit: "Mbit/s",
        factor: 1e-6,
        digits: 2,
        position: 2
    )
    static let rebufferTime = Measure(
        metric: "RebufferTime",
        title: "Rebuffer time",
        unit: "s",
        factor: 0.001,
        digits: 1,
        position: 3
    )
    static let playTime = Measure(
        metric: "PlayTime",
        title: "Play time",
        unit: "s",
        factor: 0.001,
        digits: 1,
        position: 4
    )

    /// Every measure.
    package static let all = [startTime, rebufferRatio, bitrate, rebufferTime, playTime]
    /// The measures that have a chart.
    static let charted = [startTime, rebufferRatio, bitrate]

    /// The value of a session in the measure's unit; nil if the session has none.
    func value(of session: QualitySession) -> Double? {
        Dialect.instrument.metric(metric)?.value(of: session)?.double.map { $0 * factor }
    }

    /// A value with its unit; a time below a second in milliseconds.
    func text(_ value: Double) -> String {
        if unit == "s", let text = Decimal.milliseconds(value * 1000) { return text }
        return value.fixed(digits: digits) + " \(unit)"
    }
}

/// Numbers as decimal text, in the same form everywhere.
enum Decimal {
    /// A share as a percentage with one digit.
    static func percent(_ part: Int, of whole: Int) -> String {
        whole > 0 ? (100 * Double(part) / Double(whole)).fixed(digits: 1) + " %" : "–"
    }

    /// `1 session`, `2 sessions`.
    static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// A p-value.
    static func probability(_ p: Double) -> String { p < 0.001 ? "p < 0.001" : "p = " + p.fixed(digits: 3) }

    /// A time below a second as `850 ms`; nil for none and for a longer one.
    static func milliseconds(_ milliseconds: Double) -> String? {
        let whole = milliseconds.rounded()
        return whole != 0 && abs(whole) < 1000 ? whole.fixed(digits: 0) + " ms" : nil
    }

    /// Milliseconds as `850 ms`, `1.25 s`, `12 min 3 s` or `2 h 5 min`.
    static func duration(_ milliseconds: Double) -> String {
        if let text = Self.milliseconds(milliseconds) { return text }
        let seconds = milliseconds / 1000
        if seconds < 60 { return seconds.fixed(digits: seconds < 10 ? 2 : 1) + " s" }
        // Sums of damaged numbers do not fit into an integer.
        guard seconds < 9e15 else { return seconds.fixed(digits: 0) + " s" }
        let whole = Int(seconds.rounded())
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        let minutes = Int((seconds / 60).rounded())
        return "\(minutes / 60) h \(minutes % 60) min"
    }
}

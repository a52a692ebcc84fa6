internal import Instrument
internal import InstrumentPageDesign
internal import InstrumentQuality
internal import InstrumentText

/// The head of the page: where the sessions are from, and the figures of all of them.
enum SummarySection {
    static func html(_ set: SessionSet, now: WallTime, _ limits: PageLimits) -> HTML {
        let facts = figures(of: set).map { figure -> HTML in
            "<div><dt>\(figure.title)</dt><dd>\(figure.value)</dd><dd class=\"note\">\(figure.note)</dd></div>"
        }
        return """
            <header>
            <h1>Playback report</h1>
            <p>\(origin(of: set, limits)).\(reading(of: set)) Made \(PageDesign.minutes(now)) by Instrument \(InstrumentVersion.current).</p>
            <dl class="figures">
            \(facts.joined())
            </dl>
            </header>
            """
    }

    private static func origin(of set: SessionSet, _ limits: PageLimits) -> HTML {
        let names = set.inputs.prefix(10).map { input -> HTML in
            "<bdi><code>\(PageDesign.cut(input, to: limits.source))</code></bdi>"
        }
        let more: HTML = set.inputs.count > names.count ? " and \(set.inputs.count - names.count) more" : ""
        let list = HTML(trusted: names.map(\.markup).joined(separator: ", ")) + more
        guard let span = set.span else { return "From \(list)" }
        let (begin, end) = (WallTime(milliseconds: span.lowerBound), WallTime(milliseconds: span.upperBound))
        return "From \(list), \(PageDesign.minutes(begin)) to \(PageDesign.minutes(end))"
    }

    private static func reading(of set: SessionSet) -> HTML {
        let parts = notes(of: set)
        return parts.isEmpty ? "" : " \(parts.joined(separator: " "))"
    }

    /// What a reader of the figures must know about the recording.
    static func notes(of set: SessionSet) -> [String] {
        var parts: [String] = []
        if set.leftOutCount > 0 { parts.append("\(Decimal.count(set.leftOutCount, "session")) not selected.") }
        if set.problemCount > 0 {
            parts.append("\(Decimal.count(set.problemCount, "part")) could not be read: skipped.")
        }
        if set.duplicateCount > 0 { parts.append("\(Decimal.count(set.duplicateCount, "repeated sample")) left out.") }
        if set.reading.reordered > 0 {
            parts.append("\(Decimal.count(set.reading.reordered, "sample")) put in order.")
        }
        if set.reading.missing > 0 {
            parts.append("\(Decimal.count(set.reading.missing, "sequence number")) missing.")
        }
        if set.reading.late > 0 {
            parts.append("\(Decimal.count(set.reading.late, "sample")) too far out of order: figures may be wrong.")
        }
        if set.healedCount > 0 {
            parts.append("\(Decimal.count(set.healedCount, "session")) healed, because events are missing.")
        }
        return parts
    }

    /// A number with its meaning.
    struct Figure {
        let title: String
        let value: String
        let note: String
    }

    /// The figures of a set, for the page and for the terminal.
    static func figures(of set: SessionSet) -> [Figure] {
        let median = { (measure: Measure) in set.quantile(0.5, of: measure).map(measure.text) ?? "–" }
        let high = { (measure: Measure) in
            set.quantile(0.95, of: measure).map { "95 % within \(measure.text($0))" } ?? "no values"
        }
        let play = set.values[Measure.playTime.position].sum
        let stalled = set.values[Measure.rebufferTime.position].sum
        let counts = set.estimated
        let pooled = play + stalled > 0 ? Measure.rebufferRatio.text(100 * stalled / (play + stalled)) : "–"
        return [
            Figure(title: "Sessions", value: "\(set.count)", note: sessions(set)),
            Figure(title: "Start time, median", value: median(.startTime), note: high(.startTime)),
            Figure(
                title: "Rebuffer ratio, all sessions",
                value: pooled,
                note:
                    "\(Decimal.count(counts.stalls, "stall")) in \(Decimal.count(counts.stalled, "session")), \(Decimal.duration(stalled * 1000))"
            ),
            Figure(title: "Average bitrate, median", value: median(.bitrate), note: lowest(set)),
            Figure(
                title: "Start failures",
                value: Decimal.percent(counts.startFailures, of: counts.sessions),
                note: Decimal.count(counts.startFailures, "session")
            ),
            Figure(
                title: "Exits before start",
                value: Decimal.percent(counts.exitsBeforeStart, of: counts.sessions),
                note: Decimal.count(counts.exitsBeforeStart, "session")
            ),
            Figure(
                title: "Exits in a stall",
                value: Decimal.percent(counts.exitsDuringRebuffer, of: counts.sessions),
                note: Decimal.count(counts.exitsDuringRebuffer, "session")
            ),
            Figure(
                title: "Playback failures",
                value: Decimal.percent(counts.playbackFailures, of: counts.sessions),
                note: Decimal.count(counts.playbackFailures, "session")
            ),
            Figure(title: "Play time", value: Decimal.duration(play * 1000), note: "all sessions together"),
        ]
    }

    /// Recorded sessions of which each stands for several are a sample.
    private static func sessions(_ set: SessionSet) -> String {
        let all = set.estimated.sessions
        let sample = all == set.count ? "" : "; a sample of \(all), which the other figures count"
        return "\(set.recorded.started) started\(sample), at most \(set.plays.peak) at the same time"
    }

    private static func lowest(_ set: SessionSet) -> String {
        set.quantile(0.05, of: .bitrate).map { "95 % above \(Measure.bitrate.text($0))" } ?? "no values"
    }
}

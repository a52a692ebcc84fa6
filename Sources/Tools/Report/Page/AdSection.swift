internal import InstrumentPageDesign
internal import InstrumentText

/// The ads of all sessions; empty without ads.
enum AdSection {
    static func html(_ set: SessionSet) -> HTML {
        let rows = figures(of: set.ads).map { figure -> HTML in
            """
            <tr><th scope="row">\(figure.title)</th><td>\(figure.value)</td><td class="wide">\(figure.note)</td></tr>
            """
        }
        guard !rows.isEmpty else { return "" }
        return """
            <section aria-labelledby="ads">
            <h2 id="ads">Ads</h2>
            <div class="scroll" role="group" aria-labelledby="ads" tabindex="0">
            <table class="left">
            <thead><tr><th scope="col">Quantity</th><th scope="col">Value</th><th scope="col">Note</th></tr></thead>
            <tbody>\(rows.joined())</tbody>
            </table>
            </div>
            </section>
            """
    }

    /// The figures, for the page and for the terminal; empty without ads.
    static func figures(of ads: AdSummary) -> [SummarySection.Figure] {
        guard ads.sessionCount > 0 else { return [] }
        let start = ads.startTimes.quantile(0.5).map(Decimal.duration) ?? "–"
        let high = ads.startTimes.quantile(0.95).map { "95 % within \(Decimal.duration($0))" }
        let filled = ads.fillRates.sum / Double(max(1, ads.fillRates.weight))
        return [
            SummarySection.Figure(
                title: "Ad breaks",
                value: "\(ads.breakCount)",
                note: "in \(Decimal.count(ads.sessionCount, "session"))"
            ),
            SummarySection.Figure(
                title: "Ads",
                value: "\(ads.adCount)",
                note: "\(Decimal.duration(ads.playTime)) of ads"
            ),
            SummarySection.Figure(
                title: "Fill rate, mean",
                value: ads.fillRates.isEmpty ? "–" : "\((100 * filled).fixed(digits: 1)) %",
                note: "\(Decimal.count(ads.fillRates.weight, "break")) with a number of expected ads"
            ),
            SummarySection.Figure(title: "Ad start time, median", value: start, note: high ?? "no values"),
            SummarySection.Figure(
                title: "Ad buffering",
                value: Decimal.duration(ads.rebufferTime),
                note: "all ads together"
            ),
            SummarySection.Figure(title: "Ad errors", value: "\(ads.errorCount)", note: codes(of: ads)),
            SummarySection.Figure(
                title: "Exits during ads",
                value: "\(ads.exitCount)",
                note: "playbacks that were left during an ad"
            ),
        ]
    }

    /// The codes of errors, the most frequent first.
    private static func codes(of ads: AdSummary) -> String {
        let sorted = ads.errors.sorted { ($1.value, $0.key ?? .max) < ($0.value, $1.key ?? .max) }
        let shown = sorted.prefix(10).map { "\($0.key.map { "code \($0)" } ?? "no code"): \($0.value)" }
        return shown.isEmpty ? "no errors" : shown.joined(separator: ", ") + (sorted.count > 10 ? ", …" : "")
    }
}

/// Reports side by side, as Markdown.
enum ComparisonTable {
    static let header = """
        | schedule | by | start | stalls (begin + length) | off by at most | ends with |
        |---|---|---|---|---|---|
        """

    static func rows(_ trial: Trial, computed: Viewing, probe: Viewing, mpv: Viewing) -> String {
        let rows = [
            cells("\(trial.name): `\(trial.schedule)`", "computed", computed, nil),
            cells("", "probe", probe, computed), cells("", "mpv", mpv, computed),
        ]
        return rows.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }

    private static func cells(_ name: String, _ player: String, _ viewing: Viewing, _ computed: Viewing?) -> [String] {
        let stalls = viewing.stalls.map { "\(seconds($0.begin)) + \(seconds($0.length))" }
        return [
            name, player, viewing.start.map(seconds) ?? "-", stalls.isEmpty ? "none" : stalls.joined(separator: ", "),
            computed.map { difference(viewing, $0) } ?? "", viewing.outcome,
        ]
    }

    /// The largest difference of any instant; where the stalls are not as many, that.
    private static func difference(_ viewing: Viewing, _ computed: Viewing) -> String {
        guard viewing.stalls.count == computed.stalls.count, let start = viewing.start, let exact = computed.start
        else {
            return "\(viewing.stalls.count) stalls, not \(computed.stalls.count)"
        }
        var largest = abs(start - exact)
        for (stall, other) in zip(viewing.stalls, computed.stalls) {
            largest = max(largest, abs(stall.begin - other.begin))
            largest = max(largest, abs(stall.begin + stall.length - other.begin - other.length))
        }
        return seconds(largest)
    }

    /// To a hundredth.
    private static func seconds(_ value: Double) -> String {
        guard let hundredths = Int(exactly: (value * 100).rounded()) else { return "-" }
        let fraction = hundredths.magnitude % 100
        return "\(hundredths < 0 ? "-" : "")\(hundredths.magnitude / 100)." + (fraction < 10 ? "0" : "") + "\(fraction)"
    }
}

internal import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

/// The error budgets of the objectives, and how fast they burn.
///
/// A budget burns at the rate of 1 if it is empty exactly at the end of its days. An alert fires if the rate is high
/// over a long window and over a short one, which ends it soon after the fault (Google, "The Site Reliability
/// Workbook", chapter 5, "Multiwindow, Multi-Burn-Rate Alerts", table 5-8).
package struct ObjectiveBook: Sendable {
    struct Key: Hashable, Sendable {
        var objective: String
        /// The value of the label; empty for a budget of all streams.
        var group: String
    }

    /// A pair of windows, in minutes, and the share of the budget that the long one may take.
    struct Rule: Hashable, Sendable {
        let long: Int
        let short: Int
        let share: Double
        let severity: AlertSeverity

        /// The rate at which a window of this length takes the share.
        func rate(days: Int) -> Double { share * Double(days * 1_440) / Double(long) }
    }

    /// The sums of a stream when it was last looked at.
    private struct Seen {
        var sums: WindowSums
        var failed: Int
    }

    static let rules = [
        Rule(long: 60, short: 5, share: 0.02, severity: .critical),
        Rule(long: 360, short: 30, share: 0.05, severity: .critical),
        Rule(long: 4_320, short: 360, share: 0.1, severity: .warning),
    ]
    /// The budgets that are kept; further groups are one, `other`.
    static let mostSeries = 300
    /// A rate of fewer starts, or of fewer seconds, says nothing.
    private static let leastStarts = 10.0
    private static let leastSeconds = 60.0

    private(set) var series: [Key: BudgetSeries] = [:]
    private var seen: [Int: Seen] = [:]
    private var firing: Set<Key> = []
    /// Since when nothing is known of a budget whose alert fires.
    private var unknownSince: [Key: MonotonicInstant] = [:]
    /// The hour in which old budgets were looked for.
    private var forgetHour: Int64?
    /// The time of the latest look, for pages that know only an instant.
    private var latest = WallTime(milliseconds: 0)

    // MARK: Measuring

    /// Adds what has happened to a stream since the last look.
    mutating func take(_ state: StreamState, _ objectives: [Objective], at time: WallTime) {
        let now = Seen(sums: state.averages.sums, failed: state.counters.finished.failedSessions)
        guard let before = seen.updateValue(now, forKey: state.slot) else { return }
        for objective in objectives where objective.covers(state.stream) {
            let (bad, total) = Self.measure(objective.indicator, state, from: before, to: now)
            guard total > 0 else { continue }
            var key = Key(objective: objective.name, group: objective.group(of: state.stream))
            if series[key] == nil {
                forgetOld(at: time)
                if series.count >= Self.mostSeries { key.group = "other" }
            }
            series[key, default: BudgetSeries()].add(bad: bad, total: total, at: time)
        }
    }

    /// Moves all budgets, because the wall clock has jumped.
    mutating func move(byMinutes minutes: Int) {
        for key in series.keys { series[key]?.move(byMinutes: minutes) }
        forgetHour = nil
    }

    /// The start of the latest minute of which a budget knows something, in minutes since 1970.
    var latestMinute: Int? { series.values.compactMap(\.latestMinute).max() }

    /// Forgets streams and objectives that are no longer configured.
    mutating func keep(_ objectives: [Objective], slots: Set<Int>) {
        let names = Set(objectives.map(\.name))
        series = series.filter { names.contains($0.key.objective) }
        seen = seen.filter { slots.contains($0.key) }
    }

    /// Forgets budgets of which nothing is known any more: names of streams and values of labels come and go. Looks at
    /// most once an hour.
    private mutating func forgetOld(at time: WallTime) {
        let hour = time.milliseconds / 3_600_000
        guard series.count >= Self.mostSeries, forgetHour != hour else { return }
        forgetHour = hour
        series = series.filter { firing.contains($0.key) || $0.value.isKnown(at: time) }
    }

    /// Whether the alert of a budget fires.
    func isFiring(_ alert: String, of subject: String, _ objectives: [Objective]) -> Bool {
        firing.contains { key in
            objectives.contains {
                $0.name == key.objective && $0.alertName == alert && $0.subject(key.group) == subject
            }
        }
    }

    private static func measure(
        _ indicator: Objective.Indicator,
        _ state: StreamState,
        from a: Seen,
        to b: Seen
    ) -> (bad: Double, total: Double) {
        switch indicator {
        case .up:
            let known = b.sums.up.1 - a.sums.up.1
            return (known - (b.sums.up.0 - a.sums.up.0), known)
        case .notStalled:
            let stalled = b.sums.rebuffering - a.sums.rebuffering
            return (stalled, stalled + b.sums.playing - a.sums.playing)
        case .startWithin(let limit):
            let starts = b.sums.startups - a.sums.startups
            let mean = starts > 0 ? (b.sums.startupTime - a.sums.startupTime) / starts : 0
            // A session that failed after its first picture is a start already.
            let blank = starts == 0 && state.lastSession?.startup == nil ? Double(max(0, b.failed - a.failed)) : 0
            return ((mean > limit.seconds ? starts : 0) + blank, starts + blank)
        }
    }

    // MARK: Judging

    /// The burn-rate alerts that begin or end.
    /// - Parameter time: the time of now for budgets.
    mutating func judge(_ objectives: [Objective], at now: Timestamp, _ time: WallTime) -> [IncidentNews] {
        latest = time
        let known = Dictionary(objectives.map { ($0.name, $0) }) { first, _ in first }
        var changes: [IncidentNews] = []
        for (key, budget) in series.sorted(by: { ($0.key.objective, $0.key.group) < ($1.key.objective, $1.key.group) })
        {
            guard let objective = known[key.objective] else { continue }
            if let rule = Self.rules.first(where: { Self.burns(budget, $0, objective, at: time) }) {
                unknownSince[key] = nil
                guard firing.insert(key).inserted else { continue }
                changes.append(.fires(Self.signal(objective, key, rule, at: now)))
            } else if firing.contains(key), !isAwaited(key, budget, at: now) {
                firing.remove(key)
                unknownSince[key] = nil
                changes.append(.resolves(alert: objective.alertName, subject: objective.subject(key.group)))
            }
        }
        for key in firing where known[key.objective] == nil || series[key] == nil {
            firing.remove(key)
            unknownSince[key] = nil
            let objective = Objective(name: key.objective, indicator: .up, goal: 0.5)
            changes.append(.resolves(alert: objective.alertName, subject: Self.subject(key)))
        }
        return changes
    }

    /// Whether a budget that burned keeps its state because nothing is known now, as after a restart, for a while: a
    /// stream that plays on has no further starts, and one that is no longer configured has nothing.
    private mutating func isAwaited(_ key: Key, _ budget: BudgetSeries, at now: Timestamp) -> Bool {
        guard budget.sums(minutes: 5, at: latest).total == 0 else {
            unknownSince[key] = nil
            return false
        }
        let since = unknownSince[key] ?? now.instant
        unknownSince[key] = since
        return since.duration(to: now.instant) < AlertEngine.longestUnknown
    }

    private static func subject(_ key: Key) -> String {
        key.group.isEmpty ? key.objective : "\(key.objective) \(key.group)"
    }

    private static func burns(_ budget: BudgetSeries, _ rule: Rule, _ objective: Objective, at time: WallTime) -> Bool {
        let least = if case .startWithin = objective.indicator { leastStarts } else { leastSeconds }
        // Of a month, an hour says little: half of the long window must be known.
        guard budget.age(at: time) >= rule.long / 2, budget.sums(minutes: rule.long, at: time).total >= least else {
            return false
        }
        let limit = rule.rate(days: objective.days)
        return [rule.long, rule.short].allSatisfy { rate(budget, objective, minutes: $0, at: time) ?? 0 >= limit }
    }

    private static func rate(_ budget: BudgetSeries, _ objective: Objective, minutes: Int, at time: WallTime) -> Double?
    {
        let (bad, total) = budget.sums(minutes: minutes, at: time)
        return total > 0 ? bad / total / (1 - objective.goal) : nil
    }

    private static func signal(_ objective: Objective, _ key: Key, _ rule: Rule, at now: Timestamp) -> IncidentSignal {
        let subject = objective.subject(key.group)
        let place = key.group.isEmpty ? "" : " for \(objective.groupBy ?? "") \(key.group)"
        var cause = StreamCause(
            .check,
            "The error budget of \(objective.name)\(place) burns too fast",
            since: now.wallTime
        )
        cause.text =
            "In the latest \(rule.long / 60) h, \(objective.name)\(place) has used more than \(Int(rule.share * 100)) % of "
            + "the error budget of \(objective.days) days."
        cause.rule = objective.alertName
        // `stream` and `host` among them, so that a silence or planned work for a stream hides its budget, too.
        var labels = objective.matchers
        if let label = objective.groupBy, !key.group.isEmpty { labels[label] = key.group }
        return IncidentSignal(
            alert: objective.alertName,
            facts: .init(
                condition:
                    "burn rate >= \((rule.rate(days: objective.days) * 10).rounded() / 10) over \(rule.long / 60)h",
                receivers: objective.receivers,
                severity: rule.severity
            ),
            stream: subject,
            labels: labels,
            cause: cause,
            since: now
        )
    }

    // MARK: Showing

    /// The objectives for the page: goal, value, what is left of the budget, and the rates.
    func document(_ objectives: [Objective], at time: WallTime) -> JSONValue {
        var rows: [JSONValue] = []
        for objective in objectives {
            let budgets = series.filter { $0.key.objective == objective.name }.sorted { $0.key.group < $1.key.group }
            for (key, budget) in budgets {
                guard let value = value(budget, objective, at: time) else { continue }
                var row: [String: JSONValue] = [
                    "name": .string(objective.name), "goal": .double(objective.shownGoal),
                    "value": .double(value.good),
                    "budgetLeft": .double(value.left), "days": .int(objective.days),
                    "burning": .bool(firing.contains(key)),
                    "rates": .object(
                        Dictionary(
                            uniqueKeysWithValues: Self.rules.map { rule -> (String, JSONValue) in
                                let rate = Self.rate(budget, objective, minutes: rule.long, at: time)
                                return ("\(rule.long / 60)h", rate.map { .double($0) } ?? .null)
                            }
                        )
                    ),
                ]
                row["by"] = objective.groupBy.map { .string($0) }
                if !key.group.isEmpty { row["group"] = .string(key.group) }
                rows.append(.object(row))
            }
        }
        return .array(rows)
    }

    private func value(_ budget: BudgetSeries, _ objective: Objective, at time: WallTime) -> (
        good: Double, left: Double
    )? {
        let (bad, total) = budget.sums(minutes: objective.days * 1_440, at: time)
        guard total > 0 else { return nil }
        return (1 - bad / total, 1 - bad / total / (1 - objective.goal))
    }

    func write(_ objectives: [Objective], to writer: inout MetricsWriter) {
        guard !objectives.isEmpty else { return }
        let time = latest
        let rows = objectives.flatMap { objective in
            series.filter { $0.key.objective == objective.name }.sorted { $0.key.group < $1.key.group }.map { entry in
                let labels = [("objective", entry.key.objective), ("group", entry.key.group)]
                return (labels: MetricsWriter.labels(labels), objective: objective, budget: entry.value)
            }
        }
        writer.begin("instrument_objective_goal", .gauge, "Share that must be good.")
        for (labels, objective, _) in rows { writer.sample(objective.goal, labels) }
        writer.begin("instrument_objective_value", .gauge, "Share that was good in the days of the objective.")
        for (labels, objective, budget) in rows {
            if let value = value(budget, objective, at: time) { writer.sample(value.good, labels) }
        }
        writer.begin(
            "instrument_objective_budget_left",
            .gauge,
            "Share of the error budget that is left; negative beyond it."
        )
        for (labels, objective, budget) in rows {
            if let value = value(budget, objective, at: time) { writer.sample(value.left, labels) }
        }
        writer.begin(
            "instrument_objective_burn_rate",
            .gauge,
            "Rate at which the budget burns; 1 empties it at the end of its days."
        )
        for (labels, objective, budget) in rows {
            for rule in Self.rules {
                guard let rate = Self.rate(budget, objective, minutes: rule.long, at: time) else { continue }
                writer.sample(rate, labels, MetricsWriter.labels([("window", "\(rule.long / 60)h")]))
            }
        }
    }

    // MARK: Restarts

    /// The budgets to save.
    var saved: JSONValue {
        let rows = series.sorted { ($0.key.objective, $0.key.group) < ($1.key.objective, $1.key.group) }.map {
            key,
            budget in
            JSONValue.object([
                "objective": .string(key.objective), "group": .string(key.group),
                "burning": .bool(firing.contains(key)),
                "begin": budget.begin.map { .int(Int($0.milliseconds)) } ?? .null,
                "levels": .array(budget.saved.map(Self.json)),
            ])
        }
        return .array(rows)
    }

    private static func json(_ points: [[Int]]) -> JSONValue { .array(points.map { .array($0.map { .int($0) }) }) }

    /// Restores ``saved``; entries of another form, and of objectives that are no longer configured, are left out.
    mutating func restore(_ json: JSONValue, _ objectives: [Objective]) {
        guard case .array(let rows) = json else { return }
        let names = Set(objectives.map(\.name))
        for row in rows where series.count < Self.mostSeries {
            guard let objective = row["objective"]?.string, names.contains(objective), let group = row["group"]?.string,
                case .array(let levels)? = row["levels"],
                let budget = BudgetSeries(
                    saved: levels.map(\.lists),
                    begin: row["begin"]?.int.map { WallTime(milliseconds: Int64($0)) }
                )
            else { continue }
            let key = Key(objective: objective, group: group)
            series[key] = budget
            if case .bool(true)? = row["burning"] { firing.insert(key) }
        }
    }
}

extension JSONValue {
    /// Lists of whole numbers; another form becomes an empty list, which no budget has.
    fileprivate var lists: [[Int]] {
        guard case .array(let list) = self else { return [[]] }
        return list.map { if case .array(let numbers) = $0 { numbers.compactMap(\.int) } else { [] } }
    }
}

extension Objective {
    /// The goal in documents: without the digits that a percentage has as a binary number.
    var shownGoal: Double { (goal * 1e9).rounded() / 1e9 }

    /// The name of the alert of the burn rate.
    var alertName: String { "objective \(name)" }

    /// What the incident shows in place of a stream.
    func subject(_ group: String) -> String { group.isEmpty ? name : "\(name) \(group)" }

    fileprivate func covers(_ stream: WatchedStream) -> Bool { stream.matches(matchers) }

    fileprivate func group(of stream: WatchedStream) -> String {
        switch groupBy {
        case nil: ""
        case "stream"?: stream.name
        case "host"?: stream.url.host
        case .some(let label): stream.labels[label] ?? ""
        }
    }
}

package import Instrument
package import InstrumentJSON
internal import InstrumentText
package import InstrumentWatch

/// What a month was like: the objectives day by day, and the incidents.
package struct MonthReport: Hashable, Sendable {
    /// One budget of an objective.
    package struct Budget: Hashable, Sendable {
        package let objective: Objective
        /// The value of the label; empty for a budget of all streams.
        package let group: String
        /// What was good and bad on each day of the period; nil for a day of which nothing is known.
        package let days: [BudgetSeries.Day?]

        /// The sums of all days.
        package let sum: BudgetSeries.Day

        init(_ objective: Objective, group: String, days: [BudgetSeries.Day?]) {
            (self.objective, self.group, self.days) = (objective, group, days)
            sum = days.reduce(into: BudgetSeries.Day()) { sum, day in
                sum.bad += day?.bad ?? 0
                sum.total += day?.total ?? 0
            }
        }

        /// The share that was good; nil if nothing is known.
        package var value: Double? { sum.total > 0 ? 1 - sum.bad / sum.total : nil }
        /// The share of the error budget of the period that is left; negative beyond it.
        package var left: Double? { value.map { 1 - (1 - $0) / (1 - objective.goal) } }
        package var isMet: Bool? { value.map { $0 >= objective.goal } }

        /// The share of the period's error budget that a day took.
        package func cost(of day: BudgetSeries.Day) -> Double {
            let budget = sum.total * (1 - objective.goal)
            return budget > 0 ? day.bad / budget : 0
        }

        /// What is left of the period's budget at the end of each day.
        package var course: [Double] {
            var left = 1.0
            return days.map { day in
                left -= day.map(cost) ?? 0
                return left
            }
        }
    }

    /// An incident of the period.
    package struct Outage: Hashable, Sendable {
        package let id: String
        package let title: String
        /// The cause without what is different each time.
        package let cause: String
        package let severity: AlertSeverity
        package let begin: WallTime
        /// Nil while it lasts.
        package let end: WallTime?
        package let streamCount: Int
        /// What it cost viewers in the period; it may have begun before, and end later.
        package let viewerMinutes: Double
        package let labels: [String: String]
        /// Who has it, or had it at its end.
        package let owner: String?
        /// The time from its begin until somebody took it; nil if nobody did.
        package let takenAfter: Duration?

        /// How long it lasted, or has lasted.
        package func length(until now: WallTime) -> Duration {
            .milliseconds(max(0, (end ?? now).milliseconds.saturatingSubtract(begin.milliseconds)))
        }
    }

    /// The incidents of one cause.
    package struct Cause: Hashable, Sendable {
        package let title: String
        package internal(set) var count = 0
        package internal(set) var viewerMinutes = 0.0
    }

    package let period: ReportPeriod
    /// When the report was made.
    package let time: WallTime
    /// The budgets, those with the least left first.
    package let budgets: [Budget]
    /// The incidents, those that cost viewers most first.
    package let outages: [Outage]
    /// Of earlier incidents of the period, the monitor keeps none; nil if it keeps all.
    package let isWholeSince: WallTime?

    /// The incidents by cause, those that cost viewers most first.
    package var causes: [Cause] {
        var causes: [String: Cause] = [:]
        for outage in outages {
            causes[outage.cause, default: Cause(title: outage.cause)].count += 1
            causes[outage.cause]?.viewerMinutes += outage.viewerMinutes
        }
        return causes.values.sorted { ($1.viewerMinutes, $1.count, $0.title) < ($0.viewerMinutes, $0.count, $1.title) }
    }

    /// The minutes of viewers in trouble, if each stream had one viewer all the time.
    package var viewerMinutes: Double { outages.reduce(0) { $0 + $1.viewerMinutes } }

    /// The median time from the begin of an incident to the person who takes it.
    package var timeToTake: Duration? { Self.median(outages.compactMap(\.takenAfter)) }

    /// The median time from the begin of an incident to its end.
    package var timeToRestore: Duration? {
        Self.median(outages.filter { $0.end != nil }.map { $0.length(until: time) })
    }

    /// The median by nearest rank, as everywhere in this project: a time that occurred.
    static func median(_ durations: [Duration]) -> Duration? {
        let sorted = durations.sorted()
        return sorted.isEmpty ? nil : sorted[(sorted.count - 1) / 2]
    }
}

extension MonthReport {
    /// Creates the report of a period.
    package init(_ period: ReportPeriod, of model: MonitorModel, at now: Timestamp) {
        let (book, objectives) = (model.book, model.configuration.objectives)
        let budgets = objectives.flatMap { objective in
            model.objectives.series.filter { $0.key.objective == objective.name }.map { key, series in
                MonthReport.Budget(objective, group: key.group, days: series.days(period.days))
            }
        }
        let known = book.order.compactMap { book.incidents[$0] }
        let closed = known.filter(\.isClosed)
        // That a budget burns is what the incidents of its streams cost: it is in the budget's days.
        let burning = Set(objectives.map(\.alertName))
        let outages = known.filter { incident in
            !burning.isSuperset(of: incident.alerts.keys) && incident.since.wallTime < period.span.upperBound
                && incident.ended ?? now.wallTime >= period.span.lowerBound
        }
        let oldest = closed.count < IncidentBook.mostClosed ? nil : closed.compactMap(\.ended).min()
        self.init(
            period: period,
            time: now.wallTime,
            budgets: budgets.filter { $0.value != nil }.sorted {
                ($0.left ?? 1, $0.objective.name, $0.group) < ($1.left ?? 1, $1.objective.name, $1.group)
            },
            outages: outages.map { MonthReport.Outage($0, in: period.span, at: now) }.sorted {
                ($1.viewerMinutes, $0.begin, $0.id) < ($0.viewerMinutes, $1.begin, $1.id)
            },
            isWholeSince: oldest.flatMap { $0 > period.span.lowerBound ? $0 : nil }
        )
    }
}

extension MonthReport.Outage {
    fileprivate init(_ incident: Incident, in period: Range<WallTime>, at now: Timestamp) {
        (id, title, severity) = (incident.id, incident.title, incident.severity)
        cause = incident.isOwnNetwork ? incident.title : incident.cause.title
        (begin, end) = (incident.since.wallTime, incident.ended)
        (streamCount, labels) = (incident.streamCount, incident.sharedLabels)
        viewerMinutes = incident.viewerMinutes(in: period, at: now)
        owner = incident.acknowledgement?.by
        takenAfter = incident.log.first { $0.kind == "acknowledge" }.map { entry in
            .milliseconds(max(0, entry.time.milliseconds.saturatingSubtract(incident.since.wallTime.milliseconds)))
        }
    }
}

extension MonthReport {
    /// The report for programs. Shares are from 0 to 1; days without a value are null.
    package var document: JSONValue {
        var members: [String: JSONValue] = [
            "period": .string(period.title), "begin": .string(period.span.lowerBound.rfc3339),
            "end": .string(period.span.upperBound.rfc3339), "time": .string(time.rfc3339),
            "objectives": .array(budgets.map(\.json)), "incidents": .array(outages.map { $0.json(until: time) }),
            "causes": .array(
                causes.map {
                    [
                        "title": .string($0.title), "incidents": .int($0.count),
                        "viewerMinutes": .double($0.viewerMinutes.tenths),
                    ]
                }
            ),
            "viewerMinutes": .double(viewerMinutes.tenths),
        ]
        members["timeToAcknowledge"] = timeToTake.map { .double($0.seconds) }
        members["timeToRestore"] = timeToRestore.map { .double($0.seconds) }
        members["incidentsSince"] = isWholeSince.map { .string($0.rfc3339) }
        return .object(members)
    }
}

extension MonthReport.Budget {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(objective.name), "goal": .double(objective.shownGoal),
            "days": .array(days.map { day in day.map { .double(1 - $0.bad / $0.total) } ?? .null }),
        ]
        members["value"] = value.map { .double($0) }
        members["budgetLeft"] = left.map { .double($0) }
        members["met"] = isMet.map { .bool($0) }
        members["by"] = objective.groupBy.map { .string($0) }
        if !group.isEmpty { members["group"] = .string(group) }
        return .object(members)
    }
}

extension MonthReport.Outage {
    fileprivate func json(until now: WallTime) -> JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(id), "title": .string(title), "severity": .string(severity.rawValue),
            "since": .string(begin.rfc3339), "seconds": .double(length(until: now).seconds),
            "streamCount": .int(streamCount), "viewerMinutes": .double(viewerMinutes.tenths),
            "labels": .object(labels.mapValues { .string($0) }),
        ]
        members["ended"] = end.map { .string($0.rfc3339) }
        members["by"] = owner.map { .string($0) }
        members["acknowledgedAfter"] = takenAfter.map { .double($0.seconds) }
        return .object(members)
    }
}

extension Double {
    fileprivate var tenths: Double { (self * 10).rounded() / 10 }
}

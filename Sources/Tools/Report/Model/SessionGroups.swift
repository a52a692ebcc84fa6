internal import Instrument
internal import InstrumentQuality

/// The figures of sessions by one or more of their properties: of each CDN, of each stream and host.
package struct SessionGroups: Sendable {
    /// The largest number of groups; the sessions of further ones are one group.
    package static let most = 500

    /// A group with the figures of its sessions.
    package struct Group: Sendable {
        /// The values of the dimensions, in their order; empty texts where the sessions have none. Nil for the
        /// sessions of all further groups.
        package let values: [String]?
        /// The sessions that the recorded ones stand for.
        package fileprivate(set) var counts = SessionCounts()
        fileprivate var startTimes: [WeightedValue] = []
        fileprivate var bitrates: [WeightedValue] = []
        fileprivate var playTime = 0.0
        fileprivate var rebufferTime = 0.0

        fileprivate init(_ values: [String]?) { self.values = values }

        /// The values with one text in place of an empty one.
        package var names: [String] { values.map { $0.map { $0.isEmpty ? "–" : $0 } } ?? ["further groups"] }
        /// Sessions that failed, before the start or after it.
        package var failures: Int { counts.startFailures.saturatingAdd(counts.playbackFailures) }
        /// The median start time in seconds; nil without values.
        package var startTime: Double? { startTimes.quantile(0.5) }
        /// The median of the average bitrates in Mbit/s; nil without values.
        package var bitrate: Double? { bitrates.quantile(0.5) }
        /// The share of stalls in per cent of the time of all sessions; nil if they never played.
        package var rebufferRatio: Double? {
            let all = playTime + rebufferTime
            return all > 0 ? 100 * rebufferTime / all : nil
        }

        fileprivate mutating func add(_ session: ReportSession, _ sums: QualitySession) {
            counts.add(session, sums, weight: sums.weight)
            func weighted(_ measure: Measure) -> WeightedValue? {
                session.values[measure.position].map { WeightedValue(value: $0, weight: sums.weight) }
            }
            if let value = weighted(.startTime) { startTimes.append(value) }
            if let value = weighted(.bitrate) { bitrates.append(value) }
            let weight = Double(sums.weight)
            playTime += weight * (session.values[Measure.playTime.position] ?? 0)
            rebufferTime += weight * (session.values[Measure.rebufferTime.position] ?? 0)
        }
    }

    /// What the groups differ in; empty for a report without groups.
    package let dimensions: [SessionDimension]
    private var groups: [[String]: Group] = [:]
    private var others = Group(nil)

    init(by dimensions: [SessionDimension]) { self.dimensions = dimensions }

    mutating func add(_ session: ReportSession, _ sums: QualitySession) {
        if dimensions.isEmpty { return }
        let values = dimensions.map { $0.value(of: session) }
        guard groups[values] != nil || groups.count < Self.most else { return others.add(session, sums) }
        groups[values, default: Group(values)].add(session, sums)
    }

    /// The groups: those with the largest share of failures first, then by name; further groups last.
    package var sorted: [Group] {
        let share = { (group: Group) in Double(group.failures) / Double(max(1, group.counts.sessions)) }
        let known = groups.values.map { (group: $0, share: share($0)) }.sorted { first, second in
            if first.share != second.share { return first.share > second.share }
            return (first.group.values ?? []).lexicographicallyPrecedes(second.group.values ?? [])
        }
        return known.map(\.group) + (others.counts.sessions > 0 ? [others] : [])
    }
}

internal import Instrument
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension ManifestVersion {
    /// The end of a timeline that a live MPD must extend as time passes.
    package struct Edge: Hashable, Sendable, Identifiable {
        /// The place of the timeline in the MPD: the same in each version of it.
        package var name: String
        /// The presentation time at which the listed segments end, in nanoseconds.
        package var end: Int64
        /// The longest time for which the end may stay the same, in nanoseconds: the duration of a segment, and the
        /// time for which the MPD is valid where that is longer.
        package var patience: Int64
        /// The line of the timeline.
        package var line: Int
        /// The same as long as the timeline does not grow.
        package var id: String { "\(name) \(end)" }
    }

    /// The time since `@availabilityStartTime`, in nanoseconds; nil without one.
    var elapsed: Int64? { availabilityStart.map { utcTime.nanoseconds(since: $0) } }

    /// The timelines of pictures and sound that have to grow now.
    ///
    /// Segments that follow from the time alone (`@duration`, `@r` below 0) need no new MPD. A timeline that fills its
    /// period is complete, and one of a period that is announced for later does not grow yet.
    static func edges(of manifest: ManifestVersion) -> [Edge] {
        guard manifest.isDynamic, let update = manifest.updatePeriod else { return [] }
        let elapsed = manifest.elapsed ?? .max
        let current = manifest.periods.indices.last { index in
            manifest.periods[index].start <= elapsed && !manifest.periods[index].sets.isEmpty
        }
        guard let current else { return [] }
        let period = manifest.periods[current]
        let timelines = manifest.timelines.filter { $0.period == current }
        let usual = manifest.timelines.map(\.longest).max() ?? 0
        return timelines.enumerated().compactMap { place, timeline -> Edge? in
            guard timeline.isMedia, let end = timeline.presentationEnd(in: period) else { return nil }
            let longest = timeline.entries.isEmpty ? usual : timeline.longest
            if let last = period.end, last.saturatingSubtract(end) < max(longest, 1) { return nil }
            return Edge(
                name: "\((period.element["id"] ?? String(period.start)).excerpt()) \(place)",
                end: end,
                patience: update > longest ? update.saturatingAdd(longest) : longest,
                line: timeline.line
            )
        }
    }
}

extension ManifestVersion.Timeline {
    /// The presentation time at which the listed segments end, in nanoseconds; nil where only time says it.
    func presentationEnd(in period: ManifestVersion.Period) -> Int64? {
        if entries.isEmpty { return period.start }
        return end.map { period.start.saturatingAdd($0.saturatingSubtract(offset).nanoseconds(timescale: timescale)) }
    }
}

package import Instrument
package import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentText
package import InstrumentXML

/// An MPD as it was fetched.
package struct ManifestVersion: Sendable {
    /// The address after redirects.
    package let url: HTTPURL
    /// The instant at which the response was complete.
    package let fetched: Timestamp
    /// The server's clock (`Date`); nil without one.
    package let serverTime: WallTime?
    /// The clock that the MPD names, as it was read before the MPD; nil without a reading.
    package let clock: ClockReading?
    /// The root element, `MPD`.
    package let root: MarkupElement
    /// The periods with their places in time, without those that have none yet.
    package let periods: [Period]
    /// The timelines of all periods.
    package let timelines: [Timeline]
    /// The timelines that have to grow at the time of the fetch.
    package private(set) var edges: [Edge] = []
    /// Whether a duration of the presentation or a period, or a number from which the times or the addresses of
    /// segments follow, is written and cannot be read, which has a rule.
    package private(set) var hasUnreadableTimes = false

    /// A period with its place in time, in nanoseconds of the presentation.
    package struct Period: Hashable, Sendable {
        /// The element.
        package var element: MarkupElement
        /// The start: as written, else the end of the period before, else 0.
        package var start: Int64
        /// The end: from `@duration`, else the start of the next period, else the end of the presentation.
        package var end: Int64?

        /// The sets of representations; none in a period that is only announced.
        var sets: NamedElements { element.all("AdaptationSet") }
    }

    /// A `SegmentTimeline` with what it inherits. Times are ticks.
    package struct Timeline: Hashable, Sendable {
        /// An `S` element.
        package struct Entry: Hashable, Sendable {
            /// The start of the first segment: `@t`, else the end of the entry before.
            package var start: Int64
            /// Whether `@t` is written.
            package var hasStart: Bool
            /// The duration of each segment.
            package var duration: Int64
            /// How many segments the entry stands for; nil up to the next entry or the end of the period (`@r` below
            /// 0).
            package var count: Int64?
            /// The line of the element.
            package var line: Int
            /// The end of the last segment; nil where only time says it.
            package var end: Int64? { count.map { start.saturatingAdd(duration.saturatingMultiply($0)) } }
        }

        /// The position of the period.
        package var period: Int
        /// The identifiers of the representations that use the timeline.
        package var representations: [String] = []
        /// Ticks of a second.
        package var timescale: Int64
        /// The tick at which the period starts (`@presentationTimeOffset`).
        package var offset: Int64
        /// The entries in their order.
        package var entries: [Entry]
        /// Whether the segments have pictures or sound. Subtitles and events may have gaps.
        package var isMedia: Bool
        /// The line of the element.
        package var line: Int

        /// The duration of the longest segment, in nanoseconds.
        package var longest: Int64 { (entries.map(\.duration).max() ?? 0).nanoseconds(timescale: timescale) }

        /// The tick at which the listed segments end; nil where only time says it.
        package var end: Int64? { entries.last?.end }
    }

    /// Reads the structure of an MPD.
    package init(
        url: HTTPURL,
        fetched: Timestamp,
        serverTime: WallTime?,
        clock: ClockReading? = nil,
        root: MarkupElement
    ) {
        self.url = url
        self.fetched = fetched
        self.serverTime = serverTime
        self.clock = clock
        self.root = root
        periods = Self.periods(root)
        timelines = Self.timelines(periods)
        edges = Self.edges(of: self)
        hasUnreadableTimes =
            Self.isUnreadable("mediaPresentationDuration", of: root)
            || root.all("Period").contains {
                Self.isUnreadable("duration", of: $0) || Self.isUnreadable("start", of: $0)
            }
            || segmentElements.contains { element in
                ["duration", "timescale"].contains { element[$0] != nil && (element.integer($0) ?? 0) <= 0 }
                    || ["startNumber", "endNumber", "presentationTimeOffset"].contains { name in
                        // More digits than 64 bits hold count as the largest number.
                        element[name] != nil && !(0..<Int64.max).contains(element.integer(name) ?? -1)
                    }
            }
    }

    private static func isUnreadable(_ name: String, of element: MarkupElement) -> Bool {
        element[name] != nil && element.duration(name) == nil
    }

    /// Whether the MPD is live.
    package var isDynamic: Bool { root["type"] == "dynamic" }

    /// Whether a recording says nowhere when it ends.
    package var lacksDuration: Bool {
        !isDynamic && root["minimumUpdatePeriod"] == nil && root["mediaPresentationDuration"] == nil
            && periods.last?.element["duration"] == nil
    }

    /// `@publishTime`.
    package var publishTime: WallTime? { root.word("publishTime").flatMap { CalendarText.wallTime($0) } }

    /// `@availabilityStartTime`.
    package var availabilityStart: WallTime? {
        root.word("availabilityStartTime").flatMap { CalendarText.wallTime($0) }
    }

    /// `@minimumUpdatePeriod` in nanoseconds.
    package var updatePeriod: Int64? { root.duration("minimumUpdatePeriod") }

    /// The clock of `UTCTiming` with the scheme `direct`; nil without one.
    package var directTime: WallTime? {
        root.all("UTCTiming").first { $0["schemeIdUri"]?.hasPrefix("urn:mpeg:dash:utc:direct:") == true }?["value"]
            .flatMap { CalendarText.wallTime($0) }
    }

    /// The time of the fetch by the clock that the MPD names; nil without an answer.
    package var clockTime: WallTime? { clock?.offset.map { fetched.wallTime.advanced(nanoseconds: $0) } }

    /// The time by the best clock there is: `UTCTiming`, the server's, the machine's.
    package var utcTime: WallTime { directTime ?? clockTime ?? serverTime ?? fetched.wallTime }
}

extension ManifestVersion {
    private static func periods(_ root: MarkupElement) -> [Period] {
        var periods: [Period] = []
        for element in root.all("Period") {
            // A period without a known start is announced without a place in time (clause 5.3.2.1).
            guard let start = element.duration("start") ?? (periods.isEmpty ? 0 : periods.last?.end) else { continue }
            if let last = periods.indices.last, periods[last].end == nil { periods[last].end = start }
            let end = element.duration("duration").map { start.saturatingAdd($0) }
            periods.append(Period(element: element, start: start, end: end))
        }
        if let last = periods.indices.last, periods[last].end == nil {
            periods[last].end = root.duration("mediaPresentationDuration")
        }
        return periods
    }

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

extension ManifestVersion {
    /// The elements that describe segments, at all levels.
    var segmentElements: [MarkupElement] {
        let names = ["SegmentTemplate", "SegmentList", "SegmentBase"]
        func described(_ element: MarkupElement) -> [MarkupElement] { names.flatMap { element.all($0) } }
        return root.all("Period").flatMap { period -> [MarkupElement] in
            described(period)
                + period.all("AdaptationSet").flatMap { set in
                    described(set) + set.all("Representation").flatMap(described)
                }
        }
    }
}

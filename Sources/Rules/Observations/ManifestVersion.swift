public import Instrument
public import InstrumentHTTP
internal import InstrumentManifests
public import InstrumentXML

/// An MPD as it was fetched.
public struct ManifestVersion: Sendable {
    /// The address after redirects.
    public let url: HTTPURL
    /// The instant at which the response was complete.
    public let fetched: Timestamp
    /// The server's clock (`Date`); nil without one.
    public let serverTime: WallTime?
    /// The root element, `MPD`.
    public let root: MarkupElement
    /// The periods with their places in time.
    public let periods: [Period]
    /// The timelines of all periods.
    public let timelines: [Timeline]

    /// A period with its place in time, in nanoseconds of the presentation.
    public struct Period: Hashable, Sendable {
        /// The element.
        public var element: MarkupElement
        /// The start: as written, else the end of the period before, else 0.
        public var start: Int64
        /// The end: from `@duration`, else the start of the next period, else the end of the presentation.
        public var end: Int64?
    }

    /// A `SegmentTimeline` with what it inherits. Times are ticks.
    public struct Timeline: Hashable, Sendable {
        /// An `S` element.
        public struct Entry: Hashable, Sendable {
            /// The start of the first segment: `@t`, else the end of the entry before.
            public var start: Int64
            /// Whether `@t` is written.
            public var hasStart: Bool
            /// The duration of each segment.
            public var duration: Int64
            /// How many segments the entry stands for; nil up to the next entry or the end of the period (`@r` below
            /// 0).
            public var count: Int64?
            /// The line of the element.
            public var line: Int
            /// The end of the last segment; nil where only time says it.
            public var end: Int64? { count.map { start.saturatingAdd(duration.saturatingMultiply($0)) } }
        }

        /// The position of the period.
        public var period: Int
        /// Ticks of a second.
        public var timescale: Int64
        /// The tick at which the period starts (`@presentationTimeOffset`).
        public var offset: Int64
        /// The entries in their order.
        public var entries: [Entry]
        /// The line of the element.
        public var line: Int

        /// The duration of the longest segment, in nanoseconds.
        public var longest: Int64 { (entries.map(\.duration).max() ?? 0).nanoseconds(timescale: timescale) }

        /// The tick at which the listed segments end; nil where only time says it.
        public var end: Int64? { entries.last?.end }
    }

    /// Reads the structure of an MPD.
    public init(url: HTTPURL, fetched: Timestamp, serverTime: WallTime?, root: MarkupElement) {
        self.url = url
        self.fetched = fetched
        self.serverTime = serverTime
        self.root = root
        periods = Self.periods(root)
        timelines = Self.timelines(periods)
    }

    /// Whether the MPD is live.
    public var isDynamic: Bool { root["type"] == "dynamic" }

    /// `@publishTime`.
    public var publishTime: WallTime? { root.word("publishTime").flatMap { CalendarText.wallTime($0) } }

    /// `@availabilityStartTime`.
    public var availabilityStart: WallTime? {
        root.word("availabilityStartTime").flatMap { CalendarText.wallTime($0) }
    }

    /// `@minimumUpdatePeriod` in nanoseconds.
    public var updatePeriod: Int64? { root.duration("minimumUpdatePeriod") }

    /// The clock of `UTCTiming` with the scheme `direct`; nil without one.
    public var directTime: WallTime? {
        root.all("UTCTiming").first { $0["schemeIdUri"]?.hasPrefix("urn:mpeg:dash:utc:direct:") == true }?["value"]
            .flatMap { CalendarText.wallTime($0) }
    }

    /// The time by the best clock there is: `UTCTiming`, the server's, the machine's.
    public var utcTime: WallTime { directTime ?? serverTime ?? fetched.wallTime }

    /// The presentation time at which the listed segments end, in nanoseconds: nil without a timeline that says it.
    public var edge: Int64? {
        timelines.compactMap { timeline in
            timeline.end.map { end in
                periods[timeline.period].start.saturatingAdd(
                    end.saturatingSubtract(timeline.offset).nanoseconds(timescale: timeline.timescale)
                )
            }
        }.max()
    }
}

extension ManifestVersion {
    private static func periods(_ root: MarkupElement) -> [Period] {
        var periods: [Period] = []
        for element in root.all("Period") {
            let start = element.duration("start") ?? periods.last?.end ?? 0
            if let last = periods.indices.last, periods[last].end == nil { periods[last].end = start }
            let end = element.duration("duration").map { start.saturatingAdd($0) }
            periods.append(Period(element: element, start: start, end: end))
        }
        if let last = periods.indices.last, periods[last].end == nil {
            periods[last].end = root.duration("mediaPresentationDuration")
        }
        return periods
    }

    /// Each timeline once, even if several representations inherit it.
    private static func timelines(_ periods: [Period]) -> [Timeline] {
        var timelines: [Timeline] = []
        for (position, period) in periods.enumerated() {
            var known: Set<Int> = []
            for set in period.element.all("AdaptationSet") {
                for representation in set.all("Representation") {
                    let levels = [representation, set, period.element]
                    guard let found = timeline(levels), known.insert(found.line).inserted else { continue }
                    timelines.append(read(found, levels, position))
                }
            }
        }
        return timelines
    }

    private static let kinds = ["SegmentTemplate", "SegmentList"]

    private static func timeline(_ levels: [MarkupElement]) -> MarkupElement? {
        for level in levels {
            for kind in kinds { if let found = level.first(kind)?.first("SegmentTimeline") { return found } }
        }
        return nil
    }

    private static func read(_ element: MarkupElement, _ levels: [MarkupElement], _ period: Int) -> Timeline {
        func inherited(_ name: String) -> Int64? {
            for level in levels {
                for kind in kinds { if let value = level.first(kind)?.integer(name) { return value } }
            }
            return nil
        }
        var entries: [Timeline.Entry] = []
        var next: Int64? = 0
        for entry in element.all("S") {
            guard let duration = entry.integer("d"), duration > 0 else { continue }
            let written = entry.integer("t")
            let repeats = entry.word("r") ?? "0"
            let count = repeats.hasPrefix("-") ? nil : (DecimalText.integer(repeats) ?? 0).saturatingAdd(1)
            entries.append(
                Timeline.Entry(
                    start: written ?? next ?? 0,
                    hasStart: written != nil,
                    duration: duration,
                    count: count,
                    line: entry.line
                )
            )
            next = entries.last?.end
        }
        return Timeline(
            period: period,
            timescale: max(1, inherited("timescale") ?? 1),
            offset: inherited("presentationTimeOffset") ?? 0,
            entries: entries,
            line: element.line
        )
    }
}

internal import Foundation
package import Instrument
internal import InstrumentText

/// Planned work on some streams: once, or on days of the week.
package struct MaintenanceWindow: Hashable, Sendable {
    /// The time of a window.
    package enum Time: Hashable, Sendable {
        /// From a time to a later one.
        case once(from: WallTime, to: WallTime)
        /// On days of the week, from a time of day to another, in a time zone.
        case weekly(Weekly)
    }

    /// A window that is repeated.
    ///
    /// The clock on the wall of the place decides: on the day on which summer time begins, a window from 02:00 to 04:00
    /// lasts one hour, and on the day on which it ends three.
    package struct Weekly: Hashable, Sendable {
        /// 0 for Sunday to 6 for Saturday; the day on which the window begins.
        package var weekdays: Set<Int>
        /// Minutes since midnight.
        package var start: Int
        /// Minutes since midnight. A window that ends at or before its start ends on the next day.
        package var end: Int
        /// The name of the zone in the IANA database.
        package var location: String

        /// Creates a window.
        package init(weekdays: Set<Int>, start: Int, end: Int, location: String) {
            (self.weekdays, self.start, self.end, self.location) = (weekdays, start, end, location)
        }
    }

    /// The name, for people.
    package var name: String
    /// Labels that a stream must have; `stream` and `host` are known, too. Empty for all streams.
    package var matchers: [String: String] = [:]
    /// The time.
    package var time: Time
    /// The window's place in the configuration; nil for one that is not from a file.
    package var place: ConfigurationPlace?

    /// Creates a window over all streams.
    package init(name: String, time: Time) { (self.name, self.time) = (name, time) }

    /// Whether the window contains a time.
    package func isActive(at time: WallTime) -> Bool {
        switch self.time {
        case .once(let begin, let end): begin <= time && time < end
        case .weekly(let weekly): weekly.contains(time)
        }
    }

    /// The end of the window that contains a time; nil if none does.
    package func end(at time: WallTime) -> WallTime? {
        guard isActive(at: time) else { return nil }
        return switch self.time {
        case .once(_, let end): end
        case .weekly(let weekly): weekly.end(at: time)
        }
    }
}

extension MaintenanceWindow.Weekly {
    /// Whether a name is that of a zone of the database.
    static func isLocation(_ name: String) -> Bool { TimeZone(identifier: name) != nil }

    /// The milliseconds by which the clock on the wall of a zone is ahead of UTC.
    private static func offset(_ zone: TimeZone, at milliseconds: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))) * 1_000
    }

    /// The first time at which the clock on the wall shows the end, or has skipped it.
    fileprivate func end(at time: WallTime) -> WallTime? {
        guard let zone = TimeZone(identifier: location) else { return nil }
        let offset = Self.offset(zone, at: time.milliseconds)
        let local = time.milliseconds.saturatingAdd(offset)
        let day = local.flooredQuotientAndRemainder(dividingBy: 86_400_000)
        let isNextDay = start >= end && Int(day.remainder / 60_000) >= start
        let wall = (day.quotient + (isNextDay ? 1 : 0)) * 86_400_000 + Int64(end) * 60_000
        // Between now and then, summer time may begin or end, or the clock may skip the end itself.
        let latest = wall - offset
        let known = wall - Self.offset(zone, at: latest)
        guard known < latest, Self.offset(zone, at: known) == offset,
            let change = zone.nextDaylightSavingTimeTransition(
                after: Date(timeIntervalSince1970: Double(known) / 1_000)
            )
        else { return WallTime(milliseconds: known) }
        return WallTime(milliseconds: min(latest, Int64(change.timeIntervalSince1970 * 1_000)))
    }

    fileprivate func contains(_ time: WallTime) -> Bool {
        guard let zone = TimeZone(identifier: location) else { return false }
        let local = time.milliseconds.saturatingAdd(Self.offset(zone, at: time.milliseconds))
        let (day, rest) = local.flooredQuotientAndRemainder(dividingBy: 86_400_000)
        // 1970-01-01 was a Thursday.
        let weekday = Int((day + 4).flooredQuotientAndRemainder(dividingBy: 7).remainder)
        let minute = Int(rest / 60_000)
        if start < end { return weekdays.contains(weekday) && (start..<end).contains(minute) }
        let before = (weekday + 6) % 7
        return weekdays.contains(weekday) && minute >= start || weekdays.contains(before) && minute < end
    }
}

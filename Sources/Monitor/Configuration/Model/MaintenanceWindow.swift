internal import Foundation
public import Instrument
internal import InstrumentText

/// Planned work on some streams: once, or on days of the week.
public struct MaintenanceWindow: Hashable, Sendable {
    /// The time of a window.
    public enum Time: Hashable, Sendable {
        /// From a time to a later one.
        case once(from: WallTime, to: WallTime)
        /// On days of the week, from a time of day to another, in a time zone.
        case weekly(Weekly)
    }

    /// A window that is repeated.
    ///
    /// The clock on the wall of the place decides: on the day on which summer time begins, a window from 02:00 to 04:00
    /// lasts one hour, and on the day on which it ends three.
    public struct Weekly: Hashable, Sendable {
        /// 0 for Sunday to 6 for Saturday; the day on which the window begins.
        public var weekdays: Set<Int>
        /// Minutes since midnight.
        public var start: Int
        /// Minutes since midnight. A window that ends at or before its start ends on the next day.
        public var end: Int
        /// The name of the zone in the IANA database.
        public var location: String

        /// Creates a window.
        public init(weekdays: Set<Int>, start: Int, end: Int, location: String) {
            (self.weekdays, self.start, self.end, self.location) = (weekdays, start, end, location)
        }
    }

    /// The name, for people.
    public var name: String
    /// Labels that a stream must have; `stream` and `host` are known, too. Empty for all streams.
    public var matchers: [String: String] = [:]
    /// The time.
    public var time: Time

    /// Creates a window over all streams.
    public init(name: String, time: Time) { (self.name, self.time) = (name, time) }

    /// Whether the window contains a time.
    public func isActive(at time: WallTime) -> Bool {
        switch self.time {
        case .once(let begin, let end): begin <= time && time < end
        case .weekly(let weekly): weekly.contains(time)
        }
    }
}

extension MaintenanceWindow.Weekly {
    private static let minutesOfDay = 1_440

    /// Whether a name is that of a zone of the database.
    static func isLocation(_ name: String) -> Bool { TimeZone(identifier: name) != nil }

    fileprivate func contains(_ time: WallTime) -> Bool {
        guard let zone = TimeZone(identifier: location) else { return false }
        let date = Date(timeIntervalSince1970: Double(time.milliseconds) / 1_000)
        let local = time.milliseconds.saturatingAdd(Int64(zone.secondsFromGMT(for: date)) * 1_000)
        let (day, rest) = local.flooredQuotientAndRemainder(dividingBy: 86_400_000)
        // 1970-01-01 was a Thursday.
        let weekday = Int((day + 4).flooredQuotientAndRemainder(dividingBy: 7).remainder)
        let minute = Int(rest / 60_000)
        if start < end { return weekdays.contains(weekday) && (start..<end).contains(minute) }
        let before = (weekday + 6) % 7
        return weekdays.contains(weekday) && minute >= start || weekdays.contains(before) && minute < end
    }
}

package import Instrument

extension WallTime {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// 1970-01-01 was a Thursday.
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// `Sun, 06 Nov 1994 08:49:37` and the zone: the date of headers, in whole seconds and in UTC. HTTP writes the zone
    /// as `GMT` (RFC 9110, section 5.6.7), mail as `+0000` (RFC 5322, section 3.3).
    package func internetDate(zone: String) -> String {
        let date = date
        let day = Self.days[Int(date.daysSince1970.flooredQuotientAndRemainder(dividingBy: 7).remainder)]
        let calendar = "\(date.day.padded(2)) \(Self.months[date.month - 1]) \(date.year.padded(4))"
        return "\(day), \(calendar) \(timeOfDay.prefix(8)) \(zone)"
    }
}

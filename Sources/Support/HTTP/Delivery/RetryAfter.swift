package import Instrument

/// The `Retry-After` header (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// The delay that the server asks for; nil without a valid value.
    ///
    /// Seconds are digits and nothing else; `inf`, negative and broken numbers are absent. So are 0 and dates that are
    /// not in the future: with those the sender's own delay is the kinder one. There is no upper bound but that of
    /// `Duration`.
    package static func delay(_ value: String?, now: WallTime) -> Duration? {
        guard let value, !value.isEmpty else { return nil }
        let delay = value.utf8.allSatisfy(\.isDigit) ? seconds(value) : untilDate(value, now: now)
        return delay.flatMap { $0 > .zero ? $0 : nil }
    }

    /// Numbers of any length are a very long time.
    private static func seconds(_ digits: String) -> Duration { .seconds(Int32(digits) ?? .max) }

    private static func untilDate(_ text: String, now: WallTime) -> Duration? {
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        let (difference, overflow) = date.milliseconds.subtractingReportingOverflow(now.milliseconds)
        return overflow ? nil : .milliseconds(difference)
    }
}

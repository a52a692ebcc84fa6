internal import ArgumentParser
internal import Instrument
internal import InstrumentText

/// A time of an option: `500ms`, `30s`, `1.5m`, `2h`, `7d`, or a number of seconds. The one type for all times.
package struct DurationOption: ExpressibleByArgument, Hashable, Sendable, CustomStringConvertible {
    /// The duration.
    package let duration: Duration

    /// Creates an option from a duration.
    package init(_ duration: Duration) { self.duration = duration }

    /// Reads a duration; nil for any other text.
    package init?(argument: String) {
        guard let duration = Self.duration(argument) else { return nil }
        self.duration = duration
    }

    /// The accepted forms, for messages.
    package static let forms = "a time has a unit, as in 500ms, 5s, 2m or 1h; a number alone is in seconds"

    /// A message of the parser about a wrong value, with the accepted forms if the value is a time: options of this
    /// type have the value name `time`.
    static func addingForms(to message: String) -> String {
        message.lowercased().hasSuffix(" <time>'") ? "\(message): \(forms)" : message
    }

    /// Refuses a time outside of `range`.
    ///
    /// - Parameter option: the name of the option with its hyphens.
    package func validate(_ option: String, in range: ClosedRange<Duration>) throws {
        if range.contains(duration) { return }
        let (least, most) = (DurationOption(range.lowerBound), DurationOption(range.upperBound))
        throw ValidationError("\(option) must be between \(least) and \(most) (found \(self))")
    }

    /// Refuses a time of zero.
    ///
    /// - Parameter option: the name of the option with its hyphens.
    package func validatePositive(_ option: String) throws {
        if duration <= .zero { throw ValidationError("\(option) must be above 0s (found \(self))") }
    }

    /// The time in seconds, as `--help` shows it.
    package var description: String { "\(duration.seconds.formattedShort)s" }
    package var defaultValueDescription: String { description }

    private static func duration(_ text: String) -> Duration? {
        if let duration = DurationText.duration(text) { return duration }
        return DurationText.number(text).flatMap { $0 < 1e9 ? .seconds($0) : nil }
    }
}

extension Double {
    fileprivate var formattedShort: String { self == rounded() ? String(Int(self)) : String(self) }
}

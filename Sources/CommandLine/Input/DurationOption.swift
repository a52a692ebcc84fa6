internal import ArgumentParser
internal import Instrument
internal import InstrumentText

/// A duration of an option: `30s`, `500ms`, `1.5m`, `2h`, `7d`, or a number of seconds.
package struct DurationOption: ExpressibleByArgument, Hashable, Sendable {
    /// The duration.
    package let duration: Duration

    /// Creates an option from a duration.
    package init(_ duration: Duration) { self.duration = duration }

    /// Reads a duration; nil for any other text.
    package init?(argument: String) {
        guard let duration = Self.duration(argument) else { return nil }
        self.duration = duration
    }

    /// The text of the duration as `--help` shows it.
    package var defaultValueDescription: String { "\(duration.seconds.formattedShort)s" }

    private static func duration(_ text: String) -> Duration? {
        if let duration = DurationText.duration(text) { return duration }
        return DurationText.number(text).flatMap { $0 < 1e9 ? .seconds($0) : nil }
    }
}

extension Double {
    fileprivate var formattedShort: String { self == rounded() ? String(Int(self)) : String(self) }
}

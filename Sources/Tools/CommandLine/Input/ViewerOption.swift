internal import ArgumentParser

/// What the viewer does during a playback, as `AT=…`: each time as ``DurationOption`` reads it.
package struct ViewerOption: Hashable {
    package enum Action: Hashable {
        /// Seeks to a position, from the start of the media.
        case seek(to: Duration)
        /// Pauses for some time.
        case pause(for: Duration)
        /// Plays at this rate from then on; 1 is the normal one.
        case setRate(Double)
    }

    /// The rates that browsers play at (Chromium, `HTMLMediaElement::setPlaybackRate`).
    package static let rates = 0.0625...16

    /// The time of the action, since the playback was requested.
    package var time: Duration
    package var action: Action

    /// Reads a seek, for the `transform` of an option.
    @Sendable package static func seek(_ argument: String) throws -> ViewerOption {
        try read(argument, "a seek must be AT=TO, two times such as 10s=1m or 10=60") { value in
            DurationOption(argument: value).map { .seek(to: $0.duration) }
        }
    }

    /// Reads a pause, for the `transform` of an option.
    @Sendable package static func pause(_ argument: String) throws -> ViewerOption {
        try read(argument, "a pause must be AT=LENGTH, two times such as 10s=5s or 10=5") { value in
            DurationOption(argument: value).map { .pause(for: $0.duration) }
        }
    }

    /// Reads a change of the rate, for the `transform` of an option.
    @Sendable package static func rate(_ argument: String) throws -> ViewerOption {
        let range = "\(rates.lowerBound) to \(Int(rates.upperBound))"
        return try read(argument, "a rate must be AT=RATE, a time and a factor of \(range) such as 10s=1.5") { value in
            Double(value).flatMap { rates.contains($0) ? .setRate($0) : nil }
        }
    }

    private static func read(
        _ argument: String,
        _ expected: String,
        _ action: (String) -> Action?
    ) throws -> ViewerOption {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let time = DurationOption(argument: parts[0]), let action = action(parts[1]) else {
            throw ValidationError("\(expected) (found '\(argument)')")
        }
        return ViewerOption(time: time.duration, action: action)
    }
}

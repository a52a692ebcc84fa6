internal import ArgumentParser

/// A seek during playback, as `AT=TO`, both times as ``DurationOption`` reads them.
package struct SeekOption: ExpressibleByArgument, Hashable {
    /// The time of the seek, since the playback was requested.
    package var time: Duration
    /// The position that the seek goes to, from the start of the media.
    package var target: Duration

    /// Reads a seek, for the `transform` of an option.
    @Sendable package static func read(_ argument: String) throws -> SeekOption {
        guard let option = SeekOption(argument: argument) else {
            throw ValidationError("a seek must be AT=TO, two times such as 10s=1m or 10=60")
        }
        return option
    }

    package init?(argument: String) {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
            .map { DurationOption(argument: String($0)) }
        guard parts.count == 2, let time = parts[0], let target = parts[1] else { return nil }
        (self.time, self.target) = (time.duration, target.duration)
    }
}

/// How a VLC is watched.
package struct VLCRemoteConfiguration: Hashable, Sendable {
    /// Sent as `trackerTarget`.
    package var name: String
    /// Whether to wait for a player that is not there yet, or has gone; otherwise watching ends with it.
    package var waitsForPlayer: Bool
    /// The delay between two questions, which is a part of the error of each instant.
    package var interval: Duration
    /// The delay between two attempts to reach a player that is not there.
    package var retryDelay: Duration
    /// The time limit of an answer. A player that answers nothing for so long has gone.
    package var answerTimeout: Duration

    /// Creates a configuration.
    package init(
        name: String = "vlc",
        waitsForPlayer: Bool = false,
        interval: Duration = .milliseconds(200),
        retryDelay: Duration = .seconds(1),
        answerTimeout: Duration = .seconds(10)
    ) {
        self.name = name
        self.waitsForPlayer = waitsForPlayer
        self.interval = max(.milliseconds(10), interval)
        self.retryDelay = max(.milliseconds(10), retryDelay)
        self.answerTimeout = max(.milliseconds(10), answerTimeout)
    }
}

/// The reason why a VLC cannot be watched.
package struct VLCRemoteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; an open set.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        package let description: String

        /// Creates a code; codes with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// The address is not `PORT` or `HOST:PORT`.
        package static let badAddress = Code("badAddress")
    }

    /// The kind of the error.
    package let code: Code
    /// The event and the remedy.
    package let description: String
}

/// How watching ended.
package enum VLCRemoteEnding: Hashable, Sendable {
    /// The player went away.
    case playerWentAway(reason: String)
    /// No player was there, or the player does not let us in.
    case notThere(reason: String)
    /// It was ended by ``VLCRemotePlayer/close()``.
    case closed
}

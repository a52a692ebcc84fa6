/// How a VLC is watched.
public struct VLCRemoteConfiguration: Hashable, Sendable {
    /// Sent as `trackerTarget`.
    public var name: String
    /// Whether to wait for a player that is not there yet, or has gone; otherwise watching ends with it.
    public var waitsForPlayer: Bool
    /// The delay between two questions, which is a part of the error of each instant.
    public var interval: Duration
    /// The delay between two attempts to reach a player that is not there.
    public var retryDelay: Duration
    /// The time limit of an answer. A player that answers nothing for so long has gone.
    public var answerTimeout: Duration

    /// Creates a configuration.
    public init(
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
public struct VLCRemoteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String

        /// Creates a code; codes with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// The address is not `PORT` or `HOST:PORT`.
        public static let badAddress = Code("badAddress")
    }

    /// The kind of the error.
    public let code: Code
    /// The event and the remedy.
    public let description: String
}

/// How watching ended.
public enum VLCRemoteEnding: Hashable, Sendable {
    /// The player went away.
    case playerWentAway(reason: String)
    /// No player was there, or the player does not let us in.
    case notThere(reason: String)
    /// It was ended by ``VLCRemotePlayer/close()``.
    case closed
}

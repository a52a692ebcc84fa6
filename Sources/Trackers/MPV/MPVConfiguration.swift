/// How an mpv is watched.
public struct MPVConfiguration: Hashable, Sendable {
    /// Sent as `trackerTarget`.
    public var name: String
    /// Whether to wait for a player that is not there yet, or has gone; otherwise watching ends with it.
    public var waitsForPlayer: Bool
    /// The delay before the second attempt to connect; doubles up to `maxRetryDelay`.
    public var retryDelay: Duration
    /// The longest wait between two attempts.
    public var maxRetryDelay: Duration
    /// The time limit of an answer. The session disconnects from a player that answers nothing after the connection.
    public var answerTimeout: Duration
    /// The maximum length of a line in bytes; longer lines are skipped.
    public var maxLineLength: Int

    /// Creates a configuration; by default it waits for the player, looking every 250 ms and at last every 2 s.
    public init(
        name: String = "mpv",
        waitsForPlayer: Bool = true,
        retryDelay: Duration = .milliseconds(250),
        maxRetryDelay: Duration = .seconds(2),
        answerTimeout: Duration = .seconds(2),
        maxLineLength: Int = 1 << 20
    ) {
        self.name = name
        self.waitsForPlayer = waitsForPlayer
        self.retryDelay = max(.milliseconds(1), retryDelay)
        self.maxRetryDelay = max(self.retryDelay, maxRetryDelay)
        self.answerTimeout = max(.milliseconds(1), answerTimeout)
        self.maxLineLength = max(1024, maxLineLength)
    }

    /// The wait before attempt number `attempt` + 1, from 1.
    func delay(afterAttempt attempt: Int) -> Duration {
        min(maxRetryDelay, retryDelay * (1 << min(max(0, attempt - 1), 20)))
    }
}

/// An mpv to be started.
public struct MPVLaunch: Hashable, Sendable {
    /// The program: a path, or a name that is looked for in `PATH`.
    package var program: String
    /// The arguments, for example options and files.
    package var arguments: [String]

    /// Creates a launch.
    public init(program: String = "mpv", arguments: [String]) {
        self.program = program
        self.arguments = arguments
    }
}

extension MPVLaunch: CustomStringConvertible, CustomReflectable {
    /// The program alone: its arguments may be addresses with credentials.
    public var description: String { "\(program) with \(arguments.count) arguments" }
    /// Shows no more than the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why an mpv cannot be watched.
public struct MPVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String

        /// Creates a code; codes with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// The socket's path is too long for an address of the system (107 bytes on Linux).
        public static let pathTooLong = Code("pathTooLong")
        /// The program could not be started.
        public static let cannotStart = Code("cannotStart")
    }

    /// The kind of the error.
    public let code: Code
    /// The event and the remedy.
    public let description: String
}

/// How watching ended.
public enum MPVEnding: Hashable, Sendable {
    /// The player went away.
    case playerWentAway
    /// No player was listening.
    case notThere(reason: String)
    /// It was ended by ``MPVPlayer/close()``.
    case closed
}

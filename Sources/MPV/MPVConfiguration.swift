/// How an mpv is watched.
public struct MPVConfiguration: Hashable, Sendable {
    /// Sent as `trackerTarget`.
    public var name: String
    /// Whether to wait for a player that is not there yet, or has gone; otherwise watching ends with it.
    public var waitsForPlayer: Bool
    /// How long to wait before the second attempt to connect; doubles up to `maxRetryDelay`.
    public var retryDelay: Duration
    /// The longest wait between two attempts.
    public var maxRetryDelay: Duration
    /// How long the player may take to answer. One that answers nothing at all after connecting is let go of.
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
    public var program: String
    /// The arguments, for example options and files.
    public var arguments: [String]

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

/// Why an mpv cannot be watched.
public struct MPVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: Hashable, Sendable {
        /// The socket's path does not fit into an address of the system's (107 bytes on Linux).
        case pathTooLong
        /// The program could not be started.
        case cannotStart
    }

    /// What is wrong.
    public let code: Code
    /// What happened and what to do.
    public let description: String
}

/// Something about the connection that is worth knowing.
public enum MPVDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// A player answers.
    case connected
    /// A playback was under way when we came: its `StreamLoad` and `Start` carry `joinedLate`.
    case joinedLate
    /// No player listens at the socket; reported once until a player does.
    case notThere(reason: String)
    /// The connection ended.
    case disconnected(reason: String)
    /// A line was not a message of the protocol and was skipped. Reported for the first 16 such lines of a connection.
    case badLine(reason: String)
    /// A request was not answered in time; the signals that depend on it were reported without the answer.
    case unanswered

    /// A line for a log.
    public var description: String {
        switch self {
        case .connected: "connected to the player"
        case .joinedLate: "joined a playback that had begun before"
        case .notThere(let reason): "no player there: \(reason)"
        case .disconnected(let reason): "the player's connection ended: \(reason)"
        case .badLine(let reason): "skipped a malformed line of the player: \(reason)"
        case .unanswered: "the player did not answer in time"
        }
    }
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

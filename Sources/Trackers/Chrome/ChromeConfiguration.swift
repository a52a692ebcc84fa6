/// How a Chromium is watched.
public struct ChromeConfiguration: Hashable, Sendable {
    /// Sent as `trackerTarget`.
    public var name: String
    /// Whether to wait for a browser that is not there yet, or has gone; otherwise watching ends with it.
    public var waitsForBrowser: Bool
    /// Whether each request of a page for a manifest or a segment is an event (`RequestFinish`).
    public var reportsRequests: Bool
    /// The delay between two attempts to connect.
    public var retryDelay: Duration
    /// The time limit of the connection to a port.
    public var connectTimeout: Duration
    /// The maximum length of a message in bytes; longer ones are skipped.
    public var maxMessageLength: Int

    /// Creates a configuration.
    public init(
        name: String = "chrome",
        waitsForBrowser: Bool = false,
        reportsRequests: Bool = false,
        retryDelay: Duration = .seconds(1),
        connectTimeout: Duration = .seconds(10),
        maxMessageLength: Int = 8 << 20
    ) {
        self.name = name
        self.waitsForBrowser = waitsForBrowser
        self.reportsRequests = reportsRequests
        self.retryDelay = max(.milliseconds(10), retryDelay)
        self.connectTimeout = max(.milliseconds(10), connectTimeout)
        self.maxMessageLength = max(1 << 16, maxMessageLength)
    }
}

/// A Chromium to be started, without a window and with a profile that ends with it.
public struct ChromeLaunch: Hashable, Sendable {
    /// The names under which distributions install Chromium.
    package static let programs = [
        "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge",
    ]

    /// The program: a path, or a name that is looked for in `PATH`; nil for the first of `programs` that is there.
    package var program: String?
    /// Further options of the browser.
    package var arguments: [String]
    /// The folder for the profile; nil for the system's folder for temporary files.
    package var folder: String?

    /// Creates a launch.
    public init(program: String? = nil, arguments: [String] = [], folder: String? = nil) {
        self.program = program
        self.arguments = arguments
        self.folder = folder
    }
}

extension ChromeLaunch: CustomStringConvertible, CustomReflectable {
    /// The program alone: options may be addresses with credentials.
    public var description: String { "\(program ?? "chromium") with \(arguments.count) arguments" }
    /// Shows no more than the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why a Chromium cannot be watched.
public struct ChromeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String

        /// Creates a code; codes with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// The address is not `PORT` or `HOST:PORT`.
        public static let badAddress = Code("badAddress")
        /// No program of the name is installed.
        public static let notInstalled = Code("notInstalled")
        /// The program could not be started.
        public static let cannotStart = Code("cannotStart")
    }

    /// The kind of the error.
    public let code: Code
    /// The event and the remedy.
    public let description: String
}

/// How watching ended.
public enum ChromeEnding: Hashable, Sendable {
    /// The browser went away.
    case browserWentAway(reason: String)
    /// No browser was there.
    case notThere(reason: String)
    /// It was ended by ``ChromeBrowser/close()``.
    case closed
}

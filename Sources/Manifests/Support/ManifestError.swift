public import InstrumentHTTP

/// Why a manifest cannot be played, and what to do. It names no secrets and may be printed.
public struct ManifestError: Error, Hashable, Sendable {
    /// What is wrong; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String
        /// Creates a code.
        public init(_ description: String) { self.description = description }

        /// It is neither an HLS playlist nor an MPD.
        public static let notAManifest = Code("notAManifest")
        /// It breaks a rule of its format that playing depends on.
        public static let malformed = Code("malformed")
        /// It is larger than the limits allow.
        public static let limitExceeded = Code("limitExceeded")
        /// It refers to something that is neither `http` nor `https`.
        public static let referenceRefused = Code("referenceRefused")
        /// It needs something that is not supported, such as digital rights management.
        public static let unsupported = Code("unsupported")
        /// A reload does not belong to what it should continue.
        public static let unrelatedReload = Code("unrelatedReload")
        /// The task in which it was read was cancelled.
        public static let cancelled = Code("cancelled")
    }

    /// What is wrong.
    public var code: Code
    /// What happened and what to do, for people.
    public var message: String
    /// The line, counted from 1; nil where no single line is to blame.
    public var line: Int?
    /// The manifest's address without user, password, query and fragment.
    public var url: String?

    /// Creates an error.
    public init(_ code: Code, _ message: String, line: Int? = nil, url: HTTPURL? = nil) {
        self.code = code
        self.message = message
        self.line = line
        self.url = url?.description
    }
}

extension ManifestError {
    /// Ends the reading of a large manifest once its task is cancelled. Outside of a task it does nothing.
    static func checkCancellation() throws(ManifestError) {
        if Task.isCancelled {
            throw ManifestError(.cancelled, "the manifest was not read to its end: its task is cancelled")
        }
    }

    /// The same with the manifest's address.
    func at(_ url: HTTPURL) -> ManifestError {
        var error = self
        error.url = url.description
        return error
    }
}

extension ManifestError: CustomStringConvertible {
    /// The redacted address with the line, the code and the message.
    public var description: String {
        let place = (url ?? "") + (line.map { ":\($0)" } ?? "")
        return (place.isEmpty ? "" : place + ": ") + "\(code): \(message)"
    }
}

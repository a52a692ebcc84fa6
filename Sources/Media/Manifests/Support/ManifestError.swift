package import InstrumentHTTP

/// The reason why a manifest cannot be played, and what to do. Contains no secrets.
package struct ManifestError: Error, Hashable, Sendable {
    /// The kind of an error; an open set.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        package let description: String
        /// Creates a code.
        package init(_ description: String) { self.description = description }

        /// The resource is neither an HLS playlist nor an MPD.
        package static let notAManifest = Code("notAManifest")
        /// The manifest breaks a rule of its format that playback depends on.
        package static let malformed = Code("malformed")
        /// The manifest exceeds a limit.
        package static let limitExceeded = Code("limitExceeded")
        /// The manifest refers to an address that is neither `http` nor `https`.
        package static let referenceRefused = Code("referenceRefused")
        /// The manifest needs a feature that is not supported, for example digital rights management.
        package static let unsupported = Code("unsupported")
        /// A reloaded manifest does not continue the earlier one.
        package static let unrelatedReload = Code("unrelatedReload")
        /// The task that parsed the manifest was cancelled.
        package static let cancelled = Code("cancelled")
    }

    /// The kind of the error.
    package var code: Code
    /// The message for people: the value that was found, the expected value, and the remedy.
    package var message: String
    /// The line, counted from 1; nil where no single line is wrong.
    package var line: Int?
    /// The manifest's address without user, password, query and fragment.
    package var url: String?
    /// The elements of an MPD that are elsewhere and were not loaded; with them, the MPD may be in order.
    package var missingElements: [HTTPURL] = []
    /// The defects that are the reason of the error; empty where the message says all.
    package var causes: [ManifestNotice] = []

    /// Creates an error.
    package init(_ code: Code, _ message: String, line: Int? = nil, url: HTTPURL? = nil) {
        self.code = code
        self.message = message
        self.line = line
        self.url = url?.description
    }
}

extension ManifestError {
    /// Throws if the current task is cancelled, so that parsing of a large manifest ends early.
    static func checkCancellation() throws(ManifestError) {
        if Task.isCancelled {
            throw ManifestError(.cancelled, "parsing of the manifest ended early because the task was cancelled")
        }
    }

    /// Returns the same error with the manifest's address.
    func at(_ url: HTTPURL) -> ManifestError {
        var error = self
        error.url = url.description
        return error
    }
}

extension ManifestError: CustomStringConvertible {
    /// The redacted address with the line, the code and the message.
    package var description: String {
        let place = (url ?? "") + (line.map { ":\($0)" } ?? "")
        return (place.isEmpty ? "" : place + ": ") + "\(code): \(message)"
    }
}

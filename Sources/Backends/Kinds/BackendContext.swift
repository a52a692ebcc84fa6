public import Instrument
public import InstrumentHTTP

/// What a command line gives a backend that it makes.
public struct BackendContext: Sendable {
    /// The limits of a file of samples.
    package struct FileLimits: Hashable, Sendable {
        /// The size at which the file is rotated, in bytes; nil without a limit.
        package var maxBytes: Int64?
        /// How long rotated files are kept; nil without a limit.
        package var retention: Duration?

        package init(maxBytes: Int64? = nil, retention: Duration? = nil) {
            (self.maxBytes, self.retention) = (maxBytes, retention)
        }
    }

    /// The credentials that the user named; nil if the user named none, or if the kind has no credentials.
    public let credentials: BackendCredentials?
    /// The directory for what the backend keeps beside its queue; nil if nothing survives the process.
    public let directory: String?
    /// Receives diagnostics; may be called on any thread.
    public let report: @Sendable (_ diagnostic: Diagnostic) -> Void
    /// Writes whole lines to standard output, above a line of progress; false if not all bytes could be written.
    ///
    /// The backend escapes what a terminal interprets. May be called on any thread, and may block.
    public let write: @Sendable (_ lines: [UInt8]) -> Bool
    /// Writes a line to standard error; may be called on any thread.
    package let note: @Sendable (_ line: String) -> Void
    package let fileLimits: FileLimits
    private let kind: BackendKind
    private let makeTransport: @Sendable () throws -> any HTTPTransport

    package init(
        for kind: BackendKind,
        credentials: BackendCredentials?,
        directory: String?,
        fileLimits: FileLimits,
        transport: @escaping @Sendable () throws -> any HTTPTransport,
        report: @escaping @Sendable (Diagnostic) -> Void,
        note: @escaping @Sendable (String) -> Void,
        write: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        (self.kind, self.credentials, self.directory) = (kind, credentials, directory)
        (self.fileLimits, makeTransport) = (fileLimits, transport)
        (self.report, self.note, self.write) = (report, note, write)
    }

    /// Returns the credentials, or throws an error that names the option and the form.
    public func requiredCredentials() throws(BackendKindError) -> BackendCredentials {
        if let credentials { return credentials }
        let form = kind.credentials?.text ?? "the credentials"
        throw BackendKindError(
            "\(kind.name) requires --credentials-from: set a variable to \(form), and name it, as in "
                + "--credentials-from \(kind.name.uppercased())"
        )
    }

    /// Creates a transport for HTTP whose requests name the program and its version.
    public func transport() throws -> any HTTPTransport { try makeTransport() }
}

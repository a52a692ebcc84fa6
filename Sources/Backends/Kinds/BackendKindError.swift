/// Why a command line cannot use a backend.
public struct BackendKindError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text that was found, the expected text, and the remedy. Contains no secret.
    public let description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
}

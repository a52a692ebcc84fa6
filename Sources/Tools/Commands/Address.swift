internal import ArgumentParser
internal import InstrumentBackendKinds
internal import InstrumentHTTP

/// Addresses of streams and monitors on the command line.
enum Address {
    /// Reads an address. The error says that `http://` is missing if that is all that is missing.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - owner: what the message begins with: the name of the option or argument.
    static func read(_ text: String, of owner: String) throws(ValidationError) -> HTTPURL {
        do throws(BackendKindError) { return try HTTPURL(address: text, of: owner) } catch {
            throw ValidationError(error.description)
        }
    }
}

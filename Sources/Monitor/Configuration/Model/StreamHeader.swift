package import InstrumentBackendKinds
internal import InstrumentHTTP

/// A header of all requests for a stream.
package struct StreamHeader: Hashable, Sendable {
    /// The value, or where it is.
    package enum Value: Hashable, Sendable {
        /// The value; never a secret.
        case literal(String)
        /// A secret that the configuration does not contain.
        case secret(SecretReference)
    }

    /// The largest number of headers of a stream.
    static let most = 32

    /// The name as written.
    package var name: String
    /// The value, or where it is.
    package var value: Value

    /// The reason why a stream cannot have a header with this name and value, and whether the value is secret by the
    /// name; the reason never repeats the value.
    static func check(_ name: String, _ value: String) -> (problem: String?, isSecret: Bool) {
        if ClientHeaders.reserved.contains(name.lowercased()) {
            return ("`headers` cannot set `\(name)`, which the monitor sets for each request; remove it.", false)
        }
        var headers = HTTPHeaders()
        do throws(HTTPError) { try headers.add(name, value) } catch {
            return ("`headers` has a header that cannot be sent: \(error.message).", false)
        }
        return (nil, headers.fields.first?.isSecret ?? false)
    }
}

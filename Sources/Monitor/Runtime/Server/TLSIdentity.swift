internal import Instrument
internal import InstrumentSockets
internal import InstrumentTLS

/// The certificate and the key of the server, which may be replaced while it runs: connections that stand keep theirs.
package final class TLSIdentity: Sendable {
    /// Why a certificate cannot be used.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    private let current: Lock<TLSContext>

    /// Reads the PEM files of a certificate, with those between it and its authority, and of its key.
    package init(certificate: String, key: String) throws(Failure) {
        current = Lock(try Self.read(certificate, key))
    }

    /// Reads the files again; after a failure, the certificate stays that of before.
    package func reload(certificate: String, key: String) throws(Failure) {
        let new = try Self.read(certificate, key)
        current.withLock { $0 = new }
    }

    /// What people should know of the certificate: that it has expired, or will within a week. Nil for a good one.
    package var warning: String? {
        guard let left = context.secondsLeft, left < 7 * 86_400 else { return nil }
        if left < 0 { return "the certificate of --listen has expired; clients refuse it: renew it" }
        return "the certificate of --listen expires in \(left / 3_600) hours; renew it"
    }

    var context: TLSContext { current.withLock { $0 } }

    private static func read(_ certificate: String, _ key: String) throws(Failure) -> TLSContext {
        do throws(SocketError) { return try TLSContext.server(certificate: certificate, key: key) } catch {
            throw Failure(description: error.description)
        }
    }
}

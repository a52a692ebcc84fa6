internal import COpenSSL
internal import Instrument
package import InstrumentSockets

/// One side of a TLS connection over memory: bytes of the network go in and come out, and no call waits.
///
/// Used by one thread at a time.
package final class TLSEngine {
    private let context: TLSContext
    private let session: OpaquePointer
    /// What came from the network, and what goes there. The session owns both.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    /// Creates the client's side of a connection.
    /// - Parameters:
    ///   - context: the context of clients.
    ///   - host: the name or address that the server's certificate must have.
    package init(_ context: TLSContext, host: String) throws(SocketError) {
        (session, incoming, outgoing) = try Self.session(context)
        self.context = context
        SSL_set_connect_state(session)
        // An address is not sent as a server's name (RFC 6066, section 3).
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) != 1 {
            SSL_set1_host(session, host)
            var name = Array(host.utf8CString)
            SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
        }
    }

    /// Creates the server's side of a connection.
    /// - Parameter context: the context of a server.
    package init(accepting context: TLSContext) throws(SocketError) {
        (session, incoming, outgoing) = try Self.session(context)
        self.context = context
        SSL_set_accept_state(session)
    }

    deinit { SSL_free(session) }

    private static func session(
        _ context: TLSContext
    ) throws(SocketError) -> (OpaquePointer, OpaquePointer, OpaquePointer) {
        guard let session = SSL_new(context.handle) else { throw error("TLS cannot be set up") }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
            SSL_free(session)
            throw error("TLS cannot be set up")
        }
        SSL_set_bio(session, incoming, outgoing)
        return (session, incoming, outgoing)
    }

    /// Continues the handshake; whether it is complete.
    package func continueHandshake() throws(SocketError) -> Bool {
        ERR_clear_error()
        let result = SSL_do_handshake(session)
        if result == 1 { return true }
        if isWaiting(result) { return false }
        let verdict = SSL_get_verify_result(session)
        if !context.isServer, verdict != Int(X509_V_OK) {
            let words = X509_verify_cert_error_string(verdict).map { String(cString: $0) } ?? "\(verdict)"
            throw SocketError("the server's certificate is not accepted: \(words)")
        }
        throw Self.error("the TLS handshake failed")
    }

    /// Takes bytes from the network.
    package func receive(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { BIO_write(incoming, $0.baseAddress, Int32(clamping: $0.count)) }
            // Memory takes everything; without memory the handshake or the next message fails.
            if count <= 0 { return }
            rest = rest.dropFirst(Int(count))
        }
    }

    /// Bytes for the network.
    package func takeOutgoing() -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = BIO_read(outgoing, &piece, Int32(piece.count))
            if count <= 0 { return bytes }
            bytes += piece.prefix(Int(count))
        }
    }

    /// Encrypts bytes for the network.
    package func encrypt(_ bytes: [UInt8]) throws(SocketError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            ERR_clear_error()
            let count = rest.withUnsafeBytes { SSL_write(session, $0.baseAddress, Int32(clamping: $0.count)) }
            if count <= 0 { throw Self.error("the TLS connection broke") }
            rest = rest.dropFirst(Int(count))
        }
    }

    /// The decrypted bytes from the network.
    package func decrypt() throws(SocketError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            ERR_clear_error()
            let count = SSL_read(session, &piece, Int32(piece.count))
            if count > 0 {
                bytes += piece.prefix(Int(count))
            } else if isWaiting(count) {
                return bytes
            } else if bytes.isEmpty {
                throw Self.error(
                    context.isServer ? "the client ended the TLS connection" : "the server ended the TLS connection"
                )
            } else {
                // The next call says so again.
                return bytes
            }
        }
    }

    /// Ends this side of the connection; the bytes for the other side are in ``takeOutgoing()``.
    package func shutDown() {
        ERR_clear_error()
        SSL_shutdown(session)
    }

    private func isWaiting(_ result: Int32) -> Bool {
        let error = SSL_get_error(session, result)
        return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE
    }

    static func error(_ text: String) -> SocketError {
        let number = ERR_get_error()
        if number == 0 { return SocketError(text) }
        let words = ERR_reason_error_string(number).map { String(cString: $0) } ?? "\(number)"
        return SocketError("\(text) (\(words))")
    }
}

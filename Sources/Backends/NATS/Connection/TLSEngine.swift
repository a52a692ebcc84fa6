internal import COpenSSL
internal import Instrument
internal import InstrumentBackends
internal import InstrumentSockets

/// The client's side of a TLS connection over memory: bytes of the network go in and come out, and no call waits.
///
/// Used by one thread at a time.
final class TLSEngine {
    private let context: OpaquePointer
    private let session: OpaquePointer
    /// What came from the network, and what goes there. The session owns both.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    /// - Parameters:
    ///   - settings: the files.
    ///   - host: the name or address that the server's certificate must have.
    /// - Throws: `SocketError` if a file cannot be read.
    init(_ settings: TLSFiles, host: String) throws(SocketError) {
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw Self.error("TLS cannot be set up") }
        do throws(SocketError) { try Self.prepare(context, settings) } catch {
            SSL_CTX_free(context)
            throw error
        }
        guard let session = SSL_new(context), let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem())
        else {
            SSL_CTX_free(context)
            throw Self.error("TLS cannot be set up")
        }
        SSL_set_bio(session, incoming, outgoing)
        SSL_set_connect_state(session)
        (self.context, self.session, self.incoming, self.outgoing) = (context, session, incoming, outgoing)
        // An address is not sent as a server's name (RFC 6066, section 3).
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) != 1 {
            SSL_set1_host(session, host)
            var name = Array(host.utf8CString)
            SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
        }
    }

    deinit {
        SSL_free(session)
        SSL_CTX_free(context)
    }

    private static func prepare(_ context: OpaquePointer, _ settings: TLSFiles) throws(SocketError) {
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        if let file = settings.authorityFile {
            guard SSL_CTX_load_verify_locations(context, file, nil) == 1 else {
                throw error("the certificates of authorities cannot be read from \(file)")
            }
        } else {
            SSL_CTX_set_default_verify_paths(context)
        }
        if let file = settings.certificateFile, SSL_CTX_use_certificate_chain_file(context, file) != 1 {
            throw error("the client's certificate cannot be read from \(file)")
        }
        if let file = settings.keyFile, SSL_CTX_use_PrivateKey_file(context, file, SSL_FILETYPE_PEM) != 1 {
            throw error("the key of the client's certificate cannot be read from \(file), or belongs to another one")
        }
    }

    /// Continues the handshake; whether it is complete.
    func continueHandshake() throws(SocketError) -> Bool {
        ERR_clear_error()
        let result = SSL_do_handshake(session)
        if result == 1 { return true }
        if isWaiting(result) { return false }
        let verdict = SSL_get_verify_result(session)
        if verdict != Int(X509_V_OK) {
            let words = X509_verify_cert_error_string(verdict).map { String(cString: $0) } ?? "\(verdict)"
            throw SocketError("the server's certificate is not accepted: \(words)")
        }
        throw Self.error("the TLS handshake failed")
    }

    /// Takes bytes from the network.
    func receive(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { BIO_write(incoming, $0.baseAddress, Int32(clamping: $0.count)) }
            // Memory takes everything; without memory the handshake or the next message fails.
            if count <= 0 { return }
            rest = rest.dropFirst(Int(count))
        }
    }

    /// Bytes for the network.
    func takeOutgoing() -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = BIO_read(outgoing, &piece, Int32(piece.count))
            if count <= 0 { return bytes }
            bytes += piece.prefix(Int(count))
        }
    }

    /// Encrypts bytes for the network.
    func encrypt(_ bytes: [UInt8]) throws(SocketError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            ERR_clear_error()
            let count = rest.withUnsafeBytes { SSL_write(session, $0.baseAddress, Int32(clamping: $0.count)) }
            if count <= 0 { throw Self.error("the TLS connection broke") }
            rest = rest.dropFirst(Int(count))
        }
    }

    /// The decrypted bytes from the network.
    func decrypt() throws(SocketError) -> [UInt8] {
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
                throw Self.error("the server ended the TLS connection")
            } else {
                // The next call says so again.
                return bytes
            }
        }
    }

    private func isWaiting(_ result: Int32) -> Bool {
        let error = SSL_get_error(session, result)
        return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE
    }

    private static func error(_ text: String) -> SocketError {
        let number = ERR_get_error()
        if number == 0 { return SocketError(text) }
        let words = ERR_reason_error_string(number).map { String(cString: $0) } ?? "\(number)"
        return SocketError("\(text) (\(words))")
    }
}

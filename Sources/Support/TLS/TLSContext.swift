internal import COpenSSL
internal import Instrument
package import InstrumentSockets

/// The certificates, keys and rules that TLS connections of one kind share. TLS 1.2 and later; nothing asks a terminal
/// for a passphrase.
///
/// Unchecked: OpenSSL counts references to the handle itself, and nothing changes it after its creation.
package final class TLSContext: @unchecked Sendable {
    let handle: OpaquePointer
    let isServer: Bool

    private init(_ handle: OpaquePointer, isServer: Bool) { (self.handle, self.isServer) = (handle, isServer) }

    deinit { SSL_CTX_free(handle) }

    /// Creates the context of clients, which always check the names and certificates of their servers.
    /// - Parameters:
    ///   - authorities: the file with the certificates of authorities; nil takes the system's.
    ///   - certificate: the file with the client's certificate; nil sends none.
    ///   - key: the file with the key of that certificate.
    package static func client(
        authorities: String? = nil,
        certificate: String? = nil,
        key: String? = nil
    ) throws(SocketError) -> TLSContext {
        let context = try make(TLS_client_method(), isServer: false)
        SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, nil)
        if let authorities {
            guard SSL_CTX_load_verify_locations(context.handle, authorities, nil) == 1 else {
                throw TLSEngine.error("the certificates of authorities cannot be read from \(authorities)")
            }
        } else {
            SSL_CTX_set_default_verify_paths(context.handle)
        }
        if let certificate, SSL_CTX_use_certificate_chain_file(context.handle, certificate) != 1 {
            throw TLSEngine.error("the client's certificate cannot be read from \(certificate)")
        }
        if let key, SSL_CTX_use_PrivateKey_file(context.handle, key, SSL_FILETYPE_PEM) != 1 {
            throw TLSEngine.error(
                "the key of the client's certificate cannot be read from \(key), or belongs to another one"
            )
        }
        return context
    }

    /// Creates the context of a server.
    /// - Parameters:
    ///   - certificate: the PEM file with the server's certificate, then those between it and its authority.
    ///   - key: the PEM file with the key of the certificate, without a passphrase.
    /// - Throws: `SocketError` with what is wrong with which file.
    package static func server(certificate: String, key: String) throws(SocketError) -> TLSContext {
        let context = try make(TLS_server_method(), isServer: true)
        // No renegotiation, which a client could ask for again and again; the server chooses the cipher.
        SSL_CTX_set_options(context.handle, 1 << 30 | 1 << 22)
        ERR_clear_error()
        guard SSL_CTX_use_certificate_chain_file(context.handle, certificate) == 1 else {
            throw TLSEngine.error(
                "the certificate cannot be read from \(certificate); the file must have a certificate in PEM form"
            )
        }
        ERR_clear_error()
        guard SSL_CTX_use_PrivateKey_file(context.handle, key, SSL_FILETYPE_PEM) == 1,
            SSL_CTX_check_private_key(context.handle) == 1
        else {
            throw TLSEngine.error(
                "the key cannot be used from \(key); the file must have, in PEM form and without a passphrase, the key of the "
                    + "certificate in \(certificate)"
            )
        }
        return context
    }

    private static func make(_ method: OpaquePointer?, isServer: Bool) throws(SocketError) -> TLSContext {
        guard let handle = SSL_CTX_new(method) else { throw TLSEngine.error("TLS cannot be set up") }
        SSL_CTX_ctrl(handle, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // OpenSSL would ask the terminal.
        SSL_CTX_set_default_passwd_cb(handle) { _, _, _, _ in 0 }
        return TLSContext(handle, isServer: isServer)
    }

    /// How long the own certificate is still valid, in seconds; negative for one that has expired, nil without a
    /// certificate.
    package var secondsLeft: Int? {
        guard let certificate = SSL_CTX_get0_certificate(handle), let end = X509_get0_notAfter(certificate) else {
            return nil
        }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, nil, end) == 1 else { return nil }
        return Int(days) * 86_400 + Int(seconds)
    }
}

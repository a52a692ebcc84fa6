#if !canImport(Darwin)
internal import InstrumentHTTP
internal import CCurl

extension HTTPError {
    /// An error of libcurl. Its `detail` is repeated only for TLS, where it contains only certificates and hosts.
    init(
        _ result: CURLcode,
        _ detail: String,
        _ url: HTTPURL,
        status: Int?,
        configuration: TransportConfiguration = TransportConfiguration()
    ) {
        let text = String(cString: curl_easy_strerror(result))
        let (code, advice) = Self.meaning(of: result)
        if let failure = ProxyFailure(result, detail, url, configuration) {
            self.init(
                failure.isOfProxy ? .proxy : code,
                failure.message(text, detail),
                url: url,
                status: status,
                underlyingCode: Int(result.rawValue)
            )
            return
        }
        let hasDetail = code == .tls && !detail.isEmpty
        self.init(
            code,
            (hasDetail ? detail : text) + "; " + advice,
            url: url,
            status: status,
            underlyingCode: Int(result.rawValue)
        )
    }

    private static func meaning(of result: CURLcode) -> (Code, String) {
        switch result {
        case CURLE_OPERATION_TIMEDOUT: (.timedOut, "try again later, or allow more time")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            (.nameNotFound, "check the name, and whether there is a network")
        case CURLE_COULDNT_CONNECT, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE,
            CURLE_HTTP2, CURLE_HTTP2_STREAM:
            (.connection, "try again later")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
            CURLE_OK:
            (.malformedResponse, "is it an HTTP server?")
        case CURLE_URL_MALFORMAT: (.invalidURL, "correct the address")
        case CURLE_OUT_OF_MEMORY: (.system, "free some memory; a single header line above 100 KB ends like this, too")
        case let result where isTLS(result): (.tls, "check the server's certificate and the time of this machine")
        default: (.connection, "try again later")
        }
    }

    private static func isTLS(_ result: CURLcode) -> Bool {
        [
            CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
        ].contains(result)
    }
}
#endif

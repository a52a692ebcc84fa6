#if canImport(Darwin) || URLSESSION_CHECK
internal import Foundation
internal import InstrumentHTTP
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension HTTPError {
    /// An error of URLSession.
    init(_ error: any Error, _ url: HTTPURL, status: Int?) {
        let number = (error as? URLError)?.code
        switch number {
        case .cancelled: self = .cancelled(url)
        case .timedOut: self = .timedOut(url, status: status, underlyingCode: number?.rawValue)
        default:
            let (code, message) = Self.meaning(of: number)
            self.init(code, message, url: url, status: status, underlyingCode: number?.rawValue)
        }
    }

    private static func meaning(of number: URLError.Code?) -> (Code, String) {
        switch number {
        case .cannotFindHost, .dnsLookupFailed:
            (.nameNotFound, "the name is not known; check it, and whether there is a network")
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            (.tls, "TLS was not accepted; check the server's certificate and the time of this machine")
        case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
            (.malformedResponse, "what came is no response; is it an HTTP server?")
        case .badURL, .unsupportedURL: (.invalidURL, "the address cannot be used; correct it")
        default: (.connection, "there was no connection, or it broke off; try again later")
        }
    }
}
#endif

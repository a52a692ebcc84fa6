internal import InstrumentTransport

/// The kind of a request's failure, for programs; ``RequestRecord/failure`` is for people.
package enum RequestFailureKind: Hashable, Sendable {
    /// The server answered with a status other than 2xx.
    case status
    /// The answer, or its next byte, did not come in time.
    case timedOut
    /// No connection, or one that broke.
    case connection
    /// The host's name is unknown.
    case nameNotFound
    /// A proxy failed, which says nothing of the server.
    case proxy
    /// The TLS connection failed.
    case tls
    /// The answer is not what was requested, or exceeds a limit.
    case content
    /// The probe refused the address or a redirect.
    case refused
    /// The player no longer needed the resource, which says nothing of the server.
    case cancelled
}

extension RequestFailureKind {
    init(_ failure: ResourceFailure) {
        if failure.isUnwanted {
            self = .cancelled
            return
        }
        if failure.isWrongContent || failure.manifest != nil {
            self = .content
            return
        }
        switch failure.failure {
        case .status: self = .status
        case .timeout: self = .timedOut
        case .connection:
            switch failure.error?.code {
            case .cancelled?: self = .cancelled
            case .nameNotFound?: self = .nameNotFound
            case .proxy?: self = .proxy
            case .tls?: self = .tls
            case .redirectRefused?, .addressRefused?, .invalidURL?, .invalidHeader?: self = .refused
            case .responseTooLarge?, .malformedResponse?, .contentCoding?, .unknownCoding?, .wrongRange?:
                self = .content
            default: self = .connection
            }
        }
    }
}

internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

extension ProbeError {
    /// Creates the playback's error for a request whose retries are used up.
    init(_ failure: ResourceFailure, _ fetching: Fetching, _ source: MediaSource) {
        var status: Int?
        if case .status(let number) = failure.failure { status = number }
        self.init(
            Self.code(of: failure),
            fetching.purpose.phase,
            source,
            failure.message,
            url: fetching.request.url.description,
            status: status ?? failure.error?.status
        )
    }

    private static func code(of failure: ResourceFailure) -> Code {
        if failure.isWrongContent { return .wrongContent }
        if let manifest = failure.manifest {
            switch manifest.code {
            case .unsupported: return .unsupportedStream
            case .referenceRefused: return .refusedAddress
            case .limitExceeded: return .tooLarge
            case .notAManifest: return .wrongContent
            default: return .invalidManifest
            }
        }
        switch failure.failure {
        case .timeout: return .timedOut
        case .status(404), .status(410): return .notFound
        case .status: return .httpStatus
        case .connection: break
        }
        switch failure.error?.code {
        case .proxy: return .proxy
        case .tls: return .tls
        case .responseTooLarge: return .tooLarge
        case .redirectRefused, .addressRefused, .invalidURL: return .refusedAddress
        default: return .connection
        }
    }
}

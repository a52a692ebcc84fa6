internal import InstrumentTransport

/// The default transport of probes: one transport, and so one thread, for the process, and further ones for probes that
/// refuse private addresses or use HTTP/3.
enum SharedTransport {
    /// A limit of connections that is practically never reached, because each probe is a separate viewer.
    static let configuration = TransportConfiguration(maxConnectionsPerHost: 10_000)

    private static let instance = make()
    private static let guarded = make(allowsPrivateAddresses: false)
    private static let modern = make(usesHTTP3: true)
    private static let guardedModern = make(allowsPrivateAddresses: false, usesHTTP3: true)

    static func of(_ configuration: ProbeConfiguration) -> any HTTPTransport {
        if configuration.usesHTTP3 { return configuration.allowsPrivateAddresses ? modern : guardedModern }
        return configuration.allowsPrivateAddresses ? instance : guarded
    }

    private static func make(allowsPrivateAddresses: Bool = true, usesHTTP3: Bool = false) -> any HTTPTransport {
        var configuration = configuration
        (configuration.allowsPrivateAddresses, configuration.usesHTTP3) = (allowsPrivateAddresses, usesHTTP3)
        do throws(HTTPError) {
            return try SystemTransport(configuration)
        } catch {
            return BrokenTransport(error: error)
        }
    }

    /// Throws the reason on each use, if the transport could not be created.
    private struct BrokenTransport: HTTPTransport {
        let error: HTTPError
        func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { throw error }
    }
}

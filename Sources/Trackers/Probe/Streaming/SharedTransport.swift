internal import Instrument
internal import InstrumentTransport

/// The default transport of probes: one transport, and so one thread, for the process, and further ones for probes that
/// connect in another way: refuse private addresses, use HTTP/3 or a proxy.
enum SharedTransport {
    /// A limit of connections that is practically never reached, because each probe is a separate viewer.
    static let configuration = TransportConfiguration(maxConnectionsPerHost: 10_000)

    private static let transports = Lock<[TransportConfiguration: any HTTPTransport]>([:])

    static func of(_ probe: ProbeConfiguration) -> any HTTPTransport {
        var configuration = configuration
        configuration.allowsPrivateAddresses = probe.allowsPrivateAddresses
        configuration.usesHTTP3 = probe.usesHTTP3
        configuration.proxy = probe.usesEnvironmentProxy ? .environment : .none
        configuration.proxyAddress = probe.proxyAddress
        return transports.withLock { transports in
            if let known = transports[configuration] { return known }
            let made = make(configuration)
            transports[configuration] = made
            return made
        }
    }

    private static func make(_ configuration: TransportConfiguration) -> any HTTPTransport {
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

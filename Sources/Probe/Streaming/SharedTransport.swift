internal import InstrumentTransport

/// The default transport of probes: one transport, and so one thread, for the process, and a second one for probes that
/// refuse private addresses.
enum SharedTransport {
    /// A limit of connections that is practically never reached, because each probe is a separate viewer.
    static let configuration = TransportConfiguration(maxConnectionsPerHost: 10_000)

    private static let instance = make(configuration)
    /// Refuses private addresses.
    private static let guarded = {
        var careful = configuration
        careful.allowsPrivateAddresses = false
        return make(careful)
    }()

    static func of(_ configuration: ProbeConfiguration) -> any HTTPTransport {
        configuration.allowsPrivateAddresses ? instance : guarded
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

internal import InstrumentTransport

/// What probes fetch with that were given nothing else: one transport, and so one thread, for all of the process.
enum SharedTransport {
    /// No limit of connections worth the name: each probe is a viewer of its own.
    static let configuration = TransportConfiguration(maxConnectionsPerHost: 10_000)

    static let instance: any HTTPTransport = {
        do throws(HTTPError) {
            return try SystemTransport(configuration)
        } catch {
            return BrokenTransport(error: error)
        }
    }()

    /// Says each time why there is none.
    private struct BrokenTransport: HTTPTransport {
        let error: HTTPError
        func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { throw error }
    }
}

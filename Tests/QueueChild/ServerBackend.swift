import Instrument
import InstrumentBackends
import InstrumentTransport

/// Posts JSON lines to a server, packed by gzip, as a backend of one's own would.
struct ServerBackend: Backend {
    let url: HTTPURL
    let transport: any HTTPTransport
    let name: BackendName = "samples"
    let policy = DeliveryPolicy(maxCount: 100, maxAge: .zero)

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let body = JSONLines.encode(batch.records)
        let request = HTTPRequest(.post, url, body: body, timeout: .milliseconds(100)).gzipped()
        do throws(HTTPError) {
            return DeliveryOutcome(try await transport.send(request), now: SystemClock().wallTime)
        } catch {
            return DeliveryOutcome(error)
        }
    }
}

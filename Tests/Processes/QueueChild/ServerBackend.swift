import Instrument
import InstrumentBackends
import InstrumentTransport
import QueueChildPlan

/// Posts JSON lines to a server, compressed by gzip.
struct ServerBackend: Backend {
    let name: BackendName
    let policy = DeliveryPolicy(maxCount: 100, maxAge: .zero)
    private let url: HTTPURL
    private let transport: any HTTPTransport

    init(_ plan: BackendPlan) throws {
        name = BackendName(plan.name)
        url = try HTTPURL(plan.target)
        transport = try SystemTransport()
    }

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

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

/// A clock on which waiting takes a thousandth of the time, so that minutes of back-off fit into a test.
struct HurriedClock: SchedulingClock {
    private static let factor: Int64 = 1000
    private let clock = SystemClock()

    var now: MonotonicInstant { MonotonicInstant(nanoseconds: clock.now.nanoseconds * Self.factor) }
    var wallTime: WallTime { clock.wallTime }
    var minimumResolution: Duration { .nanoseconds(1000) }

    func sleep(until deadline: MonotonicInstant, tolerance: Duration?) async throws {
        try await clock.sleep(until: real(deadline), tolerance: nil)
    }

    func schedule(at deadline: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        clock.schedule(at: real(deadline), action)
    }

    private func real(_ instant: MonotonicInstant) -> MonotonicInstant {
        // Rounded up: an alarm that rings before its time would be set again and again.
        MonotonicInstant(nanoseconds: instant.nanoseconds / Self.factor + 1)
    }
}

import Dispatch
import Instrument
import InstrumentTransport

/// Signals each delivery, so that a thread can wait for it.
final class SignallingBackend: Backend {
    let name: BackendName
    let policy: DeliveryPolicy
    private let outcomes: Lock<[DeliveryOutcome]>
    private let acknowledged = DispatchSemaphore(value: 0)
    private let body: @Sendable () async -> Bool

    /// - Parameter body: the work of a delivery; false leads to a retry.
    init(
        _ name: BackendName,
        maxAge: Duration,
        first outcomes: [DeliveryOutcome] = [],
        _ body: @escaping @Sendable () async -> Bool = { true }
    ) {
        self.name = name
        policy = DeliveryPolicy(maxAge: maxAge)
        self.outcomes = Lock(outcomes)
        self.body = body
    }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        if let outcome = outcomes.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return outcome }
        guard await body() else { return .retry(after: nil, reason: "it failed") }
        acknowledged.signal()
        return .acknowledged
    }

    /// Blocks until a batch was acknowledged; false after some minutes.
    func waitForDelivery() -> Bool { acknowledged.wait(timeout: .now() + 480) == .success }
}

/// Operations that keep a backend's `deliver` on its lane.
enum Delivery {
    private actor Counter {
        private var count = 0
        func next() -> Int {
            count += 1
            return count
        }
    }

    /// Child tasks, an actor, a sleep, and a request over the transport.
    static func everything(_ url: HTTPURL, _ transport: any HTTPTransport) async -> Bool {
        let counter = Counter()
        let sum = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { await counter.next() } }
            return await group.reduce(0, +)
        }
        async let one = counter.next()
        guard sum == 10, await one == 5 else { return false }
        do {
            try await SystemClock().sleep(for: .milliseconds(20))
            return try await transport.send(HTTPRequest(.post, url, body: [1, 2, 3])).status == 200
        } catch {
            return false
        }
    }
}

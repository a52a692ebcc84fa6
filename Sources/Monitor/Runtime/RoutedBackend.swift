package import Instrument

/// Which streams' samples a backend receives.
package final class SampleRoutes: Sendable {
    private let routes = Lock<[String: Set<String>]>([:])

    package init() {}

    /// Replaces the routes: the names of the backends by stream. A stream without names has all backends.
    package func replace(_ new: [String: Set<String>]) { routes.withLock { $0 = new } }

    /// Whether a sample goes to a backend. A stream that is no longer configured goes everywhere.
    func leads(_ sample: Sample, to backend: String) -> Bool {
        if case .event(let event) = sample, event.action == .monitorAlert { return false }
        guard let stream = sample.attributes[.monitorStream] else { return true }
        guard let names = routes.withLock({ $0[stream] }), !names.isEmpty else { return true }
        return names.contains(backend)
    }
}

/// A backend of the configuration, under its name there, which receives the samples of the streams that name it.
///
/// Samples of other streams count as acknowledged, as the queue counts samples for other services.
package final class RoutedBackend: Backend {
    private let base: any Backend
    private let routes: SampleRoutes
    package let name: BackendName

    package init(_ base: any Backend, name: String, routes: SampleRoutes) {
        (self.base, self.routes, self.name) = (base, routes, BackendName(name))
    }

    package var policy: DeliveryPolicy { base.policy }
    package var isEphemeral: Bool { base.isEphemeral }
    package var service: ServiceName? { base.service }

    package func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let records = batch.records.filter { routes.leads($0.sample, to: name.description) }
        return records.isEmpty ? .acknowledged : await base.deliver(Batch(records: records))
    }

    package func patience() -> Duration? { base.patience() }
    package func ready() { base.ready() }
    package func end() async { await base.end() }
}

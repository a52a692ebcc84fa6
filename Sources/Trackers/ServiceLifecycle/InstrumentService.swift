#if ServiceLifecycle || Everything
public import Instrument
internal import InstrumentTrackers
public import ServiceLifecycle

/// An instrument's part in a `ServiceGroup`: it reports that the app runs and that it ends, and delivers before it
/// does.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [InstrumentService(instrument), server],
///     gracefulShutdownSignals: [.sigterm, .sigint],
///     logger: logger
/// )
/// try await group.run()
/// await instrument.shutdown(timeout: .seconds(5))
/// ```
///
/// A group ends its services the last one first: put this one before those whose events are to be delivered. Do not
/// install `SignalLifecycle` beside it, because the group takes the signals. It runs until the group ends it, and ends
/// neither the process nor the instrument.
public struct InstrumentService: Service {
    private let instrument: Instrument
    private let source: ServiceLifecycleSource
    private let grace: Duration

    /// Creates a service for one run.
    ///
    /// - Parameters:
    ///   - instrument: receives the lifecycle; the service flushes its queue.
    ///   - grace: how long the flush at the end may take. A group's `maximumGracefulShutdownDuration` should be longer.
    public init(_ instrument: Instrument, grace: Duration = .seconds(5)) {
        (self.instrument, self.grace, source) = (instrument, grace, ServiceLifecycleSource())
    }

    /// Reports that the app is active (`AppActive`); once the group shuts down, or the task is cancelled, that it ends
    /// (`AppTerminating`); and returns when the queue is flushed or the grace is over.
    ///
    /// - Throws: `CancellationError` if the task was cancelled instead of shut down; the service flushes the queue
    ///   nevertheless.
    public func run() async throws {
        let lifecycle = LifecycleTracker(source, flushing: instrument.queue, terminationGrace: grace)
        let tracker = instrument.add(lifecycle)
        defer { instrument.remove(tracker) }
        do {
            try await gracefulShutdown()
        } catch {
            await source.terminate()
            throw error
        }
        await source.terminate()
    }
}
#endif

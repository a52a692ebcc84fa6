public import Instrument
public import InstrumentHTTP

/// A shared logger for an app that does not pass a logger around.
extension Clickstream {
    private static let configured = Lock<Clickstream?>(nil)

    /// The logger of the last ``configure(with:on:transport:configuration:clock:report:)``; nil before the first.
    public static var shared: Clickstream? { configured.withLock { $0 } }

    /// Adds a ``ClickstreamBackend`` to an instrument and makes the logger that feeds it ``shared``. Call it early in
    /// the app's life.
    ///
    /// If the instrument has a backend of that name already, that one stays.
    ///
    /// - Parameters:
    ///   - delegate: answers for the app; retained.
    ///   - instrument: whose queue takes the events; kept alive.
    ///   - transport: sends requests.
    ///   - configuration: how the backend sends.
    ///   - clock: stamps events.
    ///   - report: receives values that were left out because they are not finite.
    /// - Throws: `HTTPError` if the delegate's user agent cannot be sent.
    @discardableResult
    public static func configure(
        with delegate: any ClickstreamDelegate,
        on instrument: Instrument,
        transport: any HTTPTransport,
        configuration: ClickstreamConfiguration = ClickstreamConfiguration(),
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) throws(HTTPError) -> Clickstream {
        let backend = try ClickstreamBackend(
            delegate: delegate,
            transport: transport,
            configuration: configuration,
            clock: clock
        )
        instrument.add(backend)
        let tracker = instrument.add(ClickstreamTracker())
        let logger = Clickstream(
            delegate: delegate,
            queue: instrument.queue,
            tracker: tracker,
            clock: clock,
            report: report
        )
        configured.withLock { $0 = logger }
        return logger
    }

    /// Saves an event through ``shared``; false, and nothing is saved, if nothing was configured yet.
    @discardableResult
    public static func logEvent(
        _ name: String = Clickstream.defaultName,
        variables: Attributes = Attributes()
    ) -> Bool {
        guard let shared else { return false }
        shared.logEvent(name, variables: variables)
        return true
    }
}

/// Gives the logger's events their own tracker number in the instrument.
private final class ClickstreamTracker: Tracker {
    let target: String? = "clickstream"
    func begin(in context: TrackerContext) {}
}

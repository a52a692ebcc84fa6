#if os(Linux)
package import Instrument

/// A client of gpsd, for position and heading over one connection.
///
/// The client is connected while one of its sources runs. When the connection ends, it reconnects with a back-off of
/// 1 s, doubled up to a minute. Between two attempts it has neither thread nor socket. It sends only the `WATCH`
/// command.
package final class GPSDClient: Sendable {
    private struct State {
        var users: [Int: @Sendable (GPSDReport?) -> Void] = [:]
        var nextNumber = 0
        var connection: GPSDConnection?
        var connectionNumber = 0
        var retry: ScheduledAction?
        var delay = GPSDClient.shortestDelay
        var reader = GPSDReader()
        var location: Location?
        var heading: Heading?
        var connectionCount = 0
    }

    private static let shortestDelay = Duration.seconds(1)
    private static let longestDelay = Duration.seconds(60)

    private let address: GPSDAddress
    private let clock: any SchedulingClock
    private let state = Lock(State())

    /// Creates a client; it connects once a source of it is started.
    package init(_ address: GPSDAddress, clock: any SchedulingClock = SystemClock()) {
        (self.address, self.clock) = (address, clock)
    }

    deinit {
        let (connection, retry) = state.withLock { ($0.connection, $0.retry) }
        connection?.stop()
        retry?.cancel()
    }

    /// Positions. Absent and ``SensorAbsence/missing`` while there is no daemon, ``SensorAbsence/silent`` while it has
    /// no fix.
    package var location: some SensorSource<Location> {
        GPSDSource(client: self, last: { $0.lastLocation }) { report in
            switch report {
            case .location(let location): .reading(location)
            case .noFix: .absent(.silent)
            case .heading: nil
            }
        }
    }

    /// Headings, of receivers with a compass.
    package var heading: some SensorSource<Heading> {
        GPSDSource(client: self, last: { $0.lastHeading }) { report in
            if case .heading(let heading) = report { .reading(heading) } else { nil }
        }
    }

    /// The number of connections.
    package var connectionCount: Int { state.withLock { $0.connectionCount } }

    var lastLocation: Location? { state.withLock { $0.location } }
    var lastHeading: Heading? { state.withLock { $0.heading } }

    /// Calls `receive` with reports, and with nil when the connection is lost or fails.
    func use(_ receive: @escaping @Sendable (GPSDReport?) -> Void) -> SensorRun {
        let (number, isFirst) = state.withLock { state in
            state.nextNumber += 1
            state.users[state.nextNumber] = receive
            return (state.nextNumber, state.users.count == 1)
        }
        if isFirst { connect() }
        return SensorRun { [weak self] in self?.leave(number) }
    }

    private func leave(_ number: Int) {
        let (connection, retry) = state.withLock { state -> (GPSDConnection?, ScheduledAction?) in
            guard state.users.removeValue(forKey: number) != nil, state.users.isEmpty else { return (nil, nil) }
            defer { (state.connection, state.retry, state.delay) = (nil, nil, Self.shortestDelay) }
            return (state.connection, state.retry)
        }
        connection?.stop()
        retry?.cancel()
    }

    private func connect() {
        let connection = state.withLock { state -> GPSDConnection? in
            state.retry = nil
            if state.users.isEmpty || state.connection != nil { return nil }
            state.connectionNumber += 1
            let number = state.connectionNumber
            let connection = GPSDConnection(address) { [weak self] in self?.take($0, of: number) }
            state.connection = connection
            return connection
        }
        connection?.start()
    }

    private func take(_ event: GPSDConnection.Event, of number: Int) {
        let now = clock.wallTime
        let (users, report) = state.withLock { state -> ([@Sendable (GPSDReport?) -> Void], GPSDReport?) in
            guard state.connection != nil, state.connectionNumber == number else { return ([], nil) }
            switch event {
            case .connected:
                state.connectionCount += 1
                return ([], nil)
            case .overlongLine:
                state.reader.skipOverlongLine()
                return ([], nil)
            case .line(let line):
                guard let report = state.reader.report(in: line, now: now) else { return ([], nil) }
                if case .location(let location) = report { state.location = location }
                if case .heading(let heading) = report { state.heading = heading }
                // The connection works: resets the back-off.
                state.delay = Self.shortestDelay
                return (Array(state.users.values), report)
            case .ended:
                state.connection = nil
                return (Array(state.users.values), nil)
            }
        }
        for user in users { user(report) }
        if case .ended = event { connectLater(after: number) }
    }

    private func connectLater(after number: Int) {
        state.withLock { state in
            if state.users.isEmpty || state.connection != nil || state.connectionNumber != number { return }
            let instant = clock.now.advanced(by: state.delay)
            state.delay = min(Self.longestDelay, state.delay * 2)
            // Under the lock, so that a concurrent stop finds an action to cancel.
            state.retry = clock.schedule(at: instant) { [weak self] in self?.connect() }
        }
    }
}

/// One kind of a client's reports.
struct GPSDSource<Reading: Sendable>: SensorSource {
    let client: GPSDClient
    let last: @Sendable (GPSDClient) -> Reading?
    let update: @Sendable (GPSDReport) -> SensorUpdate<Reading>?

    /// The latest report.
    func current() -> SensorUpdate<Reading> { last(client).map { .reading($0) } ?? .absent(.silent) }

    func start(_ receive: @escaping @Sendable (SensorUpdate<Reading>) -> Void) -> SensorRun {
        client.use { report in
            guard let report else { return receive(.absent(.missing)) }
            if let update = update(report) { receive(update) }
        }
    }
}
#endif

import Instrument
import InstrumentHTTP
import InstrumentMonitor
import InstrumentWatch

/// Drives a model under a virtual time: performs what is due in order, and lets scripted streams answer.
struct Drive {
    /// How the sessions of a stream behave.
    enum Behaviour {
        /// Shows a picture after half a second and plays until stopped.
        case plays
        /// Fails after a delay.
        case fails(after: Duration, code: String)
        /// Never answers, not even to a stop.
        case hangs
        /// Shows a picture and plays for this time.
        case lasts(Duration)
        /// Never shows a picture; ends when stopped.
        case staysBlank
    }

    var model: MonitorModel
    var now: Timestamp
    var behaviours: [String: Behaviour]
    private var inputs: [(at: MonotonicInstant, number: Int, id: SessionID, input: MonitorInput)] = []
    private var inputCount = 0
    var starts: [(stream: String, at: MonotonicInstant)] = []
    var stops: [String] = []
    var messages: [AlertMessage] = []
    var live: Set<SessionID> = []
    /// The evidence that was kept, without what was deleted.
    var kept: [EvidenceEntry] = []
    var keptBytes: [String: [UInt8]] = [:]
    /// The slots of the checks that people asked for.
    private var checks: [String: Int] = [:]

    init(
        _ configuration: WatchConfiguration,
        _ behaviours: [String: Behaviour] = [:],
        options: MonitorOptions = MonitorOptions(),
        at start: Int64 = 0,
        restoring saved: SavedMonitor? = nil
    ) {
        now = Self.time(start)
        self.behaviours = behaviours
        model = MonitorModel(configuration, options: options, at: now, seed: 7, restoring: saved)
    }

    static func time(_ milliseconds: Int64) -> Timestamp {
        Timestamp(
            instant: MonotonicInstant(nanoseconds: 5_000_000_000 + milliseconds * 1_000_000),
            wallTime: WallTime(milliseconds: 1_767_225_600_000 + milliseconds)
        )
    }

    var seconds: Double { Double(now.instant.nanoseconds - 5_000_000_000) / 1e9 }

    /// What the next process gets.
    var saved: SavedMonitor { SavedMonitor(of: model, at: now) }

    /// What pages show now.
    var documents: MonitorDocuments { MonitorDocuments(of: model, at: now) }

    /// The live session of a stream.
    func session(of stream: String) -> SessionID? { live.first { $0.stream == stream } }

    mutating func send(_ input: MonitorInput, to stream: String) {
        guard let id = session(of: stream) else { return }
        if case .ended = input { live.remove(id) }
        perform(model.handle(input, of: id, at: now))
    }

    mutating func emit(_ action: Action, _ stream: String, _ attributes: Attributes = [:]) {
        send(.event(Event(action, tracker: TrackerID(0), time: now, attributes: attributes)), to: stream)
    }

    mutating func run(for duration: Duration) { run(until: now.instant.advanced(by: duration)) }

    mutating func run(until end: MonotonicInstant) {
        while true {
            let input = inputs.indices.min { (inputs[$0].at, inputs[$0].number) < (inputs[$1].at, inputs[$1].number) }
            let next = min(model.nextDeadline, input.map { inputs[$0].at } ?? end, end)
            move(to: max(next, now.instant))
            if let input, inputs[input].at <= now.instant {
                let (_, _, id, event) = inputs.remove(at: input)
                perform(model.handle(event, of: id, at: now))
                if case .ended = event { live.remove(id) }
            } else if model.nextDeadline <= now.instant {
                perform(model.advance(to: now))
            } else if now.instant >= end {
                return
            }
        }
    }

    mutating func reload(_ configuration: WatchConfiguration) { perform(model.reload(configuration, at: now)) }
    mutating func act(_ action: IncidentAction, by person: String) {
        perform(model.act(action, by: person, at: now).effects)
    }
    mutating func tryNow(_ name: String) -> TryOutcome {
        let (outcome, effects) = model.tryNow(name, at: now)
        perform(effects)
        return outcome
    }
    mutating func checkNow(_ name: String) -> CheckOutcome {
        let (outcome, effects) = model.checkNow(name, at: now)
        perform(effects)
        return outcome
    }
    mutating func report(_ progress: CheckProgress, ofCheckOf name: String) {
        guard let slot = checks[name] else { return }
        perform(model.handle(progress, ofCheck: slot, at: now))
    }
    mutating func stop() { perform(model.stop(at: now)) }

    private mutating func move(to instant: MonotonicInstant) {
        let elapsed = now.instant.duration(to: instant)
        now = Timestamp(
            instant: instant,
            wallTime: WallTime(milliseconds: now.wallTime.milliseconds + Int64(elapsed / .milliseconds(1)))
        )
    }

    private mutating func later(_ delay: Duration, _ id: SessionID, _ input: (Timestamp) -> MonitorInput) {
        let at = now.instant.advanced(by: delay)
        let wall = WallTime(milliseconds: now.wallTime.milliseconds + Int64(delay / .milliseconds(1)))
        inputCount += 1
        inputs.append((at, inputCount, id, input(Timestamp(instant: at, wallTime: wall))))
    }

    private mutating func perform(_ effects: [MonitorEffect]) {
        for effect in effects + model.evidence.takeRequests() {
            switch effect {
            case .start(let id, let stream): start(id, stream)
            case .stop(let id): stop(id)
            case .notify(let message): messages.append(message)
            case .keep(let entry, let bytes):
                kept.append(entry)
                keptBytes[entry.id] = bytes
            case .forget(let id):
                kept.removeAll { $0.id == id }
                keptBytes[id] = nil
            case .check(let slot, let stream): checks[stream.name] = slot
            }
        }
    }

    private mutating func start(_ id: SessionID, _ stream: WatchedStream) {
        starts.append((id.stream, now.instant))
        live.insert(id)
        let event = { (action: Action) in
            { (time: Timestamp) in MonitorInput.event(Event(action, tracker: TrackerID(id.number), time: time)) }
        }
        switch behaviours[id.stream] ?? .plays {
        case .plays:
            later(.zero, id, event(.mediaRequest))
            later(.milliseconds(500), id, event(.start))
        case .fails(let delay, let code):
            later(.zero, id, event(.mediaRequest))
            later(delay, id) { _ in .ended(.failed(code: code, message: "scripted")) }
        case .lasts(let length):
            later(.zero, id, event(.mediaRequest))
            later(.milliseconds(500), id, event(.start))
            later(.milliseconds(500) + length, id, event(.end))
            later(.milliseconds(500) + length, id) { _ in .ended(.ended) }
        case .hangs: break
        case .staysBlank: later(.zero, id, event(.mediaRequest))
        }
    }

    private mutating func stop(_ id: SessionID) {
        stops.append(id.stream)
        if case .hangs = behaviours[id.stream] { return }
        later(.milliseconds(10), id) { .event(Event(.stop, tracker: TrackerID(id.number), time: $0)) }
        later(.milliseconds(10), id) { _ in .ended(.stopped) }
    }
}

/// Streams for tests.
func stream(
    _ name: String,
    _ schedule: WatchedStream.Schedule = .continuous,
    host: String = "example.org",
    labels: [String: String] = [:]
) throws -> WatchedStream {
    var stream = WatchedStream(
        name: name,
        url: try HTTPURL("http://\(host)/\(name.utf8.count)/master.m3u8"),
        place: ConfigurationPlace(file: "m.yaml", line: 1, column: 1)
    )
    (stream.schedule, stream.labels) = (schedule, labels)
    return stream
}

func configuration(_ streams: [WatchedStream], _ alerts: [AlertConfiguration] = []) -> WatchConfiguration {
    var configuration = WatchConfiguration()
    (configuration.streams, configuration.alerts) = (streams, alerts)
    return configuration
}

func alert(_ name: String, _ condition: String, for delay: Duration = .zero) throws -> AlertConfiguration {
    var alert = AlertConfiguration(
        name: name,
        condition: try AlertExpression(condition),
        place: ConfigurationPlace(file: "m.yaml", line: 1, column: 1)
    )
    (alert.delay, alert.receivers) = (delay, ["ops"])
    return alert
}

extension MonitorModel {
    /// The whole history as a store gets it, piece by piece.
    func savedHistory(at now: WallTime) -> (bytes: [UInt8], mark: HistoryMark) {
        var (pieces, bytes) = (HistoryPieces(of: self, at: now), [UInt8]())
        while let piece = pieces.next() { bytes += piece }
        return (bytes, pieces.mark)
    }
}

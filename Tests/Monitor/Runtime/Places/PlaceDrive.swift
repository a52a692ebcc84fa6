import Instrument
import InstrumentHTTP
import InstrumentWatch

@testable import InstrumentMonitor

/// A monitor elsewhere: makes the samples that it would write, with the times of its clocks.
struct RemoteMonitor {
    let place: String?
    private let log: UInt64
    /// How far its calendar is ahead.
    var skew = Duration.zero
    private var sequence: UInt64 = 0
    private var playbacks: [String: Int] = [:]

    init(_ place: String?, log: UInt64) { (self.place, self.log) = (place, log) }

    /// One sample of a stream's session; `mediaRequest` begins another session.
    mutating func sample(
        _ action: Action,
        _ stream: String?,
        host: String = "cdn.example.org",
        at now: Timestamp,
        _ attributes: Attributes = [:]
    ) -> SampleRecord {
        if action == .mediaRequest { playbacks[stream ?? "", default: 0] += 1 }
        var all: Attributes = [:]
        all[.monitorStream] = stream
        all[.monitorLocation] = place
        all[.monitorLabels] = ["cdn": "alpha"]
        all[.playbackId] = "\(stream ?? "") \(playbacks[stream ?? ""] ?? 0)"
        all[.senderId] = "sender\(log)-0"
        all[.source] = "https://user:secret@\(host)/\(stream ?? "x")/master.m3u8?token=secret"
        all.merge(attributes)
        // Another machine's monotonic clock has another zero.
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: now.instant.nanoseconds + 77_000_000_000_000),
            wallTime: WallTime(milliseconds: now.wallTime.milliseconds + Int64(skew.milliseconds))
        )
        let event = Event(action, tracker: TrackerID(1), time: time, attributes: all)
        defer { sequence += 1 }
        return SampleRecord(id: SampleID(log: log, sequence: sequence), sequence: sequence, sample: .event(event))
    }

    /// A session that plays from now on.
    mutating func begin(_ stream: String, host: String = "cdn.example.org", at now: Timestamp) -> [SampleRecord] {
        [
            sample(.mediaRequest, stream, host: host, at: now), sample(.streamLoad, stream, host: host, at: now),
            sample(.start, stream, host: host, at: now),
        ]
    }

    /// A session that fails at once.
    mutating func fail(_ stream: String, status: Int, host: String = "cdn.example.org", at now: Timestamp)
        -> [SampleRecord]
    {
        var attributes: Attributes = ["errorPhase": "playlist", "errorStatus": .int(status)]
        attributes[.errorCode] = "httpStatus"
        attributes[.isFatal] = true
        attributes["errorURL"] = .string("https://\(host)/\(stream)/v1.m3u8")
        return [
            sample(.mediaRequest, stream, host: host, at: now), sample(.error, stream, host: host, at: now, attributes),
        ]
    }
}

/// Drives a model that reads samples under a virtual time.
struct PlaceDrive {
    var model: MonitorModel
    var now = Drive.time(0)
    var messages: [AlertMessage] = []
    /// Sessions that the model wanted to start itself.
    var starts: [SessionID] = []
    var monitors: [String: RemoteMonitor] = [:]

    init(
        _ places: [String] = ["oslo", "paris", "rome"],
        silence: Duration = .seconds(60),
        settings streams: [WatchedStream] = [],
        restoring saved: SavedMonitor? = nil,
        isCaughtUp: Bool = true
    ) throws {
        var watched = configuration(streams, [try alert("down", "up == 0")])
        watched.incidents.groupWait = .seconds(10)
        model = MonitorModel(watched.reading(silence: silence), at: now, restoring: saved)
        for (number, place) in places.enumerated() {
            monitors[place] = RemoteMonitor(place, log: UInt64(number + 1))
        }
        model.take(SampleBatch(isCaughtUp: isCaughtUp), at: now)
    }

    mutating func take(_ records: [SampleRecord]) { model.take(SampleBatch(records: records), at: now) }

    /// Lets monitors in places begin a session.
    mutating func begin(_ stream: String, in places: [String]) {
        for place in places { if let records = monitors[place]?.begin(stream, at: now) { take(records) } }
    }

    mutating func fail(_ stream: String, status: Int = 503, host: String = "cdn.example.org", in places: [String]) {
        for place in places {
            if let records = monitors[place]?.fail(stream, status: status, host: host, at: now) { take(records) }
        }
    }

    mutating func send(_ action: Action, _ stream: String, in place: String, _ attributes: Attributes = [:]) {
        if let record = monitors[place]?.sample(action, stream, at: now, attributes) { take([record]) }
    }

    /// Lets time pass; the monitors of these places send a sample of no stream each second, and a ping of each playback
    /// every half minute.
    mutating func run(for seconds: Int, pinging places: [String] = []) {
        for _ in 0..<seconds {
            now = Timestamp(
                instant: now.instant.advanced(by: .seconds(1)),
                wallTime: WallTime(milliseconds: now.wallTime.milliseconds + 1_000)
            )
            for place in places {
                if let record = monitors[place]?.sample(.ping, nil, at: now) { take([record]) }
                guard now.wallTime.milliseconds / 1_000 % 30 == 0 else { continue }
                for stream in ["news", "sport"] where state(stream, place)?.run != nil {
                    send(.ping, stream, in: place)
                }
            }
            while model.nextDeadline <= now.instant {
                for effect in model.advance(to: now) {
                    switch effect {
                    case .notify(let message): messages.append(message)
                    case .start(let id, _): starts.append(id)
                    case .stop, .check, .keep, .forget: break
                    }
                }
            }
        }
    }

    /// What the next process gets.
    var saved: SavedMonitor { SavedMonitor(of: model, at: now) }

    /// What pages show now.
    var documents: MonitorDocuments { MonitorDocuments(of: model, at: now) }

    func state(_ stream: String, _ place: String) -> StreamState? { model.stream(named: "\(stream) (\(place))") }
    var titles: [String] { model.book.open.map(\.title) }
    func refused(_ reason: SampleRefusal) -> Int { model.places?.refused[reason] ?? 0 }
}

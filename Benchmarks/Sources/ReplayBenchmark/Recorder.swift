import Instrument
import Synchronization

/// Makes the events of a recording: sessions of a hundred events, eight at the same time, an event each second.
///
/// A core hub sets the blocks, sums and identifiers, so that the recording contradicts itself nowhere. A recording that
/// does, as that of this benchmark did, makes a metricalc heal each session with each event, which no recording of a
/// chain needs.
struct Recorder {
    private static let actions: [Action] = [
        .ping, .bufferBegin, .bufferFinish, .qualityChangeUp, .ping, .qualityChangeDown,
    ]
    private static let timed: [Action] = [.trackerInit, .playerSet, .mediaRequest, .streamLoad, .bufferBegin, .start]
    private static let secondsBefore = 2

    private var hub = CoreHub()
    private let identifiers = Identifiers()
    /// The time of each tracker's latest event of each action, in milliseconds.
    private var latest: [TrackerID: [Action: Int]] = [:]

    /// The event with a number; call for each number in order.
    mutating func event(_ number: Int) -> Event {
        let (session, step) = (number / 800 * 8 + number % 8, number % 800 / 8)
        let (tracker, milliseconds) = (TrackerID(session % 8), number * 125)
        let action = Self.action(step)
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: Int64(milliseconds) * 1_000_000),
            wallTime: WallTime(milliseconds: 1_795_353_396_000 + Int64(milliseconds))
        )
        var attributes = Self.attributes(of: session, step)
        for timed in Self.timed {
            let happened = latest[tracker]?[timed] ?? -Self.secondsBefore * 1000
            attributes[timed.timeKey] = milliseconds - happened
        }
        latest[tracker, default: [:]][action] = milliseconds
        var event = Event(action, tracker: tracker, time: time, attributes: attributes)
        var context = HubContext(content: tracker, environment: identifiers)
        precondition(hub.process(&event, in: &context) == .accepted, "the hub rejected event \(number)")
        return event
    }

    private static func action(_ step: Int) -> Action {
        switch step {
        case 0: .mediaRequest
        case 1: .streamLoad
        case 2: .start
        case 99: .end
        default: actions[step % actions.count]
        }
    }

    /// What the player and the app tell.
    private static func attributes(of session: Int, _ step: Int) -> Attributes {
        var attributes: Attributes = [
            "senderId": .string("5EF683BE-0B30-422D-A4E6-690F3D4A7C71-\(session % 8)"), "trackerTarget": "probe",
            "title": "A film of the evening", "source": "https://media.example.org/films/evening/master.m3u8",
            "countRequests": .int(step), "countFailedRequests": 0, "receivedBytes": .int(step * 250_000),
            "throughput": .int(4_000_000 + step * 1000),
        ]
        if step > 1 {
            attributes[.bitrate] = 400_000 + step % 4 * 600_000
            attributes[.resolutionWidth] = 640
            attributes[.resolutionHeight] = 360
            attributes[.fps] = 23.976023976023978
            attributes[.position] = .milliseconds(step * 1000)
        }
        return attributes
    }
}

/// Identifiers that count, for the hub.
private final class Identifiers: HubEnvironment {
    private let count = Mutex(0)

    func makeIdentifier() -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "49BB59F8-9DE3-4809-A84F-\(100_000_000_000 + number)"
    }

    func value(of name: AttributeName, from tracker: TrackerID) -> AttributeValue? { nil }
}

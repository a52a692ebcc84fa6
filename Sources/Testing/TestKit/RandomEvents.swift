internal import Instrument

/// Events for the contracts of hubs, metricalcs and trackers.
enum RandomEvents {
    /// A content tracker, one that serves ads for it, and an unrelated content tracker.
    static let trackers = [TrackerID(0), TrackerID(1), TrackerID(2)]
    static let other = TrackerID(2)
    static let actions = Action.playerActions + Action.adActions + [Action("Custom")]

    static func content(of tracker: TrackerID) -> TrackerID { tracker == TrackerID(1) ? TrackerID(0) : tracker }

    /// Events in the order of time. Some have attributes of apps and players.
    static func events(_ count: Int, _ generator: inout SeededGenerator) -> [Event] {
        var instant = MonotonicInstant(nanoseconds: 0)
        return (0..<count).map { number in
            // Some at the same instant, some hours later.
            let longest = [0, 3_000_000, 3_000_000, 3_000_000, 30_000_000_000][Int.random(in: 0..<5, using: &generator)]
            instant = instant.advanced(by: .microseconds(Int.random(in: 0...longest, using: &generator)))
            let time = Timestamp(instant: instant, wallTime: WallTime(milliseconds: instant.milliseconds))
            let action = actions[Int.random(in: 0..<actions.count, using: &generator)]
            let tracker = trackers[Int.random(in: 0..<3, using: &generator)]
            return Event(action, tracker: tracker, time: time, attributes: attributes(number, &generator))
        }
    }

    private static func attributes(_ number: Int, _ generator: inout SeededGenerator) -> Attributes {
        var attributes: Attributes = ["number": .int(number)]
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: attributes["isFatal"] = true
        case 1: attributes["joinedLate"] = true
        case 2: attributes["position"] = 777
        case 3: attributes["streamId"] = "the caller's"
        case 4: attributes["title"] = "title"
        default: break
        }
        return attributes
    }

    /// Each action alone, a second after `event`, of the same tracker.
    static func each(after event: Event) -> [[Event]] {
        let instant = event.time.instant.advanced(by: .seconds(1))
        let time = Timestamp(instant: instant, wallTime: event.time.wallTime)
        return actions.map { [Event($0, tracker: event.tracker, time: time)] }
    }

    /// Every action twice, at the ends of time, with attributes of other types than expected.
    static var extremes: [Event] {
        let odd: [AttributeValue] = ["text", .int(.min), .int(.max), -0.0, true, [], [:]]
        let names: [AttributeName] = [
            "isFatal", "joinedLate", "position", "deltaPlayTime", "countStarts", "inPlaybackBlock", "streamId",
            "playbackId", "senderId", "timeSinceBufferBegin", "timeSinceMediaRequest", "timeSinceStreamLoad", "userId",
        ]
        let instants: [Int64] = [.min, .min, -1, 0, 1, .max, .max]
        let numbers = [0, 1, 2, .min, .max]
        return instants.enumerated().flatMap { index, nanoseconds in
            actions.enumerated().map { position, action in
                let time = Timestamp(
                    instant: MonotonicInstant(nanoseconds: nanoseconds),
                    wallTime: WallTime(milliseconds: nanoseconds)
                )
                var attributes = Attributes()
                for (offset, name) in names.enumerated() {
                    attributes[name] = odd[(index + position + offset) % odd.count]
                }
                let tracker = TrackerID(numbers[position % numbers.count])
                return Event(action, tracker: tracker, time: time, attributes: attributes)
            }
        }
    }
}

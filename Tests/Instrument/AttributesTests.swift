import Instrument
import Testing

@Suite("Attributes")
struct AttributesTests {
    @Test("A key reads the value back with its own type, and not with another")
    func typedKeys() {
        var attributes = Attributes()
        attributes[.bitrate] = 3_000_000
        attributes[.position] = .seconds(12)
        #expect(attributes[.bitrate] == 3_000_000)
        #expect(attributes["position"] == .int(12_000))
        #expect(attributes[AttributeKey<String>("bitrate")] == nil)
    }

    @Test("Setting nil removes an attribute, which can be set again")
    func removal() {
        var attributes: Attributes = ["title": "One", "fps": 25.0]
        attributes[.title] = nil
        #expect(attributes.count == 1)
        attributes[.title] = "Two"
        #expect(attributes == ["fps": 25.0, "title": "Two"])
    }

    @Test(
        "NaN and infinity are refused, also inside arrays and objects",
        arguments: [
            AttributeValue.double(.nan), .double(.infinity), .array([.double(-.infinity)]),
            .object(["a": .double(.nan)]),
        ]
    )
    func notFinite(value: AttributeValue) {
        var attributes: Attributes = ["fps": 25.0, "title": "kept"]
        attributes["fps"] = value
        #expect(attributes == ["title": "kept"])
    }

    @Test("The set distinguishes names whose numbers share a bit")
    func manyNames() {
        var attributes = Attributes()
        let names = (0..<400).map { AttributeName("many\($0)") }
        for (value, name) in names.enumerated() { attributes[name] = .int(value) }
        #expect(attributes.count == 400)
        for (value, name) in names.enumerated() { #expect(attributes[name] == .int(value)) }
    }

    @Test("Equality and hash do not depend on the order")
    func order() {
        let one: Attributes = ["a": 1, "b": "x"]
        let other: Attributes = ["b": "x", "a": 1]
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
    }
}

@Suite("Vocabulary")
struct VocabularyTests {
    @Test("Every action has its wire name and its time attribute")
    func actions() {
        #expect(Action.playerActions.count == 25)
        #expect(Action.adActions.count == 14)
        #expect(Action.bufferBegin.name == "BufferBegin")
        #expect(Action.bufferBegin.timeAttribute == "timeSinceBufferBegin")
        #expect(Set((Action.playerActions + Action.adActions).map(\.name)).count == 39)
    }

    @Test("A custom action may name its own time attribute")
    func customAction() {
        let menuOpen = Action("MenuOpen", timeAttribute: "sinceMenu")
        #expect(menuOpen == Action("MenuOpen"))
        #expect(menuOpen.timeAttribute == "sinceMenu")
    }
}

@Suite("VirtualClock")
struct VirtualClockTests {
    @Test("The wall time never exceeds its limit, and never steps back")
    func limitedCalendar() {
        let limit = Lock<Int64>(10_000)
        let clock = VirtualClock(wallTime: WallTime(milliseconds: 7000)) {
            WallTime(milliseconds: limit.withLock { $0 })
        }
        #expect(clock.wallTime.milliseconds == 7000)
        clock.advance(by: .seconds(2))
        #expect(clock.timestamp.wallTime.milliseconds == 9000)
        let early = clock.now
        clock.advance(by: .seconds(3600))
        #expect(clock.wallTime.milliseconds == 10_000)
        #expect(clock.timestamp(of: early).wallTime.milliseconds == 9000)
        limit.withLock { $0 = 10_500 }
        #expect(clock.timestamp.wallTime.milliseconds == 10_500)
        #expect(clock.now == early.advanced(by: .seconds(3600)))
    }

    @Test("Scheduled actions run in the order of their instants, each at its instant")
    func order() async {
        let clock = VirtualClock()
        let seen = Recorder()
        for seconds in [3, 1, 2] {
            _ = clock.schedule(at: clock.now.advanced(by: .seconds(seconds))) { seen.add(clock.now.milliseconds) }
        }
        clock.advance(by: .seconds(2))
        #expect(seen.values == [1000, 2000])
        clock.advance(by: .seconds(1))
        #expect(seen.values == [1000, 2000, 3000])
    }

    @Test("A cancelled action never runs")
    func cancellation() {
        let clock = VirtualClock()
        let seen = Recorder()
        clock.schedule(at: MonotonicInstant(nanoseconds: 5)) { seen.add(1) }.cancel()
        clock.advance(by: .seconds(1))
        #expect(seen.values.isEmpty)
    }
}

final class Recorder: Sendable {
    private let lock = Lock<[Int64]>([])
    var values: [Int64] { lock.withLock { $0 } }
    func add(_ value: Int64) { lock.withLock { $0.append(value) } }
}

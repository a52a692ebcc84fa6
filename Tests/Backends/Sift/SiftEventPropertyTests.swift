import Instrument
import InstrumentJSON
import InstrumentSensors
import InstrumentTestKit
import Testing

@testable import InstrumentSift

@Suite("Any event")
struct SiftEventPropertyTests {
    @Test("is JSON in both profiles and is equal after a round trip", arguments: UInt64(1)...300)
    func roundTrip(seed: UInt64) throws {
        var random = RandomEvents(seed: seed, isSane: false)
        let event = random.event()
        for profile in SiftProfile.allCases {
            let json = event.json(profile)
            #expect(try JSONValue(parsing: json.bytes) == json)
        }
        let saved = event.json(.legacy)
        let read = try SiftEvent(json: saved)
        #expect(read.json(.legacy) == saved)
        #expect(read.json(.current) == event.json(.current))
    }

    @Test("with only valid values is the same after a round trip", arguments: UInt64(1)...300)
    func equality(seed: UInt64) throws {
        var random = RandomEvents(seed: seed, isSane: true)
        let event = random.event()
        #expect(try SiftEvent(json: JSONValue(parsing: event.json(.legacy).bytes)) == event)
    }

    @Test("is unchanged after the shared queue's attributes", arguments: UInt64(1)...100)
    func sample(seed: UInt64) throws {
        var random = RandomEvents(seed: seed, isSane: true)
        let event = random.event()
        let attributes = Make.logged(event).attributes
        #expect(!attributes.hasRefused)
        #expect(try SiftEvent(json: JSONValue(#require(attributes["sift.event"]))) == event)
    }
}

/// Events of random parts; sane ones hold nothing that the format would leave out.
struct RandomEvents {
    private var generator: SeededGenerator
    private let isSane: Bool

    init(seed: UInt64, isSane: Bool) {
        generator = SeededGenerator(seed: seed)
        self.isSane = isSane
    }

    mutating func event() -> SiftEvent {
        var event = SiftEvent(time: time())
        (event.type, event.path, event.userID) = (text(), text(), text())
        (event.installationID, event.fields, event.metrics) = (text(), map(), map())
        event.legacyDeviceProperties = map()
        event.appState = maybe { $0.appState() }
        event.deviceProperties = maybe { $0.deviceProperties() }
        return event
    }

    private mutating func appState() -> AppState {
        var state = AppState()
        (state.sdkVersion, state.proximityState) = (text(), maybe { .random(using: &$0.generator) })
        state.screenTitles = maybe { $0.texts() }
        state.networkAddresses = maybe { $0.texts() }
        state.batteryLevel = isSane ? maybe { .random(in: 0...1, using: &$0.generator) } : number()
        state.batteryState = BatteryState.allCases.randomElement(using: &generator)
        state.applicationState = ApplicationState.allCases.randomElement(using: &generator)
        state.deviceOrientation = DeviceOrientation.allCases.randomElement(using: &generator)
        state.location = maybe { $0.location() }
        state.heading = maybe { $0.heading() }
        state.motion = list { $0.motion() }
        state.accelerometer = list { Acceleration(at: $0.time(), $0.vector()) }
        state.gyroscope = list { RotationRate(at: $0.time(), $0.vector()) }
        return state
    }

    private mutating func location() -> Location {
        var location = Location()
        (location.time, location.latitude, location.longitude) = (time(), number(), number())
        location.horizontalAccuracy = isSane ? 5 : number()
        location.verticalAccuracy = isSane ? 5 : number()
        location.altitude = number()
        location.speed = isSane ? number().map(abs) : number()
        location.course = isSane ? number().map(abs) : number()
        location.floor = maybe { .random(in: -3...100, using: &$0.generator) }
        return location
    }

    private mutating func heading() -> Heading {
        var heading = Heading()
        (heading.time, heading.magneticHeading) = (time(), number())
        heading.accuracy = isSane ? 1 : number()
        heading.trueHeading = isSane ? number().map(abs) : number()
        heading.rawMagneticField = vector()
        return heading
    }

    private mutating func motion() -> DeviceMotion {
        var motion = DeviceMotion()
        (motion.time, motion.roll, motion.yaw) = (time(), number(), number())
        (motion.gravity, motion.magneticField) = (vector(), vector())
        let calibrations = DeviceMotion.Calibration.allCases
        motion.calibration =
            isSane ? .medium : maybe { calibrations.randomElement(using: &$0.generator) ?? .low }
        return motion
    }

    private mutating func deviceProperties() -> DeviceProperties {
        var properties = DeviceProperties()
        (properties.appName, properties.deviceName, properties.model) = (text(), text(), text())
        properties.evidenceFilesPresent = maybe { $0.texts() }
        properties.memorySize = maybe { .random(in: .min ... .max, using: &$0.generator) }
        properties.is64BitCapable = maybe { .random(using: &$0.generator) }
        return properties
    }

    private mutating func maybe<Value>(_ make: (inout RandomEvents) -> Value) -> Value? {
        Bool.random(using: &generator) ? make(&self) : nil
    }

    /// One to three values or nil: an empty list is left out, and comes back as nil.
    private mutating func list<Value>(_ make: (inout RandomEvents) -> Value) -> [Value]? {
        maybe { random in (0..<max(1, random.count(3))).map { _ in make(&random) } }
    }

    private mutating func count(_ limit: Int) -> Int { .random(in: 0...limit, using: &generator) }

    private mutating func time() -> WallTime {
        WallTime(milliseconds: .random(in: .min ... .max, using: &generator))
    }

    private mutating func number() -> Double? {
        let odd: [Double?] = [nil, .nan, .infinity, -.infinity, -1, -0.0]
        if !isSane, let value = odd.randomElement(using: &generator), Bool.random(using: &generator) { return value }
        return [0, 1, -1.5, 1e300, 0.1, 123_456_789].randomElement(using: &generator)
    }

    private mutating func vector() -> SensorVector { SensorVector(x: number(), y: number(), z: number()) }

    private mutating func text() -> String? {
        let pieces = ["a", "\"", "\\", "\n", "\u{0}", "é", "日本", "😀", "\u{2028}", "e\u{301}"]
        let text = (0..<count(5)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
        // An empty text is left out, and comes back as nil.
        return isSane && text.isEmpty ? nil : text
    }

    private mutating func texts() -> [String] { (0..<count(3)).map { _ in text() ?? "" } }

    private mutating func map() -> [String: String]? {
        maybe { random in
            Dictionary((0..<random.count(4)).map { _ in (random.text() ?? "k", random.text() ?? "") }) { first, _ in
                first
            }
        }
    }
}

import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentSensors

/// An instrument whose collectors run by a virtual clock.
struct Collecting {
    let clock = VirtualClock()
    let backend = CollectingBackend()
    let instrument: Instrument
    let collector: AppStateCollector
    let choices = SensorChoices()
    let heading = HandSource<Heading>()
    let location = HandSource<Location>()
    let battery = HandSource<Battery>(.reading(Battery(level: 0.5, state: .charging)))
    let accelerometer = HandSource<Acceleration>(.absent(.silent))
    let fused: HandSource<DeviceMotion>

    init(fused update: SensorUpdate<DeviceMotion> = .absent(.missing), phase: LifecyclePhase = .foreground) {
        fused = HandSource(update)
        instrument = Instrument(
            hub: CoreHub(),
            metricalc: nil,
            backends: [backend],
            clock: clock,
            deliveryClock: SystemClock(),
            randomness: RandomSource(SeededGenerator(seed: 1))
        )
        var sensors = Sensors(clock: clock, choices: choices)
        sensors.heading = Sensor(.heading, heading, clock: clock, choices: choices)
        sensors.location = Sensor(.location, location, clock: clock, choices: choices)
        sensors.battery = Sensor(.battery, battery, clock: clock, choices: choices)
        sensors.accelerometer = Sensor(.accelerometer, accelerometer, clock: clock, choices: choices)
        sensors.deviceMotion = Sensor(.deviceMotion, fused, clock: clock, choices: choices)
        collector = AppStateCollector(sensors: sensors, phase: phase, sdkVersion: "1", clock: clock)
        instrument.add(collector)
        instrument.ready()
    }

    /// The received samples, in order.
    func events() async -> [Event] {
        collector.enter(.terminating)
        _ = await instrument.shutdown(timeout: .seconds(1800))
        return backend.samples.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    /// Milliseconds since the beginning at which events happened.
    func times() async -> [Int64] { await events().map { $0.time.instant.milliseconds } }
}

@Suite("App state collector", .ownThread)
struct AppStateCollectorTests {
    @Test("In the foreground, sensors run for four seconds, and the event has the start time")
    func foreground() async throws {
        let it = Collecting()
        it.clock.advance(by: .seconds(10))
        it.collector.show(screens: ["Library"])
        it.collector.enter(.active)
        #expect(it.heading.isRunning)
        var north = Heading()
        (north.trueHeading, north.accuracy) = (12, 3)
        it.heading.say(.reading(north))
        it.clock.advance(by: .milliseconds(3999))
        #expect(it.heading.isRunning)
        it.clock.advance(by: .milliseconds(1))
        #expect(!it.heading.isRunning)
        #expect(!it.location.isRunning)
        let events = await it.events()
        #expect(events.map(\.action) == [.appState, .appState])
        #expect(events.map { $0.time.instant.milliseconds } == [10_000, 10_000])
        let state = AppState(try #require(events.last).attributes)
        var expected = AppState()
        (expected.sdkVersion, expected.screenTitles, expected.heading) = ("1", ["Library"], north)
        (expected.batteryLevel, expected.batteryState, expected.applicationState) = (0.5, .charging, .active)
        #expect(state == expected)
    }

    @Test("A collection with motion takes 5.1 s, and raw sensors run only without fused motion")
    func motion() async throws {
        let it = Collecting()
        try it.choices.set(SensorKind.motion, allowed: true)
        it.collector.collect()
        #expect(it.accelerometer.isRunning)
        for number in 0..<12 {
            it.accelerometer.say(.reading(Acceleration(at: nil, SensorVector(x: Double(number)))))
            it.clock.advance(by: .milliseconds(500))
            if number == 9 { #expect(it.accelerometer.isRunning) }
        }
        #expect(!it.accelerometer.isRunning)
        let state = AppState(try #require(await it.events().first).attributes)
        // 0 to 5 s, and the last of those that came before 5.1 s.
        #expect(state.accelerometer?.map(\.acceleration.x) == (1...10).map { Double($0) })
        #expect(state.motion == nil)

        let fused = Collecting(fused: .absent(.silent))
        try fused.choices.set(SensorKind.motion, allowed: true)
        fused.collector.collect()
        #expect(fused.fused.isRunning)
        #expect(!fused.accelerometer.isRunning)
    }

    @Test("In the background, the collector emits immediately and starts no sensor")
    func background() async {
        let it = Collecting(phase: .background)
        it.collector.collect()
        #expect(it.heading.startCount == 0)
        #expect(it.clock.pendingCount == 0)
        #expect(await it.times() == [0])
    }

    @Test("Leaving the foreground emits waiting collections with their initial state, and stops the sensors")
    func leaving() async throws {
        let it = Collecting()
        it.collector.enter(.active)
        it.clock.advance(by: .seconds(1))
        it.collector.enter(.background)
        #expect(!it.heading.isRunning)
        #expect(it.clock.pendingCount == 0)
        let events = await it.events()
        #expect(events.map { $0.time.instant.milliseconds } == [0])
        #expect(AppState(try #require(events.first).attributes).applicationState == .active)
    }

    @Test("The collector collects every 120 s without other collections, but not in the background")
    func interval() async {
        let it = Collecting()
        it.clock.advance(by: .seconds(100))
        it.collector.collect()
        it.clock.advance(by: .seconds(119))
        it.collector.enter(.background)
        it.clock.advance(by: .seconds(1000))
        it.collector.enter(.foreground)
        it.clock.advance(by: .seconds(10))
        // 100; due at 220, in the background; at once when it is back at 1219.
        #expect(await it.times() == [100_000, 1_219_000])
    }

    @Test("Changes of screens and activations share a limit of thirty per minute; requested collections have no limit")
    func limit() async {
        let it = Collecting()
        for number in 0..<50 { it.collector.show(screens: ["\(number)"]) }
        it.collector.enter(.active)
        for _ in 0..<50 { it.collector.collect() }
        it.collector.show(screens: ["49"])
        #expect(await it.events().count == 80)
    }

    @Test("A paused collector neither collects nor runs sensors until it resumes; both calls may be repeated")
    func paused() async {
        let it = Collecting()
        it.clock.advance(by: .seconds(1))
        it.collector.enter(.active)
        it.collector.pause()
        it.collector.pause()
        #expect(!it.heading.isRunning)
        #expect(it.clock.pendingCount == 0)
        it.collector.show(screens: ["A"])
        it.collector.enter(.active)
        it.clock.advance(by: .seconds(300))
        it.collector.collect()
        #expect(it.heading.startCount == 1)
        it.clock.advance(by: .seconds(300))
        it.collector.resume()
        it.collector.resume()
        #expect(it.clock.pendingCount == 1)
        it.clock.advance(by: .seconds(4))
        // 1 s by becoming active, emitted by the pause; 301 s on demand; 601 s by the interval.
        #expect(await it.times() == [1000, 301_000, 601_000])
    }

    @Test("A collection has no location when the person disallows locations")
    func optOut() async throws {
        let it = Collecting()
        var place = Location()
        (place.latitude, place.longitude, place.horizontalAccuracy) = (48, 11, 5)
        it.location.say(.reading(place))
        it.collector.collect()
        it.clock.advance(by: .seconds(4))
        try it.choices.set([.location], allowed: false)
        it.collector.collect()
        #expect(it.location.startCount == 1)
        it.clock.advance(by: .seconds(4))
        let states = await it.events().map { AppState($0.attributes) }
        #expect(states.map { $0.location } == [place, nil])
    }

    @Test("A removed collector leaves no alarm and no running sensor")
    func removed() {
        let it = Collecting()
        it.collector.enter(.active)
        it.instrument.remove(TrackerID(0))
        #expect(it.clock.pendingCount == 0)
        #expect(!it.heading.isRunning)
        it.collector.collect()
        it.collector.enter(.active)
        #expect(it.clock.pendingCount == 0)
    }

    @Test("A day on the virtual clock has the number of events that the rules give")
    func day() async throws {
        let it = Collecting()
        let device = DevicePropertiesCollector(LinuxDeviceReader(root: try Tree().root), clock: it.clock)
        it.instrument.add(device)
        func enter(_ phase: LifecyclePhase) {
            it.collector.enter(phase)
            device.enter(phase)
        }
        // Sixteen hours: of each, twenty minutes are used, the rest is spent in the background.
        for hour in 0..<16 {
            enter(.foreground)
            enter(.active)
            for minute in 0..<20 {
                it.collector.show(screens: ["\(hour).\(minute)"])
                it.clock.advance(by: .seconds(60))
            }
            enter(.inactive)
            enter(.background)
            it.clock.advance(by: .seconds(2400))
        }
        // For eight hours the device does not move.
        enter(.foreground)
        it.clock.advance(by: .seconds(8 * 3600))
        let events = await it.events()
        let states = events.count { $0.action == .appState }
        let properties = events.count { $0.action == .deviceProperties }
        // In each of sixteen hours one for becoming active and twenty for screens, which come before any interval is
        // over. In the last eight hours one at once, because the interval was over in the background, and one each 120
        // s: at 0, 120 … 28,800 s. The last waits, and is emitted at the end.
        #expect(states == 16 * 21 + 241)
        #expect(properties == 16 * 3 + 1)
        #expect(it.clock.now.milliseconds == 86_400_000)
        let times = events.map { $0.time.instant.milliseconds }
        #expect(times.filter { $0 > 57_600_000 }.count == 240)
    }
}

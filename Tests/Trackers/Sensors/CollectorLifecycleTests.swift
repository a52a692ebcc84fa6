import Dispatch
import Instrument
import InstrumentCompression
import InstrumentJSON
import InstrumentSensors
import InstrumentSift
import InstrumentTestKit
import InstrumentTrackers
import InstrumentTransport
import TestTraits
import Testing

/// From what happens to the app, over the collectors and the chain, to the requests that Sift gets.
@Suite("Collectors and the app's lifecycle", .ownThread)
struct CollectorLifecycleTests {
    /// Takes everything, and keeps the events of the bodies.
    private final class Service: HTTPTransport {
        private let kept = Lock([JSONValue]())
        var events: [JSONValue] { kept.withLock { $0 } }
        var states: [JSONValue] { events.compactMap { $0["ios_app_state"] } }
        var properties: [JSONValue] { events.compactMap { $0["ios_device_properties"] } }

        func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            let body = try? JSONValue(parsing: Self.unpacked(request.body))
            if case .array(let events)? = body?["data"] { kept.withLock { $0 += events } }
            return HTTPResponse(status: 200, headers: HTTPHeaders(), body: [], url: request.url)
        }

        private static func unpacked(_ packed: [UInt8]) -> [UInt8] {
            var unpacker = Gunzip()
            var bytes: [UInt8] = []
            try? unpacker.unpack(packed) { bytes += $0 }
            return bytes
        }
    }

    private struct Laptop: DevicePropertiesSource {
        func properties() -> DeviceProperties {
            var properties = DeviceProperties()
            properties.deviceName = "laptop"
            return properties
        }
    }

    private let clock = VirtualClock()
    private let life = ScriptedLifecycle()
    private let service = Service()
    private let choices = SensorChoices()
    private let accelerometer = HandSource<Acceleration>(.absent(.silent))
    private let reports = Lock([Diagnostic]())
    private let collector: AppStateCollector
    private let instrument: Instrument

    init() throws {
        var sensors = Sensors(clock: clock, choices: choices)
        sensors.accelerometer = Sensor(.accelerometer, accelerometer, clock: clock, choices: choices)
        collector = AppStateCollector(sensors: sensors, phase: .background, sdkVersion: "1", clock: clock)
        let reports = reports
        instrument = Instrument(hub: CoreHub(), metricalc: nil, clock: clock, deliveryClock: SystemClock()) {
            diagnostic in
            reports.withLock { $0.append(diagnostic) }
        }
        let credentials = try #require(SiftCredentials(accountID: "a", beaconKey: "b"))
        // Nothing is due by itself, so that what arrives was flushed.
        let patient = SiftQueue(
            "sift-default",
            acceptSameEventAfter: .zero,
            uploadWhenMoreThan: 99,
            uploadWhenOlderThan: .seconds(36_000)
        )
        _ = Sift(
            on: instrument,
            SiftConfiguration(profile: .legacy, queues: [patient, .deviceProperties]),
            credentials: credentials,
            transport: service,
            clock: clock
        )
        let device = DevicePropertiesCollector(Laptop(), clock: clock)
        instrument.add(collector)
        instrument.add(device)
        instrument.add(LifecycleTracker(life, flushing: instrument.queue, telling: [collector, device]))
        instrument.ready()
    }

    /// As the system does: on a thread without a task.
    private func enter(_ phase: LifecyclePhase) async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "life").async {
                life.enter(phase)
                continuation.resume()
            }
        }
    }

    @Test("Entering the background ends a running collection, which is sent before the source continues")
    func background() async {
        await enter(.foreground)
        await enter(.active)
        clock.advance(by: .milliseconds(1500))
        #expect(service.states.isEmpty)
        await enter(.background)
        #expect(service.states.count == 1)
        #expect(service.states.first?["application_state"] == "ui_application_state_active")
        #expect(service.events.first { $0["ios_app_state"] != nil }?["time"]?.int == wallTime(0))
        // Foreground, active and background, of which all say the same within the hour.
        #expect(service.properties.count == 1)
        #expect(service.properties.first?["device_name"] == "laptop")
        // In the background nothing is collected by itself.
        clock.advance(by: .seconds(1200))
        #expect(clock.pendingCount == 0)
        await end()
        #expect(service.states.count == 1)
    }

    @Test("A running collection arrives when the app terminates; memory pressure and wake-ups have no effect")
    func terminating() async {
        await enter(.active)
        await enter(.memoryPressure)
        await enter(.resumed)
        #expect(service.states.isEmpty)
        await enter(.terminating)
        #expect(service.states.count == 1)
        await end()
        #expect(service.states.count == 1)
        #expect(reports.withLock { $0 } == [])
    }

    @Test("Active, foreground and background collect device properties; the 120 s rule continues between them")
    func rules() async {
        await enter(.foreground)
        await enter(.active)
        clock.advance(by: .seconds(600))
        await enter(.background)
        await enter(.foreground)
        clock.advance(by: .seconds(10))
        await enter(.inactive)
        await enter(.terminating)
        // At 0 for becoming active, then every 120 s until 600 s, where the last had not waited its 4 s yet.
        let times = service.events.filter { $0["ios_app_state"] != nil }.compactMap { $0["time"]?.int }
        #expect(times == (0...5).map { wallTime($0 * 120_000) })
        await end()
    }

    @Test("Motion is sent once the person allows it, and not after the person denies it; no other call is needed")
    func motion() async throws {
        await enter(.active)
        clock.advance(by: .seconds(10))
        #expect(instrument.catalogue["accelerometer"]?.isOn == false)
        try choices.set([.accelerometer], allowed: true)
        #expect(instrument.catalogue["accelerometer"]?.isOn == true)
        collector.collect()
        clock.advance(by: .seconds(1))
        accelerometer.say(.reading(Acceleration(at: nil, SensorVector(x: 1))))
        // 5.1 s after it began.
        clock.advance(by: .seconds(5))
        try choices.set([.accelerometer], allowed: false)
        #expect(instrument.catalogue["accelerometer"]?.isOn == false)
        await enter(.terminating)
        #expect(service.states.map { $0["raw_accelerometer"] != nil } == [false, true])
        await end()
    }

    @Test("Collectors declare every field that they emit")
    func declared() {
        let (state, device) = (AppState.fields.map(\.name), DeviceProperties.fields.map(\.name))
        let declared = DevicePropertiesCollector(Laptop()).declaredFields
        for name in state { #expect(collector.declaredFields[AttributeName(name)] != nil, "\(name)") }
        for name in device { #expect(declared[AttributeName(name)] != nil, "\(name)") }
    }

    private func wallTime(_ milliseconds: Int) -> Int {
        Int(clock.timestamp(of: MonotonicInstant(nanoseconds: Int64(milliseconds) * 1_000_000)).wallTime.milliseconds)
    }

    private func end() async { await instrument.shutdown(timeout: .seconds(1800)) }
}

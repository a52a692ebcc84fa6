import Foundation
import Instrument
import TestTraits
import Testing

@testable import InstrumentSensors

@Suite("Sensors", .ownThread)
struct SensorTests {
    private let clock = VirtualClock()

    private func sensor(
        _ source: HandSource<Int>,
        _ kind: SensorKind = .battery,
        choices: SensorChoices = SensorChoices()
    )
        -> Sensor<Int>
    { Sensor(kind, source, clock: clock, choices: choices) }

    @Test("A source runs only while it has observers")
    func listening() {
        let source = HandSource<Int>()
        let sensor = sensor(source)
        #expect(!sensor.isRunning)
        let (first, second) = (sensor.listen(), sensor.listen())
        #expect(source.startCount == 1)
        first.stop()
        first.stop()
        #expect(source.isRunning)
        second.stop()
        #expect(!source.isRunning)
        #expect(!sensor.isRunning)
    }

    @Test("The last ten readings are kept, and forgotten once they are read")
    func ring() {
        let source = HandSource<Int>()
        let sensor = sensor(source)
        let run = sensor.listen()
        for number in 1...13 {
            source.say(.reading(number))
            clock.advance(by: .milliseconds(500))
        }
        #expect(sensor.takeReadings() == Array(4...13))
        #expect(sensor.takeReadings() == [])
        source.say(.reading(14))
        #expect(sensor.takeReadings() == [14])
        run.stop()
    }

    @Test("Readings above the rate limit are dropped and counted; a reading a tenth early is in time")
    func rate() {
        let source = HandSource<Int>()
        let sensor = sensor(source)
        let seen = Collected<Int>()
        let run = sensor.listen { if let reading = $0.reading { seen.add(reading) } }
        for number in 0..<100 {
            source.say(.reading(number))
            clock.advance(by: .milliseconds(50))
        }
        // Each 450 ms: every ninth.
        #expect(seen.values == Array(stride(from: 0, to: 100, by: 9)))
        #expect(sensor.thinnedCount == 88)
        run.stop()
    }

    @Test("A reading that arrives after the stop, or from an earlier start, is ignored")
    func late() {
        let source = HandSource<Int>()
        let sensor = sensor(source)
        sensor.listen().stop()
        source.say(.reading(1))
        #expect(sensor.takeReadings() == [])
    }

    @Test("A suspended sensor stops its source, and a resumed one continues for its observers; both may be repeated")
    func suspended() {
        let source = HandSource<Int>()
        let sensor = sensor(source)
        let run = sensor.listen()
        sensor.suspend()
        sensor.suspend()
        #expect(!source.isRunning)
        #expect(source.stopCount == 1)
        sensor.resume()
        sensor.resume()
        #expect(source.startCount == 2)
        run.stop()
        sensor.resume()
        #expect(source.startCount == 2)
    }

    @Test("An observer may stop during its own callback")
    func stopInside() {
        let source = HandSource<Int>()
        let sensor = sensor(source)
        let run = Lock<SensorRun?>(nil)
        let started = sensor.listen { _ in run.withLock { $0 }?.stop() }
        run.withLock { $0 = started }
        source.say(.reading(1))
        #expect(!source.isRunning)
    }

    @Test("Motion is off by default; a disallowed sensor stops at once, and its readings are deleted")
    func choices() throws {
        let choices = SensorChoices()
        let source = HandSource<Int>(.reading(7))
        let motion = sensor(source, .accelerometer, choices: choices)
        let run = motion.listen()
        #expect(source.startCount == 0)
        #expect(motion.current() == .absent(.disallowed))
        try choices.set(SensorKind.motion, allowed: true)
        #expect(source.isRunning)
        source.say(.reading(1))
        #expect(motion.latest == .reading(1))
        try choices.set([.accelerometer], allowed: false)
        #expect(!source.isRunning)
        #expect(motion.takeReadings() == [])
        #expect(motion.latest == .absent(.disallowed))
        run.stop()
    }

    @Test("Choices survive restarts in a file that only the user may read")
    func keptChoices() throws {
        let tree = try Tree()
        let path = tree.root + "/choices"
        try SensorChoices(path: path).set([.location], allowed: false)
        let next = SensorChoices(path: path)
        #expect(!next.allows(.location))
        #expect(next.allows(.battery))
        #expect(!next.allows(.deviceMotion))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: tree.root) == ["choices"])
    }

    @Test(
        "A damaged file disallows kinds that it does not name, also after the next choice is stored",
        arguments: [
            "", "{", "[]", #"{"allowed":7}"#,
        ]
    )
    func damagedChoices(text: String) throws {
        let tree = try Tree(["/choices": text])
        let choices = SensorChoices(path: tree.root + "/choices")
        #expect(!choices.allows(.location))
        try choices.set([.battery], allowed: true)
        let next = SensorChoices(path: tree.root + "/choices")
        #expect(!next.allows(.location))
        #expect(next.allows(.battery))
    }

    @Test("Choices that cannot be saved throw, and hold for this process")
    func unwritable() throws {
        let choices = SensorChoices(path: try Tree().root + "/none/choices")
        #expect(throws: SensorError.self) { try choices.set([.location], allowed: false) }
        #expect(!choices.allows(.location))
    }

    @Test("A polled source has no alarm before it is started and none after it was stopped")
    func polled() {
        let count = Lock(0)
        let source = PolledSource(every: .seconds(1), on: clock) {
            SensorUpdate.reading(
                count.withLock { count in
                    count += 1
                    return count
                }
            )
        }
        #expect(clock.pendingCount == 0)
        let run = source.start { _ in }
        clock.advance(by: .seconds(10))
        #expect(count.withLock { $0 } == 11)
        run.stop()
        #expect(clock.pendingCount == 0)
        clock.advance(by: .seconds(10))
        #expect(count.withLock { $0 } == 11)
    }

    #if os(Linux)
    @Test("Sensors appear and vanish while they are observed")
    func appearing() throws {
        let tree = try Tree()
        let choices = SensorChoices()
        try choices.set(SensorKind.motion, allowed: true)
        let sensors = Sensors.linux(root: tree.root, clock: clock, choices: choices, interfaces: { [] })
        let seen = Collected<SensorUpdate<Acceleration>>()
        let run = sensors.accelerometer.listen { seen.add($0) }
        clock.advance(by: .milliseconds(400))
        try tree.addDevice([
            "in_accel_x_raw": "0", "in_accel_y_raw": "-1", "in_accel_z_raw": "0", "in_accel_scale": "9.80665",
        ])
        clock.advance(by: .milliseconds(500))
        #expect(sensors.orientation.current() == .reading(.portrait))
        try tree.remove("/sys/bus/iio/devices/iio:device0")
        clock.advance(by: .milliseconds(500))
        try tree.addDevice(3, ["in_accel_x_raw": "2", "in_accel_scale": "9.80665"])
        clock.advance(by: .milliseconds(500))
        run.stop()
        #expect(seen.values.map { $0.absence } == [.missing, nil, .missing, nil])
        #expect(seen.values.last?.reading?.acceleration.x.map { $0.rounded() } == 2)
        #expect(sensors.accelerometer.takeReadings().count == 2)
        #expect(clock.pendingCount == 0)
    }
    #endif
}

import Foundation
import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentSensors

/// A temporary root, removed after the test.
final class Tree: Sendable {
    let root = NSTemporaryDirectory() + "sensors-\(UUID().uuidString)"

    init(_ files: [String: String] = [:]) throws {
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        for (path, text) in files { try write(path, text) }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    var files: FileTree { FileTree(root: root) }

    func write(_ path: String, _ text: String) throws { try write(path, Data(text.utf8)) }

    func write(_ path: String, _ bytes: Data) throws {
        let url = URL(fileURLWithPath: root + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: url)
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: root + path) }

    /// The files of an Industrial I/O device.
    func addDevice(_ files: [String: String]) throws { try addDevice(0, files) }

    func addDevice(_ number: Int, _ files: [String: String]) throws {
        for (name, text) in files { try write("/sys/bus/iio/devices/iio:device\(number)/\(name)", text + "\n") }
    }

    func addBattery(_ files: [String: String]) throws { try addBattery("BAT0", files) }

    func addBattery(_ name: String, _ files: [String: String]) throws {
        for (file, text) in files { try write("/sys/class/power_supply/\(name)/\(file)", text + "\n") }
    }
}

/// Keeps the received values.
final class Collected<Value: Sendable>: Sendable {
    private let state = Lock([Value]())
    var values: [Value] { state.withLock { $0 } }
    func add(_ value: Value) { state.withLock { $0.append(value) } }
}

/// A source that a test drives.
final class HandSource<Reading: Sendable>: SensorSource {
    private struct State {
        var now: SensorUpdate<Reading>
        var receive: (@Sendable (SensorUpdate<Reading>) -> Void)?
        var startCount = 0
        var stopCount = 0
    }

    private let state: Lock<State>

    init(_ now: SensorUpdate<Reading> = .absent(.silent)) { state = Lock(State(now: now)) }

    var startCount: Int { state.withLock { $0.startCount } }
    var stopCount: Int { state.withLock { $0.stopCount } }
    var isRunning: Bool { startCount > stopCount }

    func current() -> SensorUpdate<Reading> { state.withLock { $0.now } }

    func start(_ receive: @escaping @Sendable (SensorUpdate<Reading>) -> Void) -> SensorRun {
        state.withLock { state in
            state.startCount += 1
            state.receive = receive
        }
        return SensorRun { [self] in state.withLock { $0.stopCount += 1 } }
    }

    /// Says something, also after it was stopped, as sources may.
    func say(_ update: SensorUpdate<Reading>) {
        let receive = state.withLock { state in
            state.now = update
            return state.receive
        }
        receive?(update)
    }
}

/// The threads of this process that wait for sources.
func sensorThreadCount() -> Int {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.count { task in
        let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
        return name == SensorThread.name + "\n"
    }
}

/// Waits for the world outside, up to a limit; false if it did not come about.
func eventually(within seconds: Double = 1800, _ condition: () async -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
        if await condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return await condition()
}

/// Whether a program is installed. Otherwise prints which tests are skipped.
func isInstalled(_ program: String, for tests: String) -> Bool {
    let isThere = ["/usr/sbin/", "/usr/bin/", "/bin/", "/sbin/"].contains {
        FileManager.default.isExecutableFile(atPath: $0 + program)
    }
    if !isThere { print("SKIPPED: \(tests), because there is no \(program)") }
    return isThere
}

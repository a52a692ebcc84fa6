import Glibc
import Instrument
import InstrumentSensors

// Prints the sensors of a program with a mocked /sys, or in a network namespace.
#if os(Linux)
if CommandLine.arguments.dropFirst().first == "network" {
    watchNetwork()
} else {
    printSensors()
}

/// A line for each change of addresses (of IPv4: others come when they like) and of reachability, until standard input
/// ends.
func watchNetwork() {
    // Also if the parent has ended.
    Task {
        try? await Task.sleep(for: .seconds(60))
        _exit(1)
    }
    let reachability = NetworkReachability()
    let watching = reachability.start()
    let changes = Task {
        say("online \(reachability.isOnline)")
        for await isOnline in reachability.changes() { say("online \(isOnline)") }
    }
    let sensor = Sensors.linux().networkAddresses
    let listening = sensor.listen {
        say("addresses " + ($0.reading ?? []).filter { !$0.contains(":") }.joined(separator: " "))
    }
    while readLine() != nil {}
    changes.cancel()
    listening.stop()
    watching.stop()
}

func say(_ line: String) {
    // Not through `stdout`, which a blocked `readLine` may block.
    let bytes = Array((line + "\n").utf8)
    _ = write(1, bytes, bytes.count)
}

/// A line for each sensor.
func printSensors() {
    let choices = SensorChoices()
    try? choices.set(SensorKind.motion, allowed: true)
    let sensors = Sensors.linux(choices: choices)
    print("accelerometer", text(sensors.accelerometer.current().map(\.acceleration)))
    print("gyroscope", text(sensors.gyroscope.current().map(\.rotationRate)))
    print("magnetometer", text(sensors.magnetometer.current().map(\.magneticField)))
    switch sensors.battery.current() {
    case .reading(let battery): print("battery", battery.level.map { "\($0)" } ?? "-", battery.state.rawValue)
    case .absent(let absence): print("battery", absence.rawValue)
    }
    print("orientation", sensors.orientation.current().reading?.rawValue ?? "-")
}

/// To four digits after the point.
func text(_ update: SensorUpdate<SensorVector>) -> String {
    guard let vector = update.reading else { return update.absence?.rawValue ?? "" }
    return [vector.x, vector.y, vector.z].map { $0.map { "\(($0 * 10_000).rounded() / 10_000)" } ?? "-" }
        .joined(separator: " ")
}
#endif

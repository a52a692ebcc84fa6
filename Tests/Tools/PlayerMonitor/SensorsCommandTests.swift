#if os(Linux)
import Foundation
import InstrumentJSON
import Testing

/// A simulated machine of files that the commands read instead of this machine.
private final class Machine {
    let root = NSTemporaryDirectory() + "machine-\(UUID().uuidString)"

    init() throws {
        let accelerometer = "/sys/bus/iio/devices/iio:device0/"
        let files = [
            accelerometer + "in_accel_x_raw": "0\n", accelerometer + "in_accel_y_raw": "-256\n",
            // −256 × 0.0383072265625 m/s² is −1 g.
            accelerometer + "in_accel_z_raw": "nan\n", accelerometer + "in_accel_scale": "0.0383072265625\n",
            "/sys/class/power_supply/BAT0/type": "Battery\n", "/sys/class/power_supply/BAT0/capacity": "73\n",
            "/sys/class/power_supply/BAT0/status": "Charging\n",
            "/etc/os-release": "NAME=\"Some Linux\"\nVERSION_ID=7\n",
            "/sys/class/dmi/id/sys_vendor": "Maker\n", "/sys/class/dmi/id/product_name": "Box 3\n",
            "/proc/meminfo": "MemTotal: 1024 kB\n",
        ]
        for (path, text) in files {
            let url = URL(fileURLWithPath: root + path)
            let folder = url.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }
}

extension CommandLineTests {
    @Test("Sensors as text have one line each, with units, and the reason of an absence")
    func sensorsAsText() throws {
        let machine = try Machine()
        let run = try Run.playerMonitor("sensors", "--root", machine.root)
        #expect(run.status == 0)
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 11)
        let accelerometer = try #require(lines.first { $0.hasPrefix("accelerometer ") })
        #expect(accelerometer.contains("accelerationY -1.0 g") && !accelerometer.contains("accelerationZ"))
        #expect(
            lines.contains { $0.hasPrefix("battery ") && $0.contains("batteryLevel 0.73") && $0.contains("charging") }
        )
        #expect(lines.contains { $0.hasPrefix("gyroscope ") && $0.hasSuffix("absent (missing)") })
        #expect(lines.contains("reachability      no default route"))
    }

    @Test("Sensors as JSON are one object of numbers and texts")
    func sensorsAsJSON() throws {
        let machine = try Machine()
        let run = try Run.playerMonitor("sensors", "--root", machine.root, "--format", "json")
        #expect(run.status == 0)
        let json = try JSONValue(parsing: Array(run.output.utf8))
        #expect(
            json["accelerometer"]?["accelerationY"] == .double(-1)
                || json["accelerometer"]?["accelerationY"] == .int(-1)
        )
        #expect(json["battery"]?["batteryLevel"] == .double(0.73))
        #expect(json["battery"]?["batteryState"] == .string("charging"))
        #expect(json["gyroscope"]?["absent"] == .string("missing"))
        #expect(json["reachability"] == .bool(false))
    }

    @Test(
        "With --watch into a pipe, 'sensors' writes one object per second until a signal, and exits with 0",
        arguments: [SIGINT, SIGTERM]
    )
    func sensorsWatched(signal: Int32) throws {
        let machine = try Machine()
        let battery = machine.root + "/sys/class/power_supply/BAT0/"
        let arguments = ["sensors", "--watch", "--root", machine.root, "--format", "json"]
        let run = try Run.playerMonitor(arguments) { process, wait in
            wait("\"charging\"")
            try? Data("Full\n".utf8).write(to: URL(fileURLWithPath: battery + "status"))
            wait("\"full\"")
            try? FileManager.default.removeItem(atPath: battery)
            wait("\"battery\":{\"absent\":\"missing\"}")
            kill(process.processIdentifier, signal)
        }
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        let lines = run.output.split(separator: "\n")
        #expect(lines.count >= 3)
        for line in lines { _ = try JSONValue(parsing: Array(line.utf8)) }
        #expect(!run.output.contains("\u{1B}"))
    }

    @Test("The device has one line per field as text, and only known fields as JSON")
    func device() throws {
        let machine = try Machine()
        let text = try Run.playerMonitor("device", "--root", machine.root)
        #expect(text.status == 0)
        let lines = text.output.split(separator: "\n").map(String.init)
        #expect(lines.contains("system_name: Some Linux") || lines.contains("systemName: Some Linux"))
        #expect(lines.contains { $0.hasSuffix(": Maker Box 3") })
        #expect(lines.contains { $0.hasSuffix(": 1048576 B") || $0.contains(": 1048576") })
        #expect(lines.contains { $0.hasSuffix(": not known") })
        let run = try Run.playerMonitor("device", "--root", machine.root, "--format", "json")
        #expect(run.status == 0)
        guard case .object(let members) = try JSONValue(parsing: Array(run.output.utf8)) else {
            Issue.record("no object")
            return
        }
        #expect(members.values.contains(.string("Maker Box 3")))
        #expect(members.values.contains(.int(1_048_576)))
        #expect(members.count == lines.count { !$0.hasSuffix(": not known") })
    }

    @Test(
        "Wrong options give exit code 2 and are named",
        arguments: [
            (["sensors", "--format", "xml"], "xml"), (["sensors", "--gpsd", "host:0"], "HOST:PORT"),
            (["sensors", "--often"], "--often"), (["device", "--format", "yaml"], "yaml"),
            (["device", "more"], "more"),
        ]
    )
    func wrongSensorOptions(arguments: [String], word: String) throws {
        let run = try Run.playerMonitor(arguments)
        #expect(run.status == 2)
        #expect(run.errors.contains(word))
        #expect(run.output.isEmpty)
    }
}
#endif

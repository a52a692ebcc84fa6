import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentSensors

@Suite("Industrial I/O", .ownThread)
struct IIOTests {
    private func acceleration(_ files: [String: String]) throws -> SensorUpdate<SensorVector> {
        let tree = try Tree()
        try tree.addDevice(files)
        return IIOChannel.accelerometer(tree.files).read()
    }

    @Test("An accelerometer's raw values are converted to g: (raw + offset) × scale ÷ 9.80665")
    func acceleration() throws {
        // (−10 + 10) × 0.0980665 = 0; (−110 + 10) × 0.0980665 = −9.80665 m/s² = −1 g; (40 + 10) × 0.0980665 = 0.5 g.
        let update = try acceleration([
            "in_accel_x_raw": "-10", "in_accel_y_raw": "-110", "in_accel_z_raw": "40",
            "in_accel_scale": "0.0980665", "in_accel_offset": "10",
        ])
        let vector = try #require(update.reading)
        #expect(vector.x == 0)
        #expect(abs(try #require(vector.y) + 1) < 1e-12)
        #expect(abs(try #require(vector.z) - 0.5) < 1e-12)
    }

    @Test("An axis' own scale and offset override the shared values")
    func ownScale() throws {
        let tree = try Tree()
        try tree.addDevice([
            "in_anglvel_x_raw": "100", "in_anglvel_y_raw": "100", "in_anglvel_z_raw": "100",
            "in_anglvel_scale": "0.001", "in_anglvel_x_scale": "0.01", "in_anglvel_y_offset": "-50",
            "in_anglvel_offset": "0",
        ])
        #expect(IIOChannel.gyroscope(tree.files).read() == .reading(SensorVector(x: 1, y: 0.05, z: 0.1)))
    }

    @Test("A mount matrix converts the axes; the first of its three file names wins")
    func matrix() throws {
        let raw = ["in_accel_x_raw": "1", "in_accel_y_raw": "2", "in_accel_z_raw": "3", "in_accel_scale": "9.80665"]
        // x' = y, y' = −x, z' = z.
        let turned = [
            "in_accel_mount_matrix": "0, 1, 0; -1, 0, 0; 0, 0, 1", "in_mount_matrix": "1, 0, 0; 0, 1, 0; 0, 0, 1",
        ]
        let vector = try #require(try acceleration(raw.merging(turned) { $1 }).reading)
        #expect([vector.x, vector.y, vector.z].map { ($0 ?? .nan).rounded() } == [2, -1, 3])
        // x' = −x with the general name before the others.
        let first = turned.merging(["mount_matrix": "-1, 0, 0; 0, 1, 0; 0, 0, -1"]) { $1 }
        let other = try #require(try acceleration(raw.merging(first) { $1 }).reading)
        #expect([other.x, other.y, other.z].map { ($0 ?? .nan).rounded() } == [-1, 2, -3])
    }

    @Test(
        "An invalid matrix gives no reading",
        arguments: [
            "", "1, 0, 0; 0, 1, 0", "1, 0; 0, 1; 0, 0", "1, 0, 0; 0, x, 0; 0, 0, 1", "nan, 0, 0; 0, 1, 0; 0, 0, 1",
            "1 0 0 0 1 0 0 0 1",
        ]
    )
    func badMatrix(text: String) throws {
        #expect(try acceleration(["in_accel_x_raw": "1", "in_accel_mount_matrix": text]) == .absent(.unreadable))
    }

    @Test("Gauss are converted to µT, and an implausible strength is flagged")
    func magneticField() throws {
        let tree = try Tree()
        // 0.3, 0 and −0.4 gauss: 30, 0 and −40 µT, together 50.
        let files = ["in_magn_x_raw": "300", "in_magn_y_raw": "0", "in_magn_z_raw": "-400", "in_magn_scale": "0.001"]
        try tree.addDevice(files)
        let vector = try #require(IIOChannel.magnetometer(tree.files).read().reading)
        #expect(vector == SensorVector(x: 30, y: 0, z: -40))
        #expect(MagneticField(at: nil, vector).isPlausible == true)
        // A driver whose scale is a hundred times too large.
        try tree.addDevice(["in_magn_scale": "0.1"])
        let wrong = try #require(IIOChannel.magnetometer(tree.files).read().reading)
        #expect(MagneticField(at: nil, wrong).isPlausible == false)
        #expect(MagneticField(at: nil, SensorVector(x: 1)).isPlausible == nil)
    }

    @Test(
        "An invalid number omits only its axis",
        arguments: [
            "", "nan", "inf", "-inf", "twelve", "1e400", "1 2", "0x", "\u{0}",
        ]
    )
    func badAxis(text: String) throws {
        let update = try acceleration([
            "in_accel_x_raw": text, "in_accel_y_raw": "-1", "in_accel_z_raw": "2", "in_accel_scale": "9.80665",
        ])
        let vector = try #require(update.reading)
        #expect(vector.x == nil)
        #expect(vector.y != nil)
        #expect(vector.z != nil)
        #expect(vector.magnitude == nil)
    }

    @Test("A value that overflows is omitted")
    func huge() throws {
        let update = try acceleration(["in_accel_x_raw": "1e300", "in_accel_y_raw": "1", "in_accel_scale": "1e300"])
        let vector = try #require(update.reading)
        #expect(vector.x == nil)
        #expect(vector.y != nil)
    }

    @Test("An invalid scale gives no reading")
    func badScale() throws {
        let raw = ["in_accel_x_raw": "1", "in_accel_y_raw": "1", "in_accel_z_raw": "1"]
        #expect(try acceleration(raw.merging(["in_accel_scale": "nan"]) { $1 }) == .absent(.unreadable))
        #expect(try acceleration(raw.merging(["in_accel_offset": ""]) { $1 }) == .absent(.unreadable))
    }

    @Test("An absent sensor is missing; directories in a file's place are unreadable")
    func absent() throws {
        #expect(IIOChannel.accelerometer(try Tree().files).read() == .absent(.missing))
        #expect(try acceleration(["in_magn_x_raw": "1"]) == .absent(.missing))
        let tree = try Tree(["/sys/bus/iio/devices/iio:device0/in_accel_x_raw/inside": "1"])
        #expect(IIOChannel.accelerometer(tree.files).read() == .absent(.unreadable))
    }

    @Test("Each sensor is found on its own device")
    func devices() throws {
        let tree = try Tree()
        try tree.addDevice(0, ["in_illuminance_raw": "5"])
        try tree.addDevice(10, ["in_anglvel_x_raw": "2"])
        try tree.addDevice(2, ["in_anglvel_x_raw": "1"])
        #expect(IIOChannel.gyroscope(tree.files).read() == .reading(SensorVector(x: 1)))
    }

    @Test("Proximity is near from the kernel's near level on, and unknown without that level")
    func proximity() throws {
        let tree = try Tree()
        let sensor = IIOProximity(tree: tree.files)
        #expect(sensor.read() == .absent(.missing))
        try tree.addDevice(["in_proximity_raw": "99", "in_proximity_nearlevel": "100"])
        #expect(sensor.read() == .reading(false))
        try tree.addDevice(["in_proximity_raw": "100"])
        #expect(sensor.read() == .reading(true))
        try tree.addDevice(["in_proximity_nearlevel": "x"])
        #expect(sensor.read() == .absent(.unreadable))
    }

    @Test("Random file contents neither trap nor give values that are not finite", arguments: Rounds.seeds(200))
    func anything(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let tree = try Tree()
        let texts = [
            "", "0", "-1", "1e308", "nan", "inf", "-", "9223372036854775808", "0.1", "1, 0, 0; 0, 1, 0; 0, 0, 1", "é",
            ";,;",
        ]
        let names = [
            "in_accel_x_raw", "in_accel_y_raw", "in_accel_z_raw", "in_accel_scale", "in_accel_x_scale",
            "in_accel_offset",
            "in_accel_z_offset", "mount_matrix", "in_mount_matrix",
        ]
        for name in names where Bool.random(using: &random) {
            try tree.addDevice([name: texts.randomElement(using: &random) ?? ""])
        }
        if let vector = IIOChannel.accelerometer(tree.files).read().reading {
            for value in [vector.x, vector.y, vector.z] { #expect(value?.isFinite ?? true) }
            #expect(!vector.isEmpty)
        }
    }
}

@Suite("Power supply", .ownThread)
struct PowerSupplyTests {
    @Test(
        "The kernel's battery status gives the expected state",
        arguments: [
            ("Charging", BatteryState.charging), ("Full", .full), ("Discharging", .unplugged),
            ("Not charging", .unplugged),
            ("Unknown", .unknown), ("", .unknown),
        ]
    )
    func states(status: String, state: BatteryState) throws {
        let tree = try Tree()
        try tree.addBattery(["type": "Battery", "capacity": "73", "status": status])
        #expect(PowerSupply(tree: tree.files).read() == .reading(Battery(level: 0.73, state: state)))
    }

    @Test("Mains and the batteries of other devices are ignored")
    func others() throws {
        let tree = try Tree()
        let supply = PowerSupply(tree: tree.files)
        #expect(supply.read() == .absent(.missing))
        try tree.addBattery("AC", ["type": "Mains", "online": "1"])
        try tree.addBattery("mouse", ["type": "Battery", "scope": "Device", "capacity": "5", "status": "Discharging"])
        #expect(supply.read() == .absent(.missing))
        try tree.addBattery(
            "macsmc-battery",
            ["type": "Battery", "scope": "System", "capacity": "100", "status": "Full"]
        )
        #expect(supply.read() == .reading(Battery(level: 1, state: .full)))
    }

    @Test("An invalid level is omitted, and the state is kept", arguments: ["-1", "101", "nan", "", "x", "1e999"])
    func levels(capacity: String) throws {
        let tree = try Tree()
        try tree.addBattery(["type": "Battery", "capacity": capacity, "status": "Charging"])
        #expect(PowerSupply(tree: tree.files).read() == .reading(Battery(level: nil, state: .charging)))
    }
}

@Suite("Orientation", .ownThread)
struct OrientationTests {
    @Test(
        "The direction of gravity gives the orientation",
        arguments: [
            (0.0, -1.0, 0.0, DeviceOrientation.portrait), (0, 1, 0, .portraitUpsideDown), (1, 0, 0, .landscapeRight),
            (-1, 0, 0, .landscapeLeft), (0, 0, -1, .faceUp), (0, 0, 1, .faceDown),
        ]
    )
    func held(x: Double, y: Double, z: Double, orientation: DeviceOrientation) {
        var rule = OrientationRule()
        #expect(rule.orientation(after: SensorVector(x: x, y: y, z: z)) == orientation)
    }

    @Test("The orientation changes only when another axis is stronger by a fifth")
    func steady() {
        var rule = OrientationRule()
        _ = rule.orientation(after: SensorVector(x: 0, y: -1, z: 0))
        // sin 50° − cos 50° = 0.123: not enough. sin 54° − cos 54° = 0.221: enough.
        #expect(rule.orientation(after: SensorVector(x: -0.766, y: -0.643, z: 0)) == .portrait)
        #expect(rule.orientation(after: SensorVector(x: -0.809, y: -0.588, z: 0)) == .landscapeLeft)
        #expect(rule.orientation(after: SensorVector(x: -0.643, y: -0.766, z: 0)) == .landscapeLeft)
    }

    @Test("The orientation stays while the device is shaken or falls, or the reading is incomplete")
    func shaken() {
        var rule = OrientationRule()
        #expect(rule.orientation(after: SensorVector(x: 0, y: 0, z: 0)) == .unknown)
        _ = rule.orientation(after: SensorVector(x: 0, y: -1, z: 0))
        for vector in [
            SensorVector(x: 3, y: 0, z: 0), SensorVector(x: 0.1, y: 0, z: 0), SensorVector(x: 1, y: nil, z: 0),
        ] {
            #expect(rule.orientation(after: vector) == .portrait)
        }
    }
}

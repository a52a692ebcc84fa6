/// The kind of a sensor's measurement. The set is open; the file of ``SensorChoices`` contains the names.
public struct SensorKind: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let name: String
    /// Whether it is read by default.
    package let isOnByDefault: Bool

    /// Creates a kind.
    package init(_ name: String, isOnByDefault: Bool) { (self.name, self.isOnByDefault) = (name, isOnByDefault) }

    /// The name.
    public var description: String { name }

    /// Equal names.
    public static func == (left: SensorKind, right: SensorKind) -> Bool { left.name == right.name }
    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension SensorKind {
    /// Raw acceleration. Off unless chosen.
    public static let accelerometer = SensorKind("accelerometer", isOnByDefault: false)
    /// Raw rotation. Off unless chosen.
    public static let gyroscope = SensorKind("gyroscope", isOnByDefault: false)
    /// The raw magnetic field. Off unless chosen.
    public static let magnetometer = SensorKind("magnetometer", isOnByDefault: false)
    /// Fused motion. Off unless chosen.
    public static let deviceMotion = SensorKind("deviceMotion", isOnByDefault: false)
    /// The position.
    public static let location = SensorKind("location", isOnByDefault: true)
    /// The heading of the device.
    public static let heading = SensorKind("heading", isOnByDefault: true)
    /// The battery.
    public static let battery = SensorKind("battery", isOnByDefault: true)
    /// The orientation of the device.
    public static let orientation = SensorKind("orientation", isOnByDefault: true)
    /// Whether something is close to the screen.
    public static let proximity = SensorKind("proximity", isOnByDefault: true)
    /// The addresses of network interfaces.
    public static let networkAddresses = SensorKind("networkAddresses", isOnByDefault: true)

    /// The motion sensors, which are off by default, together or individually.
    public static let motion: [SensorKind] = [.accelerometer, .gyroscope, .magnetometer, .deviceMotion]
    /// All kinds of this library.
    public static let all: [SensorKind] =
        motion + [.location, .heading, .battery, .orientation, .proximity, .networkAddresses]
}

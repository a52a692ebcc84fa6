/// What a sensor measures. The set is open; the name is what is kept in the file of ``SensorChoices``.
public struct SensorKind: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let name: String
    /// Whether it is read unless the person says otherwise.
    public let isOnByDefault: Bool

    /// Creates a kind.
    public init(_ name: String, isOnByDefault: Bool) { (self.name, self.isOnByDefault) = (name, isOnByDefault) }

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
    /// Where the device points.
    public static let heading = SensorKind("heading", isOnByDefault: true)
    /// The battery.
    public static let battery = SensorKind("battery", isOnByDefault: true)
    /// How the device is held.
    public static let orientation = SensorKind("orientation", isOnByDefault: true)
    /// Whether something is close to the screen.
    public static let proximity = SensorKind("proximity", isOnByDefault: true)
    /// The addresses of network interfaces.
    public static let networkAddresses = SensorKind("networkAddresses", isOnByDefault: true)

    /// What moves with the device: off unless chosen, as a whole or one by one.
    public static let motion: [SensorKind] = [.accelerometer, .gyroscope, .magnetometer, .deviceMotion]
    /// All of ours.
    public static let all: [SensorKind] =
        motion + [.location, .heading, .battery, .orientation, .proximity, .networkAddresses]
}

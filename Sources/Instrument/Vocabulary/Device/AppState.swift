/// What an app and its surroundings are like at a moment. What is nil is not known, and left out.
///
/// ``Action/appState`` carries it, an attribute for each field:
///
/// ```swift
/// instrument.emit(.appState, from: tracker, attributes: state.attributes)
/// let state = AppState(event.attributes)
/// ```
public struct AppState: AttributeRecord {
    /// The version of what collects.
    public var sdkVersion: String?
    /// The titles of the screens that are shown.
    public var screenTitles: [String]?
    /// How full the battery is, 0 to 1.
    public var batteryLevel: Double?
    /// What the battery does.
    public var batteryState: BatteryState?
    /// Whether something is close to the screen.
    public var proximityState: Bool?
    /// IPv4 and IPv6 addresses of interfaces that are up, without loopback.
    public var networkAddresses: [String]?
    /// The last known location.
    public var location: Location?
    /// What the app is doing.
    public var applicationState: ApplicationState?
    /// How the device is held.
    public var deviceOrientation: DeviceOrientation?
    /// Where the device points.
    public var heading: Heading?
    /// The last fused readings of the motion sensors.
    public var motion: [DeviceMotion]?
    /// The last raw readings of the accelerometer.
    public var accelerometer: [Acceleration]?
    /// The last raw readings of the gyroscope.
    public var gyroscope: [RotationRate]?
    /// The last raw readings of the magnetometer.
    public var magnetometer: [MagneticField]?

    /// Creates a state that says nothing.
    public init() {}

    /// The attributes of ``Action/appState``.
    public static let fields: [RecordField<Self>] = [
        .text("sdkVersion", \.sdkVersion),
        .texts("screenTitles", \.screenTitles),
        .number("batteryLevel", \.batteryLevel, within: 0...1),
        .word("batteryState", \.batteryState),
        .truth("proximityState", \.proximityState),
        .texts("networkAddresses", \.networkAddresses),
        .record("location", \.location),
        .word("applicationState", \.applicationState),
        .word("deviceOrientation", \.deviceOrientation),
        .record("heading", \.heading),
        .records("motion", \.motion),
        .records("accelerometer", \.accelerometer),
        .records("gyroscope", \.gyroscope),
        .records("magnetometer", \.magnetometer),
    ]
}

/// What a battery does.
public enum BatteryState: String, Hashable, Sendable, CaseIterable, AttributeValueConvertible {
    /// Nobody knows.
    case unknown
    /// It is used up.
    case unplugged
    /// It is being charged.
    case charging
    /// It is full.
    case full
}

/// What an app is doing.
public enum ApplicationState: String, Hashable, Sendable, CaseIterable, AttributeValueConvertible {
    /// It is used.
    case active
    /// It is visible, and not used.
    case inactive
    /// It is not visible.
    case background
}

/// How a device is held.
public enum DeviceOrientation: String, Hashable, Sendable, CaseIterable, AttributeValueConvertible {
    /// Nobody knows.
    case unknown
    /// Upright.
    case portrait
    /// Upside down.
    case portraitUpsideDown
    /// On its side, the right side up.
    case landscapeLeft
    /// On its side, the left side up.
    case landscapeRight
    /// Flat, the screen up.
    case faceUp
    /// Flat, the screen down.
    case faceDown
}

extension Action {
    /// What the app and its surroundings are like; its attributes are ``AppState``'s. Our addition.
    public static let appState = Action("AppState")
    /// What the device is; its attributes are ``DeviceProperties``'. Our addition.
    public static let deviceProperties = Action("DeviceProperties")
}

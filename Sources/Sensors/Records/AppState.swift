public import Instrument

/// What an app and its surroundings are like at a moment. Unknown fields are nil and left out.
///
/// `Action.appState` carries it, an attribute for each field:
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

    /// The attributes of `Action.appState`.
    public static let fields: [RecordField<Self>] = [
        .text("sdkVersion", \.sdkVersion)
            .declared("The version of what collects"),
        .texts("screenTitles", \.screenTitles)
            .declared("The titles of the screens that are shown", .productInteraction),
        .number("batteryLevel", \.batteryLevel, within: 0...1)
            .declared("How full the battery is"),
        .word("batteryState", \.batteryState)
            .declared("What the battery does"),
        .truth("proximityState", \.proximityState)
            .declared("Whether something is close to the screen"),
        .texts("networkAddresses", \.networkAddresses)
            .declared("The addresses of the device in its networks", .otherDataTypes, isLinked: true),
        .record("location", \.location)
            .declared("Where the device is", .preciseLocation, isLinked: true),
        .word("applicationState", \.applicationState)
            .declared("Whether the app is used", .productInteraction),
        .word("deviceOrientation", \.deviceOrientation)
            .declared("How the device is held"),
        .record("heading", \.heading)
            .declared("Where the device points", .otherDataTypes),
        .records("motion", \.motion)
            .declared("How the device was moved", .otherDataTypes, isOn: false),
        .records("accelerometer", \.accelerometer)
            .declared("How the device was accelerated", .otherDataTypes, isOn: false),
        .records("gyroscope", \.gyroscope)
            .declared("How the device was turned", .otherDataTypes, isOn: false),
        .records("magnetometer", \.magnetometer)
            .declared("The magnetic field around the device", .otherDataTypes, isOn: false),
    ]
}

/// What a battery does.
public enum BatteryState: String, Hashable, Sendable, CaseIterable, AttributeValueConvertible {
    /// Unknown.
    case unknown
    /// On battery.
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
    /// Unknown.
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

public import Instrument

/// The state of an app and its surroundings at an instant. Unknown fields are nil and omitted.
///
/// `Action.appState` carries the state, one attribute for each field:
///
/// ```swift
/// instrument.emit(.appState, from: tracker, attributes: state.attributes)
/// let state = AppState(event.attributes)
/// ```
public struct AppState: AttributeRecord {
    /// The version of the collecting library.
    package var sdkVersion: String?
    /// The titles of the shown screens.
    package var screenTitles: [String]?
    /// The battery's level, 0 to 1.
    package var batteryLevel: Double?
    /// The battery's state.
    package var batteryState: BatteryState?
    /// Whether something is close to the screen.
    package var proximityState: Bool?
    /// IPv4 and IPv6 addresses of interfaces that are up, without loopback.
    package var networkAddresses: [String]?
    /// The last known location.
    package var location: Location?
    /// The app's state.
    package var applicationState: ApplicationState?
    /// The orientation of the device.
    package var deviceOrientation: DeviceOrientation?
    /// The heading of the device.
    package var heading: Heading?
    /// The last fused readings of the motion sensors.
    package var motion: [DeviceMotion]?
    /// The last raw readings of the accelerometer.
    package var accelerometer: [Acceleration]?
    /// The last raw readings of the gyroscope.
    package var gyroscope: [RotationRate]?
    /// The last raw readings of the magnetometer.
    package var magnetometer: [MagneticField]?

    /// Creates an empty state.
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

/// The state of a battery.
package enum BatteryState: String, Hashable, Sendable, CaseIterable, AttributeValueConvertible {
    /// Unknown.
    case unknown
    /// On battery.
    case unplugged
    /// Charging.
    case charging
    /// Full.
    case full
}

/// The state of an app.
package enum ApplicationState: String, Hashable, Sendable, CaseIterable, AttributeValueConvertible {
    /// In use.
    case active
    /// Visible, and not in use.
    case inactive
    /// Not visible.
    case background
}

/// The orientation of a device.
package enum DeviceOrientation: String, Hashable, Sendable, CaseIterable, AttributeValueConvertible {
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
    /// The state of the app and its surroundings; its attributes are ``AppState``'s. An addition to the data model.
    public static let appState = Action("AppState")
    /// The properties of the device; its attributes are ``DeviceProperties``'. An addition to the data model.
    public static let deviceProperties = Action("DeviceProperties")
}

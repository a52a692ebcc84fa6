/// What an app and its surroundings are like at a moment (`ios_app_state`). What is nil is left out.
public struct SiftAppState: Hashable, Sendable {
    /// The version of what collects.
    public var sdkVersion: String?
    /// The titles of the screens that are shown.
    public var windowRootViewControllerTitles: [String]?
    /// How full the battery is, 0 to 1; anything else is left out.
    public var batteryLevel: Double?
    /// What the battery does.
    public var batteryState: SiftBatteryState?
    /// Whether something is close to the device.
    public var proximityState: Bool?
    /// IPv4 and IPv6 addresses of interfaces that are up, without loopback.
    public var networkAddresses: [String]?
    /// The last known location; taken out when the event is appended while its collection is disallowed.
    public var location: SiftLocation?
    /// What the app is doing. Legacy.
    public var applicationState: SiftApplicationState?
    /// How the device is held. Legacy.
    public var deviceOrientation: SiftDeviceOrientation?
    /// Where the device points. Legacy.
    public var heading: SiftHeading?
    /// The last fused readings of the motion sensors. Legacy.
    public var motion: [SiftMotion] = []
    /// The last raw readings of the accelerometer, in g. Legacy.
    public var rawAccelerometer: [SiftAcceleration] = []
    /// The last raw readings of the gyroscope, in rad/s. Legacy.
    public var rawGyro: [SiftRotation] = []
    /// The last raw readings of the magnetometer, in µT. Legacy.
    public var rawMagnetometer: [SiftMagneticField] = []

    /// Creates a state that says nothing.
    public init() {}
}

/// What a battery does.
public enum SiftBatteryState: String, Hashable, Sendable, CaseIterable {
    /// Nobody knows.
    case unknown = "ui_device_battery_state_unknown"
    /// It is used up.
    case unplugged = "ui_device_battery_state_unplugged"
    /// It is being charged.
    case charging = "ui_device_battery_state_charging"
    /// It is full.
    case full = "ui_device_battery_state_full"
}

/// What an app is doing.
public enum SiftApplicationState: String, Hashable, Sendable, CaseIterable {
    /// It is used.
    case active = "ui_application_state_active"
    /// It is visible, and not used.
    case inactive = "ui_application_state_inactive"
    /// It is not visible.
    case background = "ui_application_state_background"
}

/// How a device is held.
public enum SiftDeviceOrientation: String, Hashable, Sendable, CaseIterable {
    /// Nobody knows.
    case unknown = "ui_device_orientation_unknown"
    /// Upright.
    case portrait = "ui_device_orientation_portrait"
    /// Upside down.
    case portraitUpsideDown = "ui_device_orientation_portrait_upside_down"
    /// On its side, the top to the left.
    case landscapeLeft = "ui_device_orientation_landscape_left"
    /// On its side, the top to the right.
    case landscapeRight = "ui_device_orientation_landscape_right"
    /// Flat, the screen up.
    case faceUp = "ui_device_orientation_face_up"
    /// Flat, the screen down.
    case faceDown = "ui_device_orientation_face_down"
}

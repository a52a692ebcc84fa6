// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

/// UIDevice.h: NS_SWIFT_UI_ACTOR. `simulate…` is a test's: it changes a value and posts the notification.
@MainActor
public final class UIDevice: NSObject {
    public enum BatteryState: Int, Sendable { case unknown, unplugged, charging, full }

    public static let current = UIDevice()

    nonisolated public static let batteryLevelDidChangeNotification = Notification.Name(
        "UIDeviceBatteryLevelDidChangeNotification"
    )
    nonisolated public static let batteryStateDidChangeNotification = Notification.Name(
        "UIDeviceBatteryStateDidChangeNotification"
    )
    nonisolated public static let orientationDidChangeNotification = Notification.Name(
        "UIDeviceOrientationDidChangeNotification"
    )
    nonisolated public static let proximityStateDidChangeNotification = Notification.Name(
        "UIDeviceProximityStateDidChangeNotification"
    )

    public var isBatteryMonitoringEnabled = false
    public private(set) var batteryLevel: Float = -1
    public private(set) var batteryState = BatteryState.unknown
    public private(set) var orientation = UIDeviceOrientation.unknown
    public private(set) var proximityState = false

    private var isProximityWanted = false
    /// Stays off on a device without the sensor.
    public var isProximityMonitoringEnabled: Bool {
        get { isProximityWanted && hasProximitySensor }
        set { isProximityWanted = newValue }
    }

    /// How often orientations were asked for and not given back.
    public private(set) var orientationRequestCount = 0
    public var hasProximitySensor = true

    public func beginGeneratingDeviceOrientationNotifications() { orientationRequestCount += 1 }
    public func endGeneratingDeviceOrientationNotifications() { orientationRequestCount -= 1 }

    public func simulate(battery level: Float, _ state: BatteryState) {
        (batteryLevel, batteryState) = (level, state)
        NotificationCenter.default.post(name: Self.batteryStateDidChangeNotification, object: self)
    }

    public func simulate(_ orientation: UIDeviceOrientation) {
        self.orientation = orientation
        NotificationCenter.default.post(name: Self.orientationDidChangeNotification, object: self)
    }

    public func simulate(proximity isNear: Bool) {
        proximityState = isNear
        NotificationCenter.default.post(name: Self.proximityStateDidChangeNotification, object: self)
    }
}

public enum UIDeviceOrientation: Int, Sendable {
    case unknown, portrait, portraitUpsideDown, landscapeLeft, landscapeRight, faceUp, faceDown
}

/// UIApplication.h: NS_SWIFT_UI_ACTOR.
@MainActor
public final class UIApplication: NSObject {
    nonisolated public static let didBecomeActiveNotification = Notification.Name(
        "UIApplicationDidBecomeActiveNotification"
    )
    nonisolated public static let willResignActiveNotification = Notification.Name(
        "UIApplicationWillResignActiveNotification"
    )
    nonisolated public static let willEnterForegroundNotification = Notification.Name(
        "UIApplicationWillEnterForegroundNotification"
    )
    nonisolated public static let didEnterBackgroundNotification = Notification.Name(
        "UIApplicationDidEnterBackgroundNotification"
    )
    nonisolated public static let willTerminateNotification = Notification.Name(
        "UIApplicationWillTerminateNotification"
    )
    nonisolated public static let didReceiveMemoryWarningNotification = Notification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification"
    )
}

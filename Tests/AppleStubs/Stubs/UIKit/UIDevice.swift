// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

/// NS_SWIFT_UI_ACTOR
@MainActor
@available(watchOS, unavailable)
public final class UIDevice: NSObject {  // UIDevice.h:35
    // UIDevice.h:15
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    public enum BatteryState: Int, Sendable { case unknown, unplugged, charging, full }

    public static let current = UIDevice()  // UIDevice.h:37

    // UIDevice.h:85
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    nonisolated public static let batteryLevelDidChangeNotification = Notification.Name(
        "UIDeviceBatteryLevelDidChangeNotification"
    )
    // UIDevice.h:84
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    nonisolated public static let batteryStateDidChangeNotification = Notification.Name(
        "UIDeviceBatteryStateDidChangeNotification"
    )
    // UIDevice.h:83
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    @available(watchOS, unavailable)
    nonisolated public static let orientationDidChangeNotification = Notification.Name(
        "UIDeviceOrientationDidChangeNotification"
    )
    // UIDevice.h:86
    @available(watchOS, unavailable)
    nonisolated public static let proximityStateDidChangeNotification = Notification.Name(
        "UIDeviceProximityStateDidChangeNotification"
    )

    @available(tvOS, unavailable)
    public var isBatteryMonitoringEnabled = false  // UIDevice.h:52
    @available(tvOS, unavailable)
    public private(set) var batteryLevel: Float = -1  // UIDevice.h:54
    @available(tvOS, unavailable)
    public private(set) var batteryState = BatteryState.unknown  // UIDevice.h:53
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    public private(set) var orientation = UIDeviceOrientation.unknown  // UIDevice.h:44
    public private(set) var proximityState = false  // UIDevice.h:57

    private var isProximityWanted = false
    // UIDevice.h:56. Stays off on a device without the sensor.
    public var isProximityMonitoringEnabled: Bool {
        get { isProximityWanted && hasProximitySensor }
        set { isProximityWanted = newValue }
    }

    // For tests: how often orientations were asked for and not given back.
    public private(set) var orientationRequestCount = 0
    public var hasProximitySensor = true  // For tests.

    // UIDevice.h:49
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    public func beginGeneratingDeviceOrientationNotifications() { orientationRequestCount += 1 }
    // UIDevice.h:50
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    public func endGeneratingDeviceOrientationNotifications() { orientationRequestCount -= 1 }

}

// For tests: each changes a value and posts the notification.
extension UIDevice {
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

// UIOrientation.h:13
@available(tvOS, unavailable)
@available(watchOS, unavailable)
public enum UIDeviceOrientation: Int, Sendable {
    case unknown, portrait, portraitUpsideDown, landscapeLeft, landscapeRight, faceUp, faceDown
}

/// NS_SWIFT_UI_ACTOR; the constants are NS_SWIFT_NONISOLATED.
@MainActor
@available(watchOS, unavailable)
public final class UIApplication: NSObject {  // UIApplication.h:85
    // UIApplication.h:554
    nonisolated public static let didBecomeActiveNotification = Notification.Name(
        "UIApplicationDidBecomeActiveNotification"
    )
    // UIApplication.h:555
    nonisolated public static let willResignActiveNotification = Notification.Name(
        "UIApplicationWillResignActiveNotification"
    )
    // UIApplication.h:552
    nonisolated public static let willEnterForegroundNotification = Notification.Name(
        "UIApplicationWillEnterForegroundNotification"
    )
    // UIApplication.h:551
    nonisolated public static let didEnterBackgroundNotification = Notification.Name(
        "UIApplicationDidEnterBackgroundNotification"
    )
    // UIApplication.h:557
    nonisolated public static let willTerminateNotification = Notification.Name(
        "UIApplicationWillTerminateNotification"
    )
    // UIApplication.h:556
    nonisolated public static let didReceiveMemoryWarningNotification = Notification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification"
    )
}

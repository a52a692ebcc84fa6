#if canImport(UIKit) && !os(tvOS) && !os(watchOS) && !os(visionOS)
internal import Foundation
internal import Instrument
internal import UIKit

/// Battery, orientation and proximity of a phone or tablet (UIKit). Each is observed only while there is a listener,
/// because UIKit uses energy for it. An app that observes battery or proximity itself must enable it again after the
/// last listener.
///
/// Compiled against declarations of UIKit on Linux, with its logic tested there; not run on an Apple platform.
package final class HandheldSensors: Sendable {
    private let batteries: SharedSource<Battery>
    private let orientations: SharedSource<DeviceOrientation>
    private let proximities: SharedSource<Bool>

    /// Creates the sensors; nothing is watched until a source is started.
    package init() {
        batteries = Self.source(
            [UIDevice.batteryLevelDidChangeNotification, UIDevice.batteryStateDidChangeNotification],
            turn: { $0.isBatteryMonitoringEnabled = $1 },
            read: { device in
                // −1 is an unknown level.
                let level = Double(device.batteryLevel)
                return .reading(Battery(level: level >= 0 ? level : nil, state: BatteryState(device.batteryState)))
            }
        )
        orientations = Self.source(
            [UIDevice.orientationDidChangeNotification],
            // UIKit counts these calls, so the app's own calls stay in effect.
            turn: { device, isOn in
                if isOn {
                    device.beginGeneratingDeviceOrientationNotifications()
                } else {
                    device.endGeneratingDeviceOrientationNotifications()
                }
            },
            read: { .reading(DeviceOrientation($0.orientation)) }
        )
        proximities = Self.source(
            [UIDevice.proximityStateDidChangeNotification],
            turn: { $0.isProximityMonitoringEnabled = $1 },
            // On a device without the sensor the property stays false.
            read: { $0.isProximityMonitoringEnabled ? .reading($0.proximityState) : .absent(.missing) }
        )
    }

    /// The battery's level and state.
    package var battery: some SensorSource<Battery> { batteries }
    /// The orientation of the device.
    package var orientation: some SensorSource<DeviceOrientation> { orientations }
    /// Whether something is close to the screen, which UIKit then turns off while there is a listener.
    package var proximity: some SensorSource<Bool> { proximities }

    private static func source<Reading: Sendable>(
        _ names: [Notification.Name],
        turn: @escaping @MainActor @Sendable (UIDevice, Bool) -> Void,
        read: @escaping @MainActor @Sendable (UIDevice) -> SensorUpdate<Reading>
    ) -> SharedSource<Reading> {
        let watcher = DeviceWatcher(names, turn: turn, read: read)
        // The main queue keeps the order of starts and stops.
        return SharedSource(
            begin: { say in DispatchQueue.main.async { MainActor.assumeIsolated { watcher.begin(say) } } },
            end: { DispatchQueue.main.async { MainActor.assumeIsolated { watcher.end() } } }
        )
    }
}

/// One property of the device, which only the main thread may access.
@MainActor
private final class DeviceWatcher<Reading: Sendable> {
    private let names: [Notification.Name]
    private let turn: @MainActor @Sendable (UIDevice, Bool) -> Void
    private let read: @MainActor @Sendable (UIDevice) -> SensorUpdate<Reading>
    private var tokens: [any NSObjectProtocol] = []

    nonisolated init(
        _ names: [Notification.Name],
        turn: @escaping @MainActor @Sendable (UIDevice, Bool) -> Void,
        read: @escaping @MainActor @Sendable (UIDevice) -> SensorUpdate<Reading>
    ) {
        (self.names, self.turn, self.read) = (names, turn, read)
    }

    func begin(_ say: @escaping @Sendable (SensorUpdate<Reading>) -> Void) {
        turn(.current, true)
        tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { @Sendable [weak self] _ in
                // Not through an operation queue: where the post comes from the main thread, it could wait for itself.
                DispatchQueue.main.async {
                    MainActor.assumeIsolated {
                        if let self { say(self.read(.current)) }
                    }
                }
            }
        }
        say(read(.current))
    }

    func end() {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
        tokens = []
        turn(.current, false)
    }
}

extension BatteryState {
    fileprivate init(_ state: UIDevice.BatteryState) {
        switch state {
        case .unplugged: self = .unplugged
        case .charging: self = .charging
        case .full: self = .full
        case .unknown: self = .unknown
        @unknown default: self = .unknown
        }
    }
}

extension DeviceOrientation {
    /// UIKit names a landscape orientation by the direction of the device's top, as this library does:
    /// `landscapeLeft` has the right side up.
    fileprivate init(_ orientation: UIDeviceOrientation) {
        switch orientation {
        case .portrait: self = .portrait
        case .portraitUpsideDown: self = .portraitUpsideDown
        case .landscapeLeft: self = .landscapeLeft
        case .landscapeRight: self = .landscapeRight
        case .faceUp: self = .faceUp
        case .faceDown: self = .faceDown
        case .unknown: self = .unknown
        @unknown default: self = .unknown
        }
    }
}
#endif

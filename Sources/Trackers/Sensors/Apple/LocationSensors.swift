#if canImport(CoreLocation) && !os(tvOS) && !os(visionOS)
internal import CoreLocation
internal import Foundation
internal import Instrument

/// Position and heading (CoreLocation). Never asks the person for permission: the app asks, at a suitable time.
/// Without permission both are absent with ``SensorAbsence/denied``.
///
/// Positions are coarse (a hundred metres), so that no satellite receiver starts for them.
///
/// Compiled against declarations of CoreLocation on Linux, with its logic tested there; not run on an Apple platform.
package final class LocationSensors: Sendable {
    private let locations: SharedSource<Location>
    private let headings: SharedSource<Heading>

    /// Creates the sensors; nothing runs until a source is started.
    package init() {
        let watcher = LocationWatcher()
        locations = SharedSource(
            begin: { say in watcher.report(locationsTo: say) },
            end: { watcher.report(locationsTo: nil) }
        )
        headings = SharedSource(
            absence: { CLLocationManager.headingAvailable() ? nil : .missing },
            begin: { say in watcher.report(headingsTo: say) },
            end: { watcher.report(headingsTo: nil) }
        )
    }

    /// Positions, the last known first.
    package var location: some SensorSource<Location> { locations }

    /// Headings; a Mac has none.
    package var heading: some SensorSource<Heading> { headings }
}

/// Receives the system's updates, on the main thread, because the manager needs a run loop.
private final class LocationWatcher: NSObject, CLLocationManagerDelegate, Sendable {
    private struct State {
        var location: (@Sendable (SensorUpdate<Location>) -> Void)?
        var heading: (@Sendable (SensorUpdate<Heading>) -> Void)?
    }

    private let state = Lock(State())
    private let managerOnMain = MainManager()

    func report(locationsTo say: (@Sendable (SensorUpdate<Location>) -> Void)?) {
        state.withLock { $0.location = say }
        turn()
    }

    func report(headingsTo say: (@Sendable (SensorUpdate<Heading>) -> Void)?) {
        state.withLock { $0.heading = say }
        turn()
    }

    /// Starts and stops the updates that have listeners. The main queue keeps the order.
    private func turn() {
        DispatchQueue.main.async { [self] in
            MainActor.assumeIsolated {
                let (location, heading) = state.withLock { ($0.location != nil, $0.heading != nil) }
                managerOnMain.turn(location: location, heading: heading, delegate: self)
                if location { sayLast() }
            }
        }
    }

    @MainActor
    private func sayLast() {
        guard let last = managerOnMain.lastLocation else { return }
        state.withLock { $0.location }?(.reading(Location(last)))
    }

    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        guard let last = locations.last else { return }
        state.withLock { $0.location }?(.reading(Location(last)))
    }

    #if !os(macOS)
    func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
        state.withLock { $0.heading }?(.reading(Heading(newHeading)))
    }
    #endif

    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        // `locationUnknown` is temporary.
        guard (error as? CLError)?.code == .denied else { return }
        sayDenied()
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .denied, .restricted, .notDetermined: sayDenied()
        default: break
        }
    }

    private func sayDenied() {
        let (location, heading) = state.withLock { ($0.location, $0.heading) }
        location?(.absent(.denied))
        heading?(.absent(.denied))
    }
}

/// The system's manager, created on first use.
@MainActor
private final class MainManager {
    private var manager: CLLocationManager?

    nonisolated init() {}

    var lastLocation: CLLocation? { manager?.location }

    func turn(location: Bool, heading: Bool, delegate: any CLLocationManagerDelegate) {
        if manager == nil, !location, !heading { return }
        let manager = manager ?? CLLocationManager()
        self.manager = manager
        manager.delegate = delegate
        manager.desiredAccuracy = kCLLocationAccuracyHundredMeters
        if location { manager.startUpdatingLocation() } else { manager.stopUpdatingLocation() }
        #if !os(macOS)
        if heading { manager.startUpdatingHeading() } else { manager.stopUpdatingHeading() }
        #endif
    }
}

extension Location {
    /// CoreLocation marks unknown values by a negative accuracy, speed or course.
    fileprivate init(_ location: CLLocation) {
        self.init()
        time = WallTime(location.timestamp)
        if location.horizontalAccuracy >= 0 {
            (latitude, longitude) = (location.coordinate.latitude, location.coordinate.longitude)
            horizontalAccuracy = location.horizontalAccuracy
        }
        if location.verticalAccuracy > 0 {
            (altitude, verticalAccuracy) = (location.altitude, location.verticalAccuracy)
        }
        floor = location.floor?.level
        speed = location.speed >= 0 ? location.speed : nil
        course = location.course >= 0 ? location.course : nil
    }
}

#if !os(macOS)
extension Heading {
    /// A negative accuracy means that the magnetic heading is invalid, a negative true heading that it is unknown.
    fileprivate init(_ heading: CLHeading) {
        self.init()
        time = WallTime(heading.timestamp)
        if heading.headingAccuracy >= 0 {
            (magneticHeading, accuracy) = (heading.magneticHeading, heading.headingAccuracy)
        }
        trueHeading = heading.trueHeading >= 0 ? heading.trueHeading : nil
        rawMagneticField = SensorVector(x: heading.x, y: heading.y, z: heading.z)
    }
}
#endif

extension WallTime {
    fileprivate init?(_ date: Date) {
        guard let milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}
#endif

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

// CLLocation.h, CLHeading.h, CLLocationManager.h, CLLocationManagerDelegate.h, CLError.h. Whether CLLocation, CLFloor
// and CLHeading are NS_SWIFT_SENDABLE is not verified; here they are not.

public typealias CLLocationAccuracy = Double
public typealias CLLocationDegrees = Double
public typealias CLLocationDirection = Double

public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100

public enum CLAuthorizationStatus: Int32, Sendable {
    case notDetermined, restricted, denied, authorizedAlways, authorizedWhenInUse
}

public struct CLError: Error, Sendable {
    public enum Code: Int, Sendable { case locationUnknown, denied, network }
    public let code: Code
    public init(_ code: Code) { self.code = code }
}

public struct CLLocationCoordinate2D: Sendable {
    public var latitude: CLLocationDegrees
    public var longitude: CLLocationDegrees
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        (self.latitude, self.longitude) = (latitude, longitude)
    }
}

public final class CLFloor: NSObject {
    public let level: Int
    public init(level: Int) { self.level = level }
}

/// What CoreLocation does not know is a negative accuracy, speed or course.
public final class CLLocation: NSObject {
    public var coordinate: CLLocationCoordinate2D
    public var altitude = 0.0
    public var horizontalAccuracy: CLLocationAccuracy
    public var verticalAccuracy: CLLocationAccuracy = -1
    public var course: CLLocationDirection = -1
    public var speed = -1.0
    public var timestamp = Date(timeIntervalSince1970: 1000)
    public var floor: CLFloor?

    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees, accuracy: CLLocationAccuracy) {
        coordinate = CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
        horizontalAccuracy = accuracy
    }
}

public final class CLHeading: NSObject {
    public var magneticHeading: CLLocationDirection = 0
    public var trueHeading: CLLocationDirection = -1
    public var headingAccuracy: CLLocationDirection = -1
    public var timestamp = Date(timeIntervalSince1970: 1000)
    public var x = 0.0
    public var y = 0.0
    public var z = 0.0
}

/// The methods are optional on Apple platforms.
public protocol CLLocationManagerDelegate: NSObjectProtocol {
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])
    func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)
}

extension CLLocationManagerDelegate {
    public func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}
    public func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {}
    public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
    public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
}

/// Declared as CoreLocation has it; a test calls the delegate.
open class CLLocationManager: NSObject {
    nonisolated(unsafe) public static weak var latest: CLLocationManager?

    open weak var delegate: (any CLLocationManagerDelegate)?
    open var desiredAccuracy: CLLocationAccuracy = 0
    open var authorizationStatus = CLAuthorizationStatus.authorizedWhenInUse
    open var location: CLLocation?
    public private(set) var isUpdatingLocation = false
    public private(set) var isUpdatingHeading = false

    public override init() {
        super.init()
        Self.latest = self
    }

    open class func headingAvailable() -> Bool { true }
    open func startUpdatingLocation() { isUpdatingLocation = true }
    open func stopUpdatingLocation() { isUpdatingLocation = false }
    open func startUpdatingHeading() { isUpdatingHeading = true }
    open func stopUpdatingHeading() { isUpdatingHeading = false }
}

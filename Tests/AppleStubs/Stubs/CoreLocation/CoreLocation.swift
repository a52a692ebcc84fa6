// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

// CLLocation.h includes CLLocationEssentials.h of _LocationEssentials.framework.

public typealias CLLocationAccuracy = Double  // CLLocationEssentials.h:33
public typealias CLLocationDegrees = Double  // CLLocationEssentials.h:24
public typealias CLLocationDirection = Double  // CLLocationEssentials.h:59

// CLLocationEssentials.h:118
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100

public enum CLAuthorizationStatus: Int32, Sendable {  // CLLocationManager.h:44
    case notDetermined, restricted, denied, authorizedAlways
    // CLLocationManager.h:73
    @available(macOS, unavailable)
    case authorizedWhenInUse
}

public struct CLError: Error, Sendable {  // CLError.h:20
    public enum Code: Int, Sendable { case locationUnknown, denied, network }  // CLError.h:20
    public let code: Code  // CLError.h:20
    public init(_ code: Code) { self.code = code }  // CLError.h:20
}

public struct CLLocationCoordinate2D: Sendable {  // CLLocationEssentials.h:82
    public var latitude: CLLocationDegrees  // CLLocationEssentials.h:83
    public var longitude: CLLocationDegrees  // CLLocationEssentials.h:84
    // CLLocationEssentials.h:82
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        (self.latitude, self.longitude) = (latitude, longitude)
    }
}

/// Without NS_SWIFT_SENDABLE.
public final class CLFloor: NSObject {  // CLLocationEssentials.h:193
    public let level: Int  // CLLocationEssentials.h:206
    public init(level: Int) { self.level = level }  // For tests.
}

/// NS_SWIFT_SENDABLE: its properties are read-only, except for tests. What CoreLocation does not know is a negative
/// accuracy, speed or course.
public final class CLLocation: NSObject, @unchecked Sendable {  // CLLocationEssentials.h:248
    public var coordinate: CLLocationCoordinate2D  // CLLocationEssentials.h:328
    public var altitude = 0.0  // CLLocationEssentials.h:336
    public var horizontalAccuracy: CLLocationAccuracy  // CLLocationEssentials.h:353
    public var verticalAccuracy: CLLocationAccuracy = -1  // CLLocationEssentials.h:361
    public var course: CLLocationDirection = -1  // CLLocationEssentials.h:372
    public var speed = -1.0  // CLLocationEssentials.h:388
    public var timestamp = Date(timeIntervalSince1970: 1000)  // CLLocationEssentials.h:404
    public var floor: CLFloor?  // CLLocationEssentials.h:414

    // For tests.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees, accuracy: CLLocationAccuracy) {
        coordinate = CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
        horizontalAccuracy = accuracy
    }
}

/// Without NS_SWIFT_SENDABLE.
@available(tvOS, unavailable)
@available(visionOS, unavailable)
public final class CLHeading: NSObject {  // CLHeading.h:42
    public var magneticHeading: CLLocationDirection = 0  // CLHeading.h:57
    public var trueHeading: CLLocationDirection = -1  // CLHeading.h:70
    public var headingAccuracy: CLLocationDirection = -1  // CLHeading.h:78
    public var timestamp = Date(timeIntervalSince1970: 1000)  // CLHeading.h:113
    public var x = 0.0  // CLHeading.h:87
    public var y = 0.0  // CLHeading.h:96
    public var z = 0.0  // CLHeading.h:105
}

/// The methods are optional on Apple platforms.
public protocol CLLocationManagerDelegate: NSObjectProtocol {  // CLLocationManagerDelegate.h:28
    // CLLocationManagerDelegate.h:56
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])
    // CLLocationManagerDelegate.h:65
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)
    // CLLocationManagerDelegate.h:145
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)
    // CLLocationManagerDelegate.h:173
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)
}

// For tests: without the Objective-C runtime, an optional method is one with a default.
extension CLLocationManagerDelegate {
    public func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}
    public func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {}
    public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
    public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
}

/// Without NS_SWIFT_SENDABLE. A test calls the delegate.
open class CLLocationManager: NSObject {  // CLLocationManager.h:145
    nonisolated(unsafe) public static weak var latest: CLLocationManager?  // For tests.

    open weak var delegate: (any CLLocationManagerDelegate)?  // CLLocationManager.h:255
    open var desiredAccuracy: CLLocationAccuracy = 0  // CLLocationManager.h:308
    open var authorizationStatus = CLAuthorizationStatus.authorizedAlways  // CLLocationManager.h:217
    open var location: CLLocation?  // CLLocationManager.h:371
    public private(set) var isUpdatingLocation = false  // For tests.
    public private(set) var isUpdatingHeading = false  // For tests.

    public override init() {  // CLLocationManager.h:145
        super.init()
        Self.latest = self
    }

    @available(tvOS, unavailable)
    open class func headingAvailable() -> Bool { true }  // CLLocationManager.h:167
    @available(tvOS, unavailable)
    open func startUpdatingLocation() { isUpdatingLocation = true }  // CLLocationManager.h:585
    open func stopUpdatingLocation() { isUpdatingLocation = false }  // CLLocationManager.h:593
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    open func startUpdatingHeading() { isUpdatingHeading = true }  // CLLocationManager.h:625
    @available(macOS, unavailable)
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    open func stopUpdatingHeading() { isUpdatingHeading = false }  // CLLocationManager.h:633
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

// Without NS_SWIFT_SENDABLE: the manager, its samples, and the handlers' blocks.

public struct CMAcceleration: Sendable {  // CMAccelerometer.h:30
    public var x, y, z: Double  // CMAccelerometer.h:30
    // CMAccelerometer.h:30
    public init(x: Double, y: Double, z: Double) { (self.x, self.y, self.z) = (x, y, z) }
}

public struct CMRotationRate: Sendable {  // CMGyro.h:39
    public var x, y, z: Double  // CMGyro.h:39
    // CMGyro.h:39
    public init(x: Double, y: Double, z: Double) { (self.x, self.y, self.z) = (x, y, z) }
}

public struct CMMagneticField: Sendable {  // CMMagnetometer.h:30
    public var x, y, z: Double  // CMMagnetometer.h:30
    // CMMagnetometer.h:30
    public init(x: Double, y: Double, z: Double) { (self.x, self.y, self.z) = (x, y, z) }
}

// CMDeviceMotion.h:40
public enum CMMagneticFieldCalibrationAccuracy: Int32, Sendable { case uncalibrated = -1, low, medium, high }

public struct CMCalibratedMagneticField: Sendable {  // CMDeviceMotion.h:60
    public var field: CMMagneticField  // CMDeviceMotion.h:61
    public var accuracy: CMMagneticFieldCalibrationAccuracy  // CMDeviceMotion.h:62
}

@available(tvOS, unavailable)
public struct CMAttitudeReferenceFrame: OptionSet, Sendable {  // CMAttitude.h:68
    public let rawValue: UInt  // CMAttitude.h:68
    public init(rawValue: UInt) { self.rawValue = rawValue }  // CMAttitude.h:68
    public static let xArbitraryZVertical = CMAttitudeReferenceFrame(rawValue: 1)  // CMAttitude.h:69
    // CMAttitude.h:70
    public static let xArbitraryCorrectedZVertical = CMAttitudeReferenceFrame(rawValue: 2)
}

// The samples are subclasses of CMLogItem, which is not used.

@available(tvOS, unavailable)
public final class CMAccelerometerData: NSObject {  // CMAccelerometer.h:44
    public let acceleration: CMAcceleration  // CMAccelerometer.h:57
    init(_ acceleration: CMAcceleration) { self.acceleration = acceleration }
}

public final class CMGyroData: NSObject {  // CMGyro.h:53
    public let rotationRate: CMRotationRate  // CMGyro.h:66
    init(_ rotationRate: CMRotationRate) { self.rotationRate = rotationRate }
}

@available(visionOS, unavailable)
public final class CMMagnetometerData: NSObject {  // CMMagnetometer.h:43
    public let magneticField: CMMagneticField  // CMMagnetometer.h:58
    init(_ magneticField: CMMagneticField) { self.magneticField = magneticField }
}

@available(tvOS, unavailable)
public final class CMAttitude: NSObject {  // CMAttitude.h:76
    public let roll, pitch, yaw: Double  // CMAttitude.h:89, CMAttitude.h:98, CMAttitude.h:107
    init(roll: Double, pitch: Double, yaw: Double) { (self.roll, self.pitch, self.yaw) = (roll, pitch, yaw) }
}

@available(tvOS, unavailable)
public final class CMDeviceMotion: NSObject {  // CMDeviceMotion.h:74
    public let attitude: CMAttitude  // CMDeviceMotion.h:87
    public let rotationRate: CMRotationRate  // CMDeviceMotion.h:96
    public let gravity: CMAcceleration  // CMDeviceMotion.h:107
    public let userAcceleration: CMAcceleration  // CMDeviceMotion.h:118
    public let magneticField: CMCalibratedMagneticField  // CMDeviceMotion.h:129

    // For tests.
    public init(pitch: Double, accuracy: CMMagneticFieldCalibrationAccuracy) {
        attitude = CMAttitude(roll: 0.1, pitch: pitch, yaw: 0.3)
        rotationRate = CMRotationRate(x: 1, y: 2, z: 3)
        gravity = CMAcceleration(x: 0, y: 0, z: -1)
        userAcceleration = CMAcceleration(x: 0.5, y: 0, z: 0)
        magneticField = CMCalibratedMagneticField(field: CMMagneticField(x: 20, y: 30, z: 40), accuracy: accuracy)
    }
}

@available(tvOS, unavailable)
public typealias CMAccelerometerHandler = (CMAccelerometerData?, (any Error)?) -> Void  // CMMotionManager.h:53
@available(tvOS, unavailable)
public typealias CMGyroHandler = (CMGyroData?, (any Error)?) -> Void  // CMMotionManager.h:61
@available(tvOS, unavailable)
@available(visionOS, unavailable)
public typealias CMMagnetometerHandler = (CMMagnetometerData?, (any Error)?) -> Void  // CMMotionManager.h:77
@available(tvOS, unavailable)
public typealias CMDeviceMotionHandler = (CMDeviceMotion?, (any Error)?) -> Void  // CMMotionManager.h:69

/// A test calls the handlers.
@available(macOS, unavailable)
open class CMMotionManager: NSObject {  // CMMotionManager.h:86
    nonisolated(unsafe) public static weak var latest: CMMotionManager?  // For tests.
    // For tests.
    nonisolated(unsafe) public static var frames: CMAttitudeReferenceFrame = [.xArbitraryZVertical]

    @available(tvOS, unavailable)
    open var accelerometerUpdateInterval: TimeInterval = 0  // CMMotionManager.h:105
    @available(tvOS, unavailable)
    open var gyroUpdateInterval: TimeInterval = 0  // CMMotionManager.h:173
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    open var magnetometerUpdateInterval: TimeInterval = 0  // CMMotionManager.h:240
    @available(tvOS, unavailable)
    open var deviceMotionUpdateInterval: TimeInterval = 0  // CMMotionManager.h:304
    @available(tvOS, unavailable)
    open var isAccelerometerAvailable: Bool { true }  // CMMotionManager.h:113
    @available(tvOS, unavailable)
    open var isGyroAvailable: Bool { true }  // CMMotionManager.h:181
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    open var isMagnetometerAvailable: Bool { false }  // CMMotionManager.h:248
    @available(tvOS, unavailable)
    open var isDeviceMotionAvailable: Bool { true }  // CMMotionManager.h:332
    public private(set) var accelerometerHandler: CMAccelerometerHandler?  // For tests.
    public private(set) var gyroHandler: CMGyroHandler?  // For tests.
    public private(set) var magnetometerHandler: CMMagnetometerHandler?  // For tests.
    public private(set) var deviceMotionHandler: CMDeviceMotionHandler?  // For tests.
    public private(set) var usedFrame: CMAttitudeReferenceFrame?  // For tests.

    public override init() {  // CMMotionManager.h:86
        super.init()
        Self.latest = self
    }

    // CMMotionManager.h:312
    @available(tvOS, unavailable)
    open class func availableAttitudeReferenceFrames() -> CMAttitudeReferenceFrame { frames }

    // CMMotionManager.h:150
    @available(tvOS, unavailable)
    open func startAccelerometerUpdates(to queue: OperationQueue, withHandler handler: @escaping CMAccelerometerHandler)
    {
        accelerometerHandler = handler
    }
    @available(tvOS, unavailable)
    open func stopAccelerometerUpdates() { accelerometerHandler = nil }  // CMMotionManager.h:158
    // CMMotionManager.h:217
    @available(tvOS, unavailable)
    open func startGyroUpdates(to queue: OperationQueue, withHandler handler: @escaping CMGyroHandler) {
        gyroHandler = handler
    }
    @available(tvOS, unavailable)
    open func stopGyroUpdates() { gyroHandler = nil }  // CMMotionManager.h:225
    // CMMotionManager.h:281
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    open func startMagnetometerUpdates(to queue: OperationQueue, withHandler handler: @escaping CMMagnetometerHandler) {
        magnetometerHandler = handler
    }
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    open func stopMagnetometerUpdates() { magnetometerHandler = nil }  // CMMotionManager.h:289
    // CMMotionManager.h:391
    @available(tvOS, unavailable)
    open func startDeviceMotionUpdates(
        using referenceFrame: CMAttitudeReferenceFrame,
        to queue: OperationQueue,
        withHandler handler: @escaping CMDeviceMotionHandler
    ) {
        (deviceMotionHandler, usedFrame) = (handler, referenceFrame)
    }
    @available(tvOS, unavailable)
    open func stopDeviceMotionUpdates() { deviceMotionHandler = nil }  // CMMotionManager.h:399
}

// For tests.
extension CMMotionManager {
    public func simulate(_ acceleration: CMAcceleration?) {
        accelerometerHandler?(acceleration.map(CMAccelerometerData.init), nil)
    }
    public func simulate(_ rotation: CMRotationRate?) { gyroHandler?(rotation.map(CMGyroData.init), nil) }
    public func simulate(_ motion: CMDeviceMotion?) { deviceMotionHandler?(motion, nil) }
}

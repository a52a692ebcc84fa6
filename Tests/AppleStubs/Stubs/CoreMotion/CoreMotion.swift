// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

// CMAccelerometer.h, CMGyro.h, CMMagnetometer.h, CMAttitude.h, CMDeviceMotion.h, CMMotionManager.h. Whether the
// classes of samples are NS_SWIFT_SENDABLE is not verified; here they are not.

public struct CMAcceleration: Sendable {
    public var x, y, z: Double
    public init(x: Double, y: Double, z: Double) { (self.x, self.y, self.z) = (x, y, z) }
}

public struct CMRotationRate: Sendable {
    public var x, y, z: Double
    public init(x: Double, y: Double, z: Double) { (self.x, self.y, self.z) = (x, y, z) }
}

public struct CMMagneticField: Sendable {
    public var x, y, z: Double
    public init(x: Double, y: Double, z: Double) { (self.x, self.y, self.z) = (x, y, z) }
}

public enum CMMagneticFieldCalibrationAccuracy: Int32, Sendable { case uncalibrated = -1, low, medium, high }

public struct CMCalibratedMagneticField: Sendable {
    public var field: CMMagneticField
    public var accuracy: CMMagneticFieldCalibrationAccuracy
}

public struct CMAttitudeReferenceFrame: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let xArbitraryZVertical = CMAttitudeReferenceFrame(rawValue: 1)
    public static let xArbitraryCorrectedZVertical = CMAttitudeReferenceFrame(rawValue: 2)
}

public final class CMAccelerometerData: NSObject {
    public let acceleration: CMAcceleration
    init(_ acceleration: CMAcceleration) { self.acceleration = acceleration }
}

public final class CMGyroData: NSObject {
    public let rotationRate: CMRotationRate
    init(_ rotationRate: CMRotationRate) { self.rotationRate = rotationRate }
}

public final class CMMagnetometerData: NSObject {
    public let magneticField: CMMagneticField
    init(_ magneticField: CMMagneticField) { self.magneticField = magneticField }
}

public final class CMAttitude: NSObject {
    public let roll, pitch, yaw: Double
    init(roll: Double, pitch: Double, yaw: Double) { (self.roll, self.pitch, self.yaw) = (roll, pitch, yaw) }
}

public final class CMDeviceMotion: NSObject {
    public let attitude: CMAttitude
    public let rotationRate: CMRotationRate
    public let gravity: CMAcceleration
    public let userAcceleration: CMAcceleration
    public let magneticField: CMCalibratedMagneticField

    public init(pitch: Double, accuracy: CMMagneticFieldCalibrationAccuracy) {
        attitude = CMAttitude(roll: 0.1, pitch: pitch, yaw: 0.3)
        rotationRate = CMRotationRate(x: 1, y: 2, z: 3)
        gravity = CMAcceleration(x: 0, y: 0, z: -1)
        userAcceleration = CMAcceleration(x: 0.5, y: 0, z: 0)
        magneticField = CMCalibratedMagneticField(field: CMMagneticField(x: 20, y: 30, z: 40), accuracy: accuracy)
    }
}

public typealias CMAccelerometerHandler = (CMAccelerometerData?, (any Error)?) -> Void
public typealias CMGyroHandler = (CMGyroData?, (any Error)?) -> Void
public typealias CMMagnetometerHandler = (CMMagnetometerData?, (any Error)?) -> Void
public typealias CMDeviceMotionHandler = (CMDeviceMotion?, (any Error)?) -> Void

/// Declared as CoreMotion has it; a test calls the handlers.
open class CMMotionManager: NSObject {
    nonisolated(unsafe) public static weak var latest: CMMotionManager?
    nonisolated(unsafe) public static var frames: CMAttitudeReferenceFrame = [.xArbitraryZVertical]

    open var accelerometerUpdateInterval: TimeInterval = 0
    open var gyroUpdateInterval: TimeInterval = 0
    open var magnetometerUpdateInterval: TimeInterval = 0
    open var deviceMotionUpdateInterval: TimeInterval = 0
    open var isAccelerometerAvailable: Bool { true }
    open var isGyroAvailable: Bool { true }
    open var isMagnetometerAvailable: Bool { false }
    open var isDeviceMotionAvailable: Bool { true }
    public private(set) var accelerometerHandler: CMAccelerometerHandler?
    public private(set) var gyroHandler: CMGyroHandler?
    public private(set) var magnetometerHandler: CMMagnetometerHandler?
    public private(set) var deviceMotionHandler: CMDeviceMotionHandler?
    public private(set) var usedFrame: CMAttitudeReferenceFrame?

    public override init() {
        super.init()
        Self.latest = self
    }

    open class func availableAttitudeReferenceFrames() -> CMAttitudeReferenceFrame { frames }

    open func startAccelerometerUpdates(to queue: OperationQueue, withHandler handler: @escaping CMAccelerometerHandler)
    {
        accelerometerHandler = handler
    }
    open func stopAccelerometerUpdates() { accelerometerHandler = nil }
    open func startGyroUpdates(to queue: OperationQueue, withHandler handler: @escaping CMGyroHandler) {
        gyroHandler = handler
    }
    open func stopGyroUpdates() { gyroHandler = nil }
    open func startMagnetometerUpdates(to queue: OperationQueue, withHandler handler: @escaping CMMagnetometerHandler) {
        magnetometerHandler = handler
    }
    open func stopMagnetometerUpdates() { magnetometerHandler = nil }
    open func startDeviceMotionUpdates(
        using referenceFrame: CMAttitudeReferenceFrame,
        to queue: OperationQueue,
        withHandler handler: @escaping CMDeviceMotionHandler
    ) {
        (deviceMotionHandler, usedFrame) = (handler, referenceFrame)
    }
    open func stopDeviceMotionUpdates() { deviceMotionHandler = nil }

    public func simulate(_ acceleration: CMAcceleration?) {
        accelerometerHandler?(acceleration.map(CMAccelerometerData.init), nil)
    }
    public func simulate(_ rotation: CMRotationRate?) { gyroHandler?(rotation.map(CMGyroData.init), nil) }
    public func simulate(_ motion: CMDeviceMotion?) { deviceMotionHandler?(motion, nil) }
}

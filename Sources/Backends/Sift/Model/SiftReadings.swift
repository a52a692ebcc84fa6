public import Instrument

/// Three components of a reading; what is nil or not finite is left out.
public struct SiftVector: Hashable, Sendable {
    /// Along the short side of the device.
    public var x: Double?
    /// Along the long side of the device.
    public var y: Double?
    /// Out of the screen.
    public var z: Double?

    /// Creates a vector.
    public init(x: Double? = nil, y: Double? = nil, z: Double? = nil) {
        (self.x, self.y, self.z) = (x, y, z)
    }
}

/// Where a device points.
public struct SiftHeading: Hashable, Sendable {
    /// When it was read.
    public var time: WallTime?
    /// Degrees from magnetic north; sent only with an accuracy that is not negative.
    public var magneticHeading: Double?
    /// How far off it may be, in degrees.
    public var accuracy: Double?
    /// Degrees from north; negative is left out.
    public var trueHeading: Double?
    /// The magnetic field in µT.
    public var rawMagneticField = SiftVector()

    /// Creates a heading that says nothing.
    public init() {}
}

/// A fused reading of the motion sensors.
public struct SiftMotion: Hashable, Sendable {
    /// How well the magnetometer is calibrated.
    public enum Calibration: String, Hashable, Sendable, CaseIterable {
        /// Badly.
        case low = "cm_magnetic_field_calibration_accuracy_low"
        /// Fairly.
        case medium = "cm_magnetic_field_calibration_accuracy_medium"
        /// Well.
        case high = "cm_magnetic_field_calibration_accuracy_high"
    }

    /// When it was read.
    public var time: WallTime?
    /// Roll in radians.
    public var attitudeRoll: Double?
    /// Pitch in radians.
    public var attitudePitch: Double?
    /// Yaw in radians.
    public var attitudeYaw: Double?
    /// Radians a second.
    public var rotationRate = SiftVector()
    /// In g.
    public var gravity = SiftVector()
    /// In g.
    public var userAcceleration = SiftVector()
    /// The magnetic field in µT; sent only if it is calibrated.
    public var magneticField = SiftVector()
    /// How well the field is calibrated; nil if it is not.
    public var magneticFieldCalibration: Calibration?

    /// Creates a reading that says nothing.
    public init() {}
}

/// A raw reading of the accelerometer.
public struct SiftAcceleration: Hashable, Sendable {
    /// When it was read.
    public var time: WallTime?
    /// In g.
    public var acceleration = SiftVector()

    /// Creates a reading that says nothing.
    public init() {}
}

/// A raw reading of the gyroscope.
public struct SiftRotation: Hashable, Sendable {
    /// When it was read.
    public var time: WallTime?
    /// Radians a second.
    public var rotationRate = SiftVector()

    /// Creates a reading that says nothing.
    public init() {}
}

/// A raw reading of the magnetometer.
public struct SiftMagneticField: Hashable, Sendable {
    /// When it was read.
    public var time: WallTime?
    /// In µT.
    public var magneticField = SiftVector()

    /// Creates a reading that says nothing.
    public init() {}
}

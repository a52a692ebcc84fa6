public import Instrument

/// Three components of a reading in the device's axes: x along its short side to the right, y along its long side to
/// the top, z out of the screen. A component that could not be read is nil.
public struct SensorVector: Hashable, Sendable {
    /// To the right.
    public var x: Double?
    /// To the top.
    public var y: Double?
    /// Out of the screen.
    public var z: Double?

    /// Creates a vector.
    public init(x: Double? = nil, y: Double? = nil, z: Double? = nil) { (self.x, self.y, self.z) = (x, y, z) }

    /// Whether no component could be read.
    package var isEmpty: Bool { x == nil && y == nil && z == nil }

    /// The length; nil unless all components are known.
    package var magnitude: Double? {
        guard let x, let y, let z else { return nil }
        let length = (x * x + y * y + z * z).squareRoot()
        return length.isFinite ? length : nil
    }
}

/// A raw reading of an accelerometer, in g (9.80665 m/s²). At rest it points in the direction of gravity: y is −1
/// upright, z is −1 face up.
public struct Acceleration: AttributeRecord {
    /// The time of the reading.
    public var time: WallTime?
    /// In g.
    public var acceleration = SensorVector()

    /// Creates an empty reading.
    public init() {}

    /// Creates a reading.
    package init(at time: WallTime?, _ acceleration: SensorVector) {
        (self.time, self.acceleration) = (time, acceleration)
    }

    /// `time` in ms, `accelerationX` … in g.
    public static let fields: [RecordField<Self>] =
        [.time("time", \.time)] + RecordField.vector("acceleration", \.acceleration, unit: "g")
}

/// A raw reading of a gyroscope, in rad/s.
public struct RotationRate: AttributeRecord {
    /// The time of the reading.
    public var time: WallTime?
    /// In rad/s, counterclockwise around each axis.
    public var rotationRate = SensorVector()

    /// Creates an empty reading.
    public init() {}

    /// Creates a reading.
    package init(at time: WallTime?, _ rotationRate: SensorVector) {
        (self.time, self.rotationRate) = (time, rotationRate)
    }

    /// `time` in ms, `rotationRateX` … in rad/s.
    public static let fields: [RecordField<Self>] =
        [.time("time", \.time)] + RecordField.vector("rotationRate", \.rotationRate, unit: "rad/s")
}

/// A raw reading of a magnetometer, in µT.
public struct MagneticField: AttributeRecord {
    /// The time of the reading.
    public var time: WallTime?
    /// In µT.
    public var magneticField = SensorVector()
    /// Whether the strength is in the range of the Earth's field with some disturbance, 20 to 70 µT; nil unless all
    /// components are known. False usually means a driver with a wrong scale, or a magnet nearby.
    package var isPlausible: Bool?

    /// Creates an empty reading.
    public init() {}

    /// Creates a reading, and checks its strength.
    package init(at time: WallTime?, _ magneticField: SensorVector) {
        (self.time, self.magneticField) = (time, magneticField)
        isPlausible = magneticField.magnitude.map { (20...70).contains($0) }
    }

    /// `time` in ms, `magneticFieldX` … in µT, `isPlausible`.
    public static let fields: [RecordField<Self>] =
        [.time("time", \.time)] + RecordField.vector("magneticField", \.magneticField, unit: "µT")
        + [.truth("isPlausible", \.isPlausible)]
}

/// A fused reading of the motion sensors.
public struct DeviceMotion: AttributeRecord {
    /// The quality of a magnetometer's calibration.
    public enum Calibration: String, Hashable, Sendable, CaseIterable, AttributeValueConvertible {
        /// Low.
        case low
        /// Medium.
        case medium
        /// High.
        case high
    }

    /// The time of the reading.
    public var time: WallTime?
    /// Roll in radians.
    public var roll: Double?
    /// Pitch in radians.
    public var pitch: Double?
    /// Yaw in radians.
    public var yaw: Double?
    /// In rad/s.
    public var rotationRate = SensorVector()
    /// In g.
    public var gravity = SensorVector()
    /// In g, without gravity.
    public var userAcceleration = SensorVector()
    /// In µT; meaningful only if it is calibrated.
    public var magneticField = SensorVector()
    /// The quality of the calibration; nil without calibration.
    public var calibration: Calibration?

    /// Creates an empty reading.
    public init() {}

    /// `time` in ms, `roll` `pitch` `yaw` in rad, the vectors, `calibration`.
    public static let fields: [RecordField<Self>] =
        [
            .time("time", \.time), .number("roll", \.roll, unit: "rad"), .number("pitch", \.pitch, unit: "rad"),
            .number("yaw", \.yaw, unit: "rad"), .word("calibration", \.calibration),
        ] + RecordField.vector("rotationRate", \.rotationRate, unit: "rad/s")
        + RecordField.vector("gravity", \.gravity, unit: "g")
        + RecordField.vector("userAcceleration", \.userAcceleration, unit: "g")
        + RecordField.vector("magneticField", \.magneticField, unit: "µT")
}

package import Instrument

/// Three components of a reading in the device's axes: x along its short side to the right, y along its long side to
/// the top, z out of the screen. A component that could not be read is nil.
package struct SensorVector: Hashable, Sendable {
    /// To the right.
    package var x: Double?
    /// To the top.
    package var y: Double?
    /// Out of the screen.
    package var z: Double?

    /// Creates a vector.
    package init(x: Double? = nil, y: Double? = nil, z: Double? = nil) { (self.x, self.y, self.z) = (x, y, z) }

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
package struct Acceleration: AttributeRecord {
    /// The time of the reading.
    package var time: WallTime?
    /// In g.
    package var acceleration = SensorVector()

    /// Creates an empty reading.
    package init() {}

    /// Creates a reading.
    package init(at time: WallTime?, _ acceleration: SensorVector) {
        (self.time, self.acceleration) = (time, acceleration)
    }

    /// `time` in ms, `accelerationX` … in g.
    package static let fields: [RecordField<Self>] =
        [.time("time", \.time)] + RecordField.vector("acceleration", \.acceleration, unit: "g")
}

/// A raw reading of a gyroscope, in rad/s.
package struct RotationRate: AttributeRecord {
    /// The time of the reading.
    package var time: WallTime?
    /// In rad/s, counterclockwise around each axis.
    package var rotationRate = SensorVector()

    /// Creates an empty reading.
    package init() {}

    /// Creates a reading.
    package init(at time: WallTime?, _ rotationRate: SensorVector) {
        (self.time, self.rotationRate) = (time, rotationRate)
    }

    /// `time` in ms, `rotationRateX` … in rad/s.
    package static let fields: [RecordField<Self>] =
        [.time("time", \.time)] + RecordField.vector("rotationRate", \.rotationRate, unit: "rad/s")
}

/// A raw reading of a magnetometer, in µT.
package struct MagneticField: AttributeRecord {
    /// The time of the reading.
    package var time: WallTime?
    /// In µT.
    package var magneticField = SensorVector()
    /// Whether the strength is in the range of the Earth's field with some disturbance, 20 to 70 µT; nil unless all
    /// components are known. False usually means a driver with a wrong scale, or a magnet nearby.
    package var isPlausible: Bool?

    /// Creates an empty reading.
    package init() {}

    /// Creates a reading, and checks its strength.
    package init(at time: WallTime?, _ magneticField: SensorVector) {
        (self.time, self.magneticField) = (time, magneticField)
        isPlausible = magneticField.magnitude.map { (20...70).contains($0) }
    }

    /// `time` in ms, `magneticFieldX` … in µT, `isPlausible`.
    package static let fields: [RecordField<Self>] =
        [.time("time", \.time)] + RecordField.vector("magneticField", \.magneticField, unit: "µT")
        + [.truth("isPlausible", \.isPlausible)]
}

/// A fused reading of the motion sensors.
package struct DeviceMotion: AttributeRecord {
    /// The quality of a magnetometer's calibration.
    package enum Calibration: String, Hashable, Sendable, CaseIterable, AttributeValueConvertible {
        /// Low.
        case low
        /// Medium.
        case medium
        /// High.
        case high
    }

    /// The time of the reading.
    package var time: WallTime?
    /// Roll in radians.
    package var roll: Double?
    /// Pitch in radians.
    package var pitch: Double?
    /// Yaw in radians.
    package var yaw: Double?
    /// In rad/s.
    package var rotationRate = SensorVector()
    /// In g.
    package var gravity = SensorVector()
    /// In g, without gravity.
    package var userAcceleration = SensorVector()
    /// In µT; meaningful only if it is calibrated.
    package var magneticField = SensorVector()
    /// The quality of the calibration; nil without calibration.
    package var calibration: Calibration?

    /// Creates an empty reading.
    package init() {}

    /// `time` in ms, `roll` `pitch` `yaw` in rad, the vectors, `calibration`.
    package static let fields: [RecordField<Self>] =
        [
            .time("time", \.time), .number("roll", \.roll, unit: "rad"), .number("pitch", \.pitch, unit: "rad"),
            .number("yaw", \.yaw, unit: "rad"), .word("calibration", \.calibration),
        ] + RecordField.vector("rotationRate", \.rotationRate, unit: "rad/s")
        + RecordField.vector("gravity", \.gravity, unit: "g")
        + RecordField.vector("userAcceleration", \.userAcceleration, unit: "g")
        + RecordField.vector("magneticField", \.magneticField, unit: "µT")
}

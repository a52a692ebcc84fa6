package import Instrument

/// A position on the Earth (WGS 84).
package struct Location: AttributeRecord {
    /// The time of the fix.
    package var time: WallTime?
    /// Degrees north, −90 to 90.
    package var latitude: Double?
    /// Degrees east, −180 to 180.
    package var longitude: Double?
    /// The accuracy of the position, in metres; nil if unknown.
    package var horizontalAccuracy: Double?
    /// Metres above mean sea level.
    package var altitude: Double?
    /// The accuracy of the altitude, in metres; nil if unknown.
    package var verticalAccuracy: Double?
    /// The floor of a building.
    package var floor: Int?
    /// The speed in metres per second.
    package var speed: Double?
    /// The direction of movement in degrees from north, 0 to 360.
    package var course: Double?

    /// Creates an empty location.
    package init() {}

    /// Degrees, metres, m/s and ms.
    package static let fields: [RecordField<Self>] = [
        .time("time", \.time),
        .number("latitude", \.latitude, unit: "°", within: -90...90),
        .number("longitude", \.longitude, unit: "°", within: -180...180),
        .number("horizontalAccuracy", \.horizontalAccuracy, unit: "m", within: 0 ... .infinity),
        .number("altitude", \.altitude, unit: "m"),
        .number("verticalAccuracy", \.verticalAccuracy, unit: "m", within: 0 ... .infinity),
        .integer("floor", \.floor),
        .number("speed", \.speed, unit: "m/s", within: 0 ... .infinity),
        .number("course", \.course, unit: "°", within: 0...360),
    ]
}

/// The heading of a device.
package struct Heading: AttributeRecord {
    /// The time of the reading.
    package var time: WallTime?
    /// Degrees from magnetic north, 0 to 360.
    package var magneticHeading: Double?
    /// Degrees from north, 0 to 360.
    package var trueHeading: Double?
    /// The accuracy of the magnetic heading, in degrees; nil if unknown.
    package var accuracy: Double?
    /// The magnetic field in µT.
    package var rawMagneticField = SensorVector()

    /// Creates an empty heading.
    package init() {}

    /// Degrees, µT and ms.
    package static let fields: [RecordField<Self>] =
        [
            .time("time", \.time),
            .number("magneticHeading", \.magneticHeading, unit: "°", within: 0...360),
            .number("trueHeading", \.trueHeading, unit: "°", within: 0...360),
            .number("accuracy", \.accuracy, unit: "°", within: 0 ... .infinity),
        ] + RecordField.vector("rawMagneticField", \.rawMagneticField, unit: "µT")
}

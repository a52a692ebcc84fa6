public import Instrument

/// A position on the Earth (WGS 84).
public struct Location: AttributeRecord {
    /// The time of the fix.
    public var time: WallTime?
    /// Degrees north, −90 to 90.
    public var latitude: Double?
    /// Degrees east, −180 to 180.
    public var longitude: Double?
    /// The accuracy of the position, in metres; nil if unknown.
    public var horizontalAccuracy: Double?
    /// Metres above mean sea level.
    public var altitude: Double?
    /// The accuracy of the altitude, in metres; nil if unknown.
    public var verticalAccuracy: Double?
    /// The floor of a building.
    public var floor: Int?
    /// The speed in metres per second.
    public var speed: Double?
    /// The direction of movement in degrees from north, 0 to 360.
    public var course: Double?

    /// Creates an empty location.
    public init() {}

    /// Degrees, metres, m/s and ms.
    public static let fields: [RecordField<Self>] = [
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
public struct Heading: AttributeRecord {
    /// The time of the reading.
    public var time: WallTime?
    /// Degrees from magnetic north, 0 to 360.
    public var magneticHeading: Double?
    /// Degrees from north, 0 to 360.
    public var trueHeading: Double?
    /// The accuracy of the magnetic heading, in degrees; nil if unknown.
    public var accuracy: Double?
    /// The magnetic field in µT.
    public var rawMagneticField = SensorVector()

    /// Creates an empty heading.
    public init() {}

    /// Degrees, µT and ms.
    public static let fields: [RecordField<Self>] =
        [
            .time("time", \.time),
            .number("magneticHeading", \.magneticHeading, unit: "°", within: 0...360),
            .number("trueHeading", \.trueHeading, unit: "°", within: 0...360),
            .number("accuracy", \.accuracy, unit: "°", within: 0 ... .infinity),
        ] + RecordField.vector("rawMagneticField", \.rawMagneticField, unit: "µT")
}

public import Instrument

/// A last known location.
public struct SiftLocation: Hashable, Sendable {
    /// When it was found. Legacy.
    public var time: WallTime?
    /// Degrees north; sent only with a horizontal accuracy that is not negative.
    public var latitude: Double?
    /// Degrees east; sent only with a horizontal accuracy that is not negative.
    public var longitude: Double?
    /// How far off it may be, in metres. Absent or negative means that the location is none: the object is empty. Legacy.
    public var horizontalAccuracy: Double?
    /// Metres above the sea; sent only with a vertical accuracy that is not negative. Legacy.
    public var altitude: Double?
    /// How far off the altitude may be, in metres. Legacy.
    public var verticalAccuracy: Double?
    /// The floor of a building. Legacy.
    public var floor: Int?
    /// Metres a second; negative is left out. Legacy.
    public var speed: Double?
    /// Degrees from north; negative is left out. Legacy.
    public var course: Double?

    /// Creates a location that says nothing.
    public init() {}
}

extension SiftLocation: WireModel {
    static let fields: [WireField<SiftLocation>] = [
        .number("latitude", \.latitude),
        .number("longitude", \.longitude),
        .time("time", \.time, legacy: true),
        .number("horizontal_accuracy", \.horizontalAccuracy, legacy: true),
        .number("altitude", \.altitude, legacy: true),
        .number("vertical_accuracy", \.verticalAccuracy, legacy: true),
        .integer("floor", \.floor, legacy: true),
        .number("speed", \.speed, within: 0 ... .infinity, legacy: true),
        .number("course", \.course, within: 0 ... .infinity, legacy: true),
    ]

    var sayable: SiftLocation {
        guard let accuracy = horizontalAccuracy, accuracy.isFinite, accuracy >= 0 else { return SiftLocation() }
        var location = self
        if !(verticalAccuracy.map { $0.isFinite && $0 >= 0 } ?? false) {
            (location.altitude, location.verticalAccuracy) = (nil, nil)
        }
        return location
    }
}

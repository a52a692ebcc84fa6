internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// What a line of gpsd's says.
enum GPSDReport: Hashable, Sendable {
    case location(Location)
    /// There is a receiver, and it does not know where it is.
    case noFix
    case heading(Heading)
}

/// Reads gpsd's lines (gpsd_json(5)), which may be anything: a daemon writes invalid JSON for some receivers.
struct GPSDReader: Sendable {
    /// How many lines were no JSON object with a class, or too long.
    private(set) var malformedCount = 0
    /// How far magnetic north lies east of north, in degrees, as last heard.
    private var variation: Double?

    /// What a line says; nil if it says nothing of ours. `now` is for reports without a time.
    mutating func report(in line: [UInt8], now: WallTime) -> GPSDReport? {
        if line.allSatisfy({ $0 <= 0x20 }) { return nil }
        guard let json = try? JSONValue(parsing: line), let kind = json["class"]?.string else {
            malformedCount += 1
            return nil
        }
        switch kind {
        case "TPV": return position(json, now)
        case "ATT": return attitude(json, now)
        // SKY, VERSION, DEVICES and the like say nothing of where we are.
        default: return nil
        }
    }

    /// A line that is longer than any of gpsd's.
    mutating func skipOverlongLine() { malformedCount += 1 }

    /// Time, position and velocity. Without a fix in two dimensions at least (mode 2) nothing in it is a position.
    private mutating func position(_ json: JSONValue, _ now: WallTime) -> GPSDReport {
        variation = json.number("magvar", within: -180...180) ?? variation
        guard let mode = json["mode"]?.int, mode >= 2, let latitude = json.number("lat", within: -90...90),
            let longitude = json.number("lon", within: -180...180)
        else { return .noFix }
        var location = Location()
        location.time = json["time"]?.string.flatMap { WallTime(utc: $0) } ?? now
        (location.latitude, location.longitude) = (latitude, longitude)
        location.horizontalAccuracy = horizontalAccuracy(json)
        location.altitude = json.number("altMSL") ?? json.number("alt")
        location.verticalAccuracy = mode == 3 ? json.number("epv", within: 0 ... .infinity) : nil
        location.speed = json.number("speed", within: 0 ... .infinity)
        location.course = json.number("track", within: 0...360)
        return .location(location)
    }

    /// `eph`, else what the two axes come to.
    private func horizontalAccuracy(_ json: JSONValue) -> Double? {
        if let accuracy = json.number("eph", within: 0 ... .infinity) { return accuracy }
        guard let x = json.number("epx", within: 0 ... .infinity), let y = json.number("epy", within: 0 ... .infinity)
        else { return nil }
        let accuracy = (x * x + y * y).squareRoot()
        return accuracy.isFinite ? accuracy : nil
    }

    /// gpsd's heading is from true north. The magnetic one is what is left without the variation, which counts east as
    /// positive; gpsd's own `magtrack` adds it.
    private mutating func attitude(_ json: JSONValue, _ now: WallTime) -> GPSDReport? {
        variation = json.number("magvar", within: -180...180) ?? variation
        guard let angle = json.number("heading", within: -360...360) else { return nil }
        var heading = Heading()
        heading.time = json["time"]?.string.flatMap { WallTime(utc: $0) } ?? now
        heading.trueHeading = Self.turned(angle)
        heading.magneticHeading = variation.map { Self.turned(angle - $0) }
        return .heading(heading)
    }

    private static func turned(_ angle: Double) -> Double {
        let rest = angle.truncatingRemainder(dividingBy: 360)
        return rest < 0 ? rest + 360 : rest
    }
}

extension JSONValue {
    fileprivate func number(_ name: String, within range: ClosedRange<Double> = -.infinity ... .infinity) -> Double? {
        let number: Double? =
            switch self[name] {
            case .int(let value): Double(value)
            case .double(let value): value
            default: nil
            }
        return number.flatMap { $0.isFinite && range.contains($0) ? $0 : nil }
    }
}

extension WallTime {
    /// Reads a time in UTC as gpsd writes it: `2026-11-21T10:00:00.000Z` (RFC 3339, section 5.6), years 1970 to 9999.
    init?(utc text: String) {
        var cursor = TextCursor(text)
        guard let date = cursor.date(), date.year >= 1970, cursor.take("T"),
            let hour = cursor.number(digits: 2), hour < 24, cursor.take(":"),
            let minute = cursor.number(digits: 2), minute < 60, cursor.take(":"),
            let second = cursor.number(digits: 2), second <= 60
        else { return nil }
        var milliseconds = ((hour * 60 + minute) * 60 + second) * 1000
        if cursor.take(".") {
            guard let fraction = cursor.fraction(places: 3) else { return nil }
            milliseconds += fraction
        }
        guard cursor.take("Z"), cursor.isAtEnd else { return nil }
        self.init(date, milliseconds: Int64(milliseconds))
    }
}

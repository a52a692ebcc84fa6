internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// The content of a line of gpsd.
enum GPSDReport: Hashable, Sendable {
    case location(Location)
    /// The receiver has no position.
    case noFix
    case heading(Heading)
}

/// Reads gpsd's lines (gpsd_json(5)). Tolerates malformed lines: a daemon writes invalid JSON for some receivers.
struct GPSDReader: Sendable {
    /// The number of lines that were too long or no JSON object with a class.
    private(set) var malformedCount = 0
    /// The latest magnetic variation: degrees from north to magnetic north, positive to the east.
    private var variation: Double?

    /// Returns the report of a line; nil for other lines. `now` is the time of reports without one.
    mutating func report(in line: [UInt8], now: WallTime) -> GPSDReport? {
        if line.allSatisfy({ $0 <= 0x20 }) { return nil }
        guard let json = try? JSONValue(parsing: line), let kind = json["class"]?.string else {
            malformedCount += 1
            return nil
        }
        switch kind {
        case "TPV": return position(json, now)
        case "ATT": return attitude(json, now)
        // SKY, VERSION, DEVICES and others contain no position.
        default: return nil
        }
    }

    /// Counts a line that is too long.
    mutating func skipOverlongLine() { malformedCount += 1 }

    /// Reads time, position and velocity. Without a fix in at least two dimensions (mode 2) there is no position.
    private mutating func position(_ json: JSONValue, _ now: WallTime) -> GPSDReport {
        variation = json.number("magvar", within: -180...180) ?? variation
        guard let mode = json["mode"]?.int, mode >= 2, let latitude = json.number("lat", within: -90...90),
            let longitude = json.number("lon", within: -180...180)
        else { return .noFix }
        var location = Location()
        location.time = Self.time(json) ?? now
        (location.latitude, location.longitude) = (latitude, longitude)
        location.horizontalAccuracy = horizontalAccuracy(json)
        location.altitude = json.number("altMSL") ?? json.number("alt")
        location.verticalAccuracy = mode == 3 ? json.number("epv", within: 0 ... .infinity) : nil
        location.speed = json.number("speed", within: 0 ... .infinity)
        location.course = json.number("track", within: 0...360)
        return .location(location)
    }

    /// `eph`, else the error of both axes.
    private func horizontalAccuracy(_ json: JSONValue) -> Double? {
        if let accuracy = json.number("eph", within: 0 ... .infinity) { return accuracy }
        guard let x = json.number("epx", within: 0 ... .infinity), let y = json.number("epy", within: 0 ... .infinity)
        else { return nil }
        let accuracy = (x * x + y * y).squareRoot()
        return accuracy.isFinite ? accuracy : nil
    }

    /// gpsd's heading is from true north. The magnetic heading is the true heading minus the variation, which is
    /// positive to the east; gpsd's own `magtrack` adds it.
    private mutating func attitude(_ json: JSONValue, _ now: WallTime) -> GPSDReport? {
        variation = json.number("magvar", within: -180...180) ?? variation
        guard let angle = json.number("heading", within: -360...360) else { return nil }
        var heading = Heading()
        heading.time = Self.time(json) ?? now
        heading.trueHeading = Self.turned(angle)
        heading.magneticHeading = variation.map { Self.turned(angle - $0) }
        return .heading(heading)
    }

    /// The time of a report in UTC; nil for a time before 1970, which a receiver without a fix may send.
    static func time(_ json: JSONValue) -> WallTime? {
        json["time"]?.string.flatMap { WallTime(rfc3339: $0) }.flatMap { $0.milliseconds >= 0 ? $0 : nil }
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

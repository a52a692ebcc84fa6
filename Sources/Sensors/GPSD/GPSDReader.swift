internal import Instrument
internal import InstrumentJSON

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
        var digits = TimeDigits(text.utf8)
        guard let year = digits.number(of: 4, before: "-"), let month = digits.number(of: 2, before: "-"),
            let day = digits.number(of: 2, before: "T"), let hour = digits.number(of: 2, before: ":"),
            let minute = digits.number(of: 2, before: ":"), let second = digits.number(of: 2, before: nil),
            let milliseconds = digits.milliseconds(), digits.isAtEnd, year >= 1970, (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let seconds = ((Self.days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
        self.init(milliseconds: Int64(seconds * 1000 + milliseconds))
    }

    /// Days since 1970-01-01 in the Gregorian calendar: years begin in March, so that a leap day is the last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = (shifted / 400, shifted % 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// The digits of a time, from left to right.
private struct TimeDigits {
    private var rest: ArraySlice<UInt8>

    init(_ text: String.UTF8View) { rest = Array(text)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number(of count: Int, before mark: Character?) -> Int? {
        var value = 0
        for _ in 0..<count {
            guard let digit = rest.popFirst(), (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int(digit - 0x30)
        }
        guard let mark else { return value }
        return rest.popFirst() == mark.asciiValue ? value : nil
    }

    /// A fraction of a second if there is one, and the Z; what is finer is cut off.
    mutating func milliseconds() -> Int? {
        var (value, count) = (0, 0)
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            while let digit = rest.first, (0x30...0x39).contains(digit) {
                rest.removeFirst()
                if count < 3 { value = value * 10 + Int(digit - 0x30) }
                count += 1
            }
            if count == 0 { return nil }
        }
        guard rest.popFirst() == UInt8(ascii: "Z") else { return nil }
        while count < 3 {
            value *= 10
            count += 1
        }
        return value
    }
}

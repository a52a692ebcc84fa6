internal import Instrument
internal import InstrumentText

/// How a live MPD tells the time of the server (`UTCTiming`, ISO/IEC 23009-1, 5.8.5.7).
enum DASHClock: String, Sendable, CaseIterable {
    /// In the MPD.
    case direct
    /// The body of `time/iso`, ISO 8601.
    case iso
    /// The body of `time/xsdate`, a date of XML Schema.
    case xsdate
    /// The `Date` of the response to a `HEAD` request for `time/head`, in whole seconds.
    case head

    /// The clock in the name of a manifest: `clock-NAME.mpd`.
    static func named(_ name: String) -> DASHClock? {
        guard name.hasPrefix("clock-"), name.hasSuffix(".mpd") else { return nil }
        let clock = DASHClock(rawValue: String(name.dropFirst(6).dropLast(4)))
        return clock == .direct ? nil : clock
    }

    /// The element, for an origin at this address.
    func element(at moment: Moment, base: String) -> String {
        let scheme = self == .direct ? rawValue : "http-\(rawValue)"
        let value = self == .direct ? moment.now.rfc3339 : "\(base)time/\(rawValue)"
        return "  <UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:\(scheme):2014\" value=\"\(value)\"/>\n"
    }

    /// The resource with this name under `time/`; nil for others.
    static func resource(_ name: String, at moment: Moment) -> Resource? {
        guard let clock = DASHClock(rawValue: name), clock != .direct else { return nil }
        var resource = Resource(ContentType.text, clock == .head ? .empty : Body(moment.now.rfc3339))
        resource.headers = ["Date: \(moment.now.httpDate)"]
        return resource
    }
}

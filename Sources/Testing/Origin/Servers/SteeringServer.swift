internal import InstrumentJSON

/// Answers of a steering server (rfc8216bis, section 7.2; ETSI TS 103 998): `steering/CHANGE/TTL/priority.json`.
///
/// The answer prefers the server `a` and names the address with the next lower CHANGE for the next request, after TTL
/// seconds. At zero it prefers `b` and remains.
struct SteeringServer: Sendable {
    private static let most = 1_000

    /// The number of answers that prefer `a`, from this one on.
    var change: Int
    /// In seconds.
    var timeToLive: Int

    /// By default, the second answer prefers the other server, after two seconds.
    init(_ query: StreamQuery) {
        change = query.change ?? 1
        timeToLive = query.timeToLive ?? 2
    }

    /// The resource with these names behind `steering/`; nil for others.
    static func resource(_ names: [String]) -> Resource? {
        guard names.count == 3, names[2] == "priority.json", let change = Int(names[0]), 0...most ~= change,
            let timeToLive = Int(names[1]), 1...most ~= timeToLive
        else { return nil }
        var answer: [String: JSONValue] = [
            "VERSION": .int(1), "TTL": .int(timeToLive),
            "PATHWAY-PRIORITY": .array((change > 0 ? ["a", "b"] : ["b", "a"]).map { .string($0) }),
        ]
        if change > 0 { answer["RELOAD-URI"] = .string("../../\(change - 1)/\(timeToLive)/priority.json") }
        return Resource(ContentType.of(path: names[2]), Body("\(JSONValue.object(answer))\n"))
    }

    /// The first address, from a playlist in a folder with two names.
    var address: String { "../../steering/\(change)/\(timeToLive)/priority.json" }
}

internal import InstrumentJSON

/// Compares a stored statement with the one that was sent under the same identifier.
///
/// The comparison ignores what LRSs add or may write in another form: `stored`, `authority`, `version`, texts
/// for people, definitions of activities, 5 for 5.0, one activity for an array of one, the case of identifiers.
///
/// Source: xAPI 1.0.3, Data 2.3.1 (immutability) and Communication 2.1.1.s1.b5.
enum StatementComparison {
    static func isSame(_ sent: JSONValue, _ stored: JSONValue, version: XAPIVersion) -> Bool {
        if let left = try? Statement(json: sent, version: version),
            let right = try? Statement(json: stored, version: version)
        {
            return essence(of: left) == essence(of: right)
        }
        return essence(of: sent) == essence(of: stored)
    }

    private static func essence(of statement: Statement) -> JSONValue { essence(of: statement.json) }

    private static func essence(of json: JSONValue) -> JSONValue {
        guard var members = json.members else { return json }
        for name in ["stored", "authority", "version"] { members[name] = nil }
        return cleared(.object(members), under: nil)
    }

    private static func cleared(_ value: JSONValue, under name: String?) -> JSONValue {
        switch value {
        case .object(let members) where name == "extensions": .object(members.mapValues(number))
        case .object(let members):
            .object(
                Dictionary(
                    members.filter { !["definition", "display"].contains($0.key) && !isUsualType($0.key, $0.value) }
                        .map { ($0.key, cleared($0.value, under: $0.key)) }
                ) { first, _ in first }
            )
        case .array(let elements): .array(elements.map { cleared($0, under: nil) })
        default: number(value)
        }
    }

    /// The default `objectType`.
    private static func isUsualType(_ name: String, _ value: JSONValue) -> Bool {
        name == "objectType" && (value == "Agent" || value == "Activity")
    }

    private static func number(_ value: JSONValue) -> JSONValue {
        switch value {
        case .double(let number): .number(number)
        case .array(let elements): .array(elements.map(number))
        case .object(let members): .object(members.mapValues(number))
        default: value
        }
    }
}

internal import InstrumentJSON
internal import NIOCore

/// A schedule, faults and sessions from a JSON file.
///
/// ```json
/// {
///   "schedule": "4000k for 10s, 600k for 20s, 4000k",
///   "sharing": "fair",
///   "scope": "session",
///   "faults": ["404 on *.ts nth 3", "slow 2s on *.m3u8 from 20s"],
///   "sessions": {"slow": "300k latency 200ms"}
/// }
/// ```
/// All members are optional; the texts are those of ``DeliverySchedule`` and ``FaultRule``.
package struct OriginScenario: Hashable, Sendable {
    /// The schedule of all sessions without a separate schedule.
    package var schedule = DeliverySchedule.unlimited
    /// The rules, in the order in which they are checked.
    package var faults: [FaultRule] = []
    /// The schedules of some sessions.
    package var sessions: [String: DeliverySchedule] = [:]
    /// How responses share a link; nil leaves the setting unchanged.
    package var sharing: LinkSharing?
    /// The clients that share a link; nil leaves the setting unchanged.
    package var scope: OriginConfiguration.LinkScope?

    /// Reads a scenario from JSON.
    /// - Throws: ``OriginSyntaxError``, which names the expected form.
    package init(json: [UInt8]) throws(OriginSyntaxError) {
        let value: JSONValue
        do { value = try JSONValue(parsing: json) } catch {
            throw OriginSyntaxError(message: "a scenario must be JSON: \(error)", text: "")
        }
        guard case .object(let members) = value else {
            throw OriginSyntaxError(message: "a scenario must be a JSON object", text: "\(value)")
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { try read(name, value) }
    }

    /// Reads a scenario from a file.
    /// - Throws: ``OriginSyntaxError``, which names the expected form.
    package init(contentsOf path: String) throws(OriginSyntaxError) {
        guard let file = OpenFile(path: path), file.size <= 1 << 20, let bytes = file.contents() else {
            throw OriginSyntaxError(message: "expected a scenario file of at most one megabyte", text: path)
        }
        try self.init(json: Array(bytes.readableBytesView))
    }

    /// Applies the scenario to a configuration.
    package func apply(to configuration: inout OriginConfiguration) {
        configuration.sessionSchedules = sessions
        configuration.sharing = sharing ?? configuration.sharing
        configuration.scope = scope ?? configuration.scope
    }

    private mutating func read(_ name: String, _ value: JSONValue) throws(OriginSyntaxError) {
        switch (name, value) {
        case ("schedule", .string(let text)): schedule = try DeliverySchedule(text)
        case ("sharing", .string(let text)): sharing = try Self.choice(text)
        case ("scope", .string(let text)): scope = try Self.choice(text)
        case ("faults", .array(let texts)):
            for text in texts { faults.append(try FaultRule(try Self.text(text))) }
        case ("sessions", .object(let schedules)):
            for (name, text) in schedules { sessions[name] = try DeliverySchedule(try Self.text(text)) }
        default:
            let message =
                "expected schedule, sharing, scope (texts), faults (a list of texts), sessions (texts by name)"
            throw OriginSyntaxError(message: message, text: "\"\(name)\": \(value)")
        }
    }

    private static func text(_ value: JSONValue) throws(OriginSyntaxError) -> String {
        guard let text = value.string else { throw OriginSyntaxError(message: "expected a string", text: "\(value)") }
        return text
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String
    ) throws(OriginSyntaxError) -> Choice {
        if let choice = Choice(rawValue: text) { return choice }
        let choices = Choice.allCases.map(\.rawValue).joined(separator: " or ")
        throw OriginSyntaxError(message: "expected \(choices)", text: text)
    }
}

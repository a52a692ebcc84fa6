internal import Instrument
internal import InstrumentJSON
internal import InstrumentSensors

/// The reason why stored JSON is not an event. It repeats nothing of the JSON.
struct SiftEventError: Error, CustomStringConvertible {
    let description: String
}

/// The format of an event, both ways. In the queue an event is kept with all fields of both profiles.
extension SiftEvent {
    private static let texts: [(String, any WritableKeyPath<SiftEvent, String?> & Sendable)] = [
        ("mobile_event_type", \.type), ("path", \.path), ("user_id", \.userID), ("installation_id", \.installationID),
    ]
    private static let maps: [(String, any WritableKeyPath<SiftEvent, [String: String]?> & Sendable)] = [
        ("fields", \.fields), ("metrics", \.metrics), ("device_properties", \.legacyDeviceProperties),
    ]

    func json(_ profile: SiftProfile) -> JSONValue {
        var members: [String: JSONValue] = ["time": .int(Int(clamping: time.milliseconds))]
        for (name, path) in Self.texts {
            if let text = self[keyPath: path], !text.isEmpty { members[name] = .string(text) }
        }
        for (name, path) in Self.maps {
            if let map = self[keyPath: path] { members[name] = .object(map.mapValues { .string($0) }) }
        }
        members["ios_app_state"] = appState?.json(profile)
        members["ios_device_properties"] = deviceProperties?.json(profile)
        return .object(members)
    }

    /// Reads an event.
    /// - Throws: ``SiftEventError`` if the time is missing, or a value that must be a string is not one.
    init(json: JSONValue) throws(SiftEventError) {
        guard let time = json["time"]?.int else {
            throw SiftEventError(description: "an event must have an integer `time`")
        }
        self.init(time: WallTime(milliseconds: Int64(time)))
        for (name, path) in Self.texts { self[keyPath: path] = json[name]?.string }
        for (name, path) in Self.maps { self[keyPath: path] = try Self.texts(in: json, name) }
        appState = json["ios_app_state"].flatMap(AppState.init(json:))
        deviceProperties = json["ios_device_properties"].flatMap(DeviceProperties.init(json:))
    }

    /// The event without its time: two events with equal contents are the same event to
    /// ``SiftQueue/acceptSameEventAfter``.
    var content: JSONValue {
        guard case .object(var members) = json(.legacy) else { return .null }
        members["time"] = nil
        return .object(members)
    }

    private static func texts(in json: JSONValue, _ name: String) throws(SiftEventError) -> [String: String]? {
        guard let value = json[name] else { return nil }
        guard case .object(let members) = value else {
            throw SiftEventError(description: "`\(name)` must be an object")
        }
        var texts: [String: String] = [:]
        for (key, value) in members {
            guard let text = value.string else {
                throw SiftEventError(description: "every value of `\(name)` must be a string")
            }
            texts[key] = text
        }
        return texts
    }
}

internal import Instrument
internal import InstrumentJSON

/// The persistent settings. Contains no key.
struct SiftSettings: Hashable, Sendable {
    var userID: String?
    var installationID: String?
    var disallowsLocation = false
    var queues: [String: SiftQueueMemory] = [:]
}

/// The format of the settings: one JSON object.
extension SiftSettings {
    var bytes: [UInt8] {
        var members: [String: JSONValue] = [
            "version": 1,
            "disallow_collecting_location_data": .bool(disallowsLocation),
            "queues": .object(queues.mapValues(\.json)),
        ]
        members["user_id"] = userID.map { .string($0) }
        members["installation_id"] = installationID.map { .string($0) }
        return JSONValue.object(members).bytes
    }

    /// Reads what can be read; nil if it is no settings at all.
    init?(bytes: [UInt8]) {
        guard case .object(let members)? = try? JSONValue(parsing: bytes),
            case .bool(let disallowsLocation)? = members["disallow_collecting_location_data"]
        else { return nil }
        userID = members["user_id"]?.string
        installationID = members["installation_id"]?.string
        self.disallowsLocation = disallowsLocation
        guard case .object(let memories)? = members["queues"] else { return }
        queues = memories.mapValues(SiftQueueMemory.init(json:))
    }
}

extension SiftQueueMemory {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["last_upload": .int(Int(clamping: lastUpload.milliseconds))]
        members["last_event"] = lastEvent?.json(.legacy)
        return .object(members)
    }

    fileprivate init(json: JSONValue) {
        lastUpload = WallTime(milliseconds: Int64(json["last_upload"]?.int ?? 0))
        lastEvent = json["last_event"].flatMap { try? SiftEvent(json: $0) }
    }
}

internal import Instrument

/// A payload as a sample of the store.
struct StoredPayload {
    private static let action = Action("SeerPayload")

    let kind: SeerPayload.Kind
    let requestID: SeerRequestID
    let bytes: [UInt8]
    /// The reason of the service, for a payload that it refused at once.
    var refusal: String?

    init(kind: SeerPayload.Kind, requestID: SeerRequestID, bytes: [UInt8]) {
        self.kind = kind
        self.requestID = requestID
        self.bytes = bytes
    }

    init?(_ record: SampleRecord) {
        guard case .event(let event) = record.sample, event.action == Self.action,
            let kind = event[.seerKind].flatMap({ SeerPayload.Kind(rawValue: $0) }),
            let number = event[.seerRequest].flatMap({ UInt64($0) }), let text = event[.seerPayload]
        else { return nil }
        self.init(kind: kind, requestID: number, bytes: Array(text.utf8))
        refusal = event[.seerRefusal]
    }

    func sample(_ time: Timestamp) -> Sample {
        var event = Event(Self.action, tracker: TrackerID(0), time: time)
        event[.seerKind] = kind.rawValue
        event[.seerRequest] = String(requestID)
        event[.seerPayload] = String(decoding: bytes, as: UTF8.self)
        event[.seerRefusal] = refusal
        return .event(event)
    }
}

extension AttributeKey where Value == String {
    static var seerKind: Self { "seer.kind" }
    static var seerRequest: Self { "seer.request" }
    static var seerPayload: Self { "seer.payload" }
    static var seerRefusal: Self { "seer.refusal" }
}

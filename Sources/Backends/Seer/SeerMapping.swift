public import Instrument
internal import InstrumentJSON
public import InstrumentXAPI

/// The usual mapping for ``SeerBackend``: one Tin Can statement per event, with the attributes as extensions.
///
/// It selects and maps samples as `PlainMapping` does, with the sample's identifier and time.
public struct SeerMapping: Sendable {
    private let appID: String
    private let plain: PlainMapping

    /// Creates a mapping for the app with an identifier at Seer.
    public init(
        appID: String,
        viewings: Viewings,
        isSaid: @escaping @Sendable (Sample) -> Bool = PlainMapping.isUsuallySaid
    ) {
        self.appID = appID
        plain = PlainMapping(viewings: viewings, isSaid: isSaid)
    }

    /// Returns the payload of a sample; nil if it has none.
    public func callAsFunction(_ record: SampleRecord) -> SeerPayload? {
        var memory = JSONValue.null
        guard let statement = plain.statements(for: record, remembering: &memory).first,
            case .object(var members) = statement.json, case .object(var context)? = members["context"]
        else { return nil }
        var extensions: [String: JSONValue] = ["appId": .string(appID)]
        if case .object(let known)? = context["extensions"] { extensions.merge(known) { own, _ in own } }
        context["extensions"] = .object(extensions)
        members["context"] = .object(context)
        return SeerPayload(.tinCan, json: .object(members))
    }
}

public import Instrument
internal import InstrumentJSON
public import InstrumentXAPI

/// The usual mapping of samples for ``SeerBackend``: a Tin Can statement an event, with the attributes as extensions.
///
/// Says of which samples what `PlainMapping` says, with the sample's identifier and time.
public struct SeerMapping: Sendable {
    private let appID: String
    private let plain: PlainMapping

    /// Creates a mapping for the app that Seer knows by that identifier.
    public init(
        appID: String,
        viewings: Viewings,
        isSaid: @escaping @Sendable (Sample) -> Bool = PlainMapping.isUsuallySaid
    ) {
        self.appID = appID
        plain = PlainMapping(viewings: viewings, isSaid: isSaid)
    }

    /// What is said of a sample; nil if nothing is.
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

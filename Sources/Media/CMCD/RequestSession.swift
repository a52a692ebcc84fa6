package import Instrument

extension AttributeKey where Value == String {
    /// The session (`sid`) of the reports on a playback's requests; absent where requests carry no reports. Event
    /// reports of the playback have the same session (CTA-5004-B, Table 1).
    package static var requestSession: Self { "requestSessionId" }
}

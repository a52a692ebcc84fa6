internal import InstrumentHTTP
internal import InstrumentRules

extension FetchFailure {
    /// Creates the failure of a request of a check.
    init(_ kind: Kind, _ url: HTTPURL, _ failure: ResourceClient.Failure) {
        self.init(kind: kind, url: url, reason: failure.reason)
        if case .status(let status) = failure { self.status = status }
        if case .coding = failure { isCoding = true }
    }
}

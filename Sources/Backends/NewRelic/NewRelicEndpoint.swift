internal import Instrument
public import InstrumentHTTP

/// The addresses at which New Relic accepts the events and metrics of an account.
public struct NewRelicEndpoint: Hashable, Sendable {
    /// The data center of an account.
    public enum Region: String, Hashable, Sendable, CaseIterable {
        /// United States.
        case us
        /// European Union.
        case eu
    }

    /// The address of the Event API.
    package let events: HTTPURL
    /// The address of the Metric API.
    package let metrics: HTTPURL

    /// Creates the endpoint of an account at New Relic.
    ///
    /// - Throws: `HTTPError` if the account's number has other characters than digits.
    public init(accountID: String, region: Region = .us) throws(HTTPError) {
        let (events, metrics) =
            switch region {
            case .us: ("https://insights-collector.newrelic.com", "https://metric-api.newrelic.com")
            case .eu: ("https://insights-collector.eu01.nr-data.net", "https://metric-api.eu.newrelic.com")
            }
        try self.init(accountID: accountID, events, metrics)
    }

    /// Creates an endpoint at another server that has both interfaces, such as a proxy.
    ///
    /// - Throws: `HTTPError` if the account's number has other characters than digits.
    public init(accountID: String, server: HTTPURL) throws(HTTPError) {
        var path = server.path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        try self.init(accountID: accountID, server.origin + path, server.origin + path)
    }

    private init(accountID: String, _ events: String, _ metrics: String) throws(HTTPError) {
        guard !accountID.isEmpty, accountID.utf8.allSatisfy(\.isDigit) else {
            throw HTTPError(
                .invalidURL,
                "the account of New Relic must be a number; use the account ID of its settings"
            )
        }
        self.events = try HTTPURL("\(events)/v1/accounts/\(accountID)/events")
        self.metrics = try HTTPURL("\(metrics)/metric/v1")
    }
}

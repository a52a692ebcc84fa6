internal import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentNewRelic
internal import InstrumentText

extension BackendKind {
    static let newRelic = BackendKind(
        "newrelic",
        summary: "New Relic",
        address: .text(
            "ACCOUNT",
            "ACCOUNT@eu",
            "ACCOUNT@URL",
            expecting: "`ACCOUNT`, `ACCOUNT@eu` or `ACCOUNT@URL`, with the digits of the account"
        ),
        credentials: .required("a license key"),
        read: { try NewRelicEndpoint(argument: $0) },
        make: { endpoint, context in
            let key = try context.requiredCredentials().secret()
            return try NewRelicBackend(
                endpoint,
                key: key,
                transport: try context.transport(),
                report: context.report
            )
        }
    )
}

extension NewRelicEndpoint {
    /// Reads `ACCOUNT`, `ACCOUNT@REGION` or `ACCOUNT@URL`.
    fileprivate init(argument: String) throws {
        let (account, rest) = argument.split(at: "@")
        if account.isEmpty {
            throw BackendKindError(
                "newrelic needs the number of the account, such as newrelic:1234567 or newrelic:1234567@eu"
            )
        }
        guard let place = rest.map(String.init) else {
            try self.init(accountID: String(account))
            return
        }
        if let region = Region(rawValue: place) {
            try self.init(accountID: String(account), region: region)
            return
        }
        guard place.contains(":") || place.contains(".") else {
            let known = Region.allCases.map(\.rawValue).joined(separator: " or ")
            throw BackendKindError("newrelic: the region must be \(known), or an address (found '\(place)')")
        }
        try self.init(accountID: String(account), server: try HTTPURL(place))
    }
}

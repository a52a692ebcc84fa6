internal import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentSift

extension BackendKind {
    static let sift = BackendKind(
        "sift",
        summary: "Sift",
        address: .url("an http or https URL with a host, or one with `%@` in place of the account"),
        credentials: .required("ACCOUNT:KEY"),
        read: { text in
            if let format = try? SiftEndpoint(format: text) { return format }
            let url = try HTTPURL(address: text, of: "sift", prefix: "sift:")
            return try SiftEndpoint(origin: url.secretText)
        },
        make: { endpoint, context in
            let credentials = try context.requiredCredentials()
            let (account, key) = try credentials.pair()
            guard let pair = SiftCredentials(accountID: account, beaconKey: key) else { throw credentials.noPair }
            // The installation's identifier is stored beside the queue; without a queue, every run has a new one.
            let file = context.directory.map { SiftSettingsFile(path: $0 + "/sift.json") }
            return SiftBackend(
                SiftConfiguration(endpoint: endpoint),
                credentials: pair,
                transport: try context.transport(),
                settings: file ?? SiftSettingsMemory(),
                report: context.report
            )
        }
    )
}

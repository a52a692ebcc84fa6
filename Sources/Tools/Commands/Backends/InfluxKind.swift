internal import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentInflux

extension BackendKind {
    static let influx = BackendKind(
        "influx",
        summary: "InfluxDB; the URL has ?db=NAME, or ?org=NAME&bucket=NAME",
        address: .url("a URL with `?db=NAME`, or with `?org=NAME&bucket=NAME`"),
        credentials: .optional("USER:PASSWORD, or a token"),
        read: { text in
            let url = try HTTPURL(address: text, of: "influx", prefix: "influx:")
            do throws(HTTPError) { _ = try InfluxEndpoint(parameters: url) } catch {
                throw BackendKindError(
                    "influx needs the name of the database in the address: add ?db=NAME, or ?org=NAME&bucket=NAME for version 2 or later"
                )
            }
            return url
        },
        make: { url, context in
            // User and password for a database, a token for a bucket.
            let isFirstVersion = url.queryValue(named: "db")?.isEmpty == false
            let credentials = try context.credentials.map { option -> InfluxEndpoint.Credentials in
                if !isFirstVersion { return .token(try option.secret()) }
                let pair = try option.pair()
                return .basic(user: pair.name, password: pair.secret)
            }
            let endpoint = try InfluxEndpoint(parameters: url, credentials: credentials)
            return try InfluxBackend(endpoint, transport: try context.transport(), report: context.report)
        }
    )
}

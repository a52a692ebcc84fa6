internal import Instrument
public import InstrumentHTTP
internal import InstrumentText

/// The destination of points: the address with its parameters, and the credentials.
///
/// ```swift
/// let endpoint = try InfluxEndpoint(url: HTTPURL("http://127.0.0.1:8086"), database: "media")
/// ```
public struct InfluxEndpoint: Hashable, Sendable {
    /// A value of `Authorization`. The description shows no secret.
    public enum Credentials: Hashable, Sendable, CustomStringConvertible {
        /// User and password of InfluxDB 1.x.
        case basic(user: String, password: String)
        /// A token of InfluxDB 2 or 3.
        case token(String)

        /// The kind, without the secret.
        public var description: String {
            switch self {
            case .basic: "user and password"
            case .token: "token"
            }
        }

        var header: String {
            switch self {
            case .basic(let user, let password): "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
            case .token(let token): "Token " + token
            }
        }
    }

    /// The address that points are posted to, with its parameters.
    package let url: HTTPURL
    /// The credentials; nil sends none.
    public var credentials: Credentials?

    /// The write address of InfluxDB 1.x: `/write?db=…`.
    ///
    /// - Parameters:
    ///   - url: the server's address. A path in front of `/write` is kept; user and password in it are the credentials,
    ///     if no others are given.
    ///   - database: the database, which must exist.
    ///   - retentionPolicy: nil selects the database's default.
    ///   - credentials: nil sends none.
    /// - Throws: `HTTPError` if the address cannot be formed.
    public init(
        url: HTTPURL,
        database: String,
        retentionPolicy: String? = nil,
        credentials: Credentials? = nil
    ) throws(HTTPError) {
        var query = "db=" + PercentCoding.encoded(database)
        if let retentionPolicy { query += "&rp=" + PercentCoding.encoded(retentionPolicy) }
        try self.init(url, "/write", query, credentials)
    }

    /// The write address of InfluxDB 2, which InfluxDB 3 also has: `/api/v2/write?org=…&bucket=…`.
    ///
    /// - Parameters:
    ///   - url: the server's address. A path in front of `/api/v2/write` is kept.
    ///   - bucket: the bucket, which must exist; of InfluxDB 3 the database.
    ///   - organization: the name or the identifier; nil for servers that have none.
    ///   - credentials: nil sends none.
    /// - Throws: `HTTPError` if the address cannot be formed.
    public init(
        url: HTTPURL,
        bucket: String,
        organization: String? = nil,
        credentials: Credentials? = nil
    ) throws(HTTPError) {
        let organization = organization.map { "org=" + PercentCoding.encoded($0) + "&" } ?? ""
        try self.init(url, "/api/v2/write", organization + "bucket=" + PercentCoding.encoded(bucket), credentials)
    }

    /// Reads an address with the parameter `db` (InfluxDB 1.x, with `rp` if wished) or `bucket` (InfluxDB 2 and 3, with
    /// `org`), as in `http://127.0.0.1:8086?db=media`; the path may be left out.
    ///
    /// - Throws: `HTTPError` if the address has neither parameter, or an empty one.
    public init(parameters url: HTTPURL, credentials: Credentials? = nil) throws(HTTPError) {
        if let database = Self.value("db", of: url) {
            let policy = Self.value("rp", of: url)
            try self.init(url: url, database: database, retentionPolicy: policy, credentials: credentials)
        } else if let bucket = Self.value("bucket", of: url) {
            let organization = Self.value("org", of: url)
            try self.init(url: url, bucket: bucket, organization: organization, credentials: credentials)
        } else {
            throw HTTPError(
                .invalidURL,
                "the address of InfluxDB must name a database (?db=NAME) or a bucket (?org=NAME&bucket=NAME)"
            )
        }
    }

    private init(_ url: HTTPURL, _ path: String, _ query: String, _ credentials: Credentials?) throws(HTTPError) {
        var before = url.path[...]
        if before.hasSuffix(path) { before = before.dropLast(path.count) }
        while before.hasSuffix("/") { before = before.dropLast() }
        self.url = try HTTPURL("\(url.origin)\(before)\(path)?\(query)&precision=ns")
        self.credentials = credentials ?? url.userInfo.flatMap(Self.credentials)
    }

    private static func value(_ name: String, of url: HTTPURL) -> String? {
        guard let value = url.queryValue(named: name), !value.isEmpty else { return nil }
        return String(decoding: PercentCoding.decoded(value), as: UTF8.self)
    }

    private static func credentials(ofUserInfo text: String) -> Credentials? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: PercentCoding.decoded($0), as: UTF8.self) }
        guard let user = parts.first, !user.isEmpty else { return nil }
        return .basic(user: user, password: parts.count > 1 ? parts[1] : "")
    }
}

internal import InstrumentJSON
public import InstrumentQuality

/// Which share of sessions each app records: the document that apps read from a file or an address.
///
/// ```json
/// {"version": 3, "default": {"oneIn": 10}, "apps": {"com.example.tv": {"oneIn": 100}}}
/// ```
///
/// `version` is a number from 0 that grows with each change: an app never goes back to an older one. `default` applies
/// to apps that `apps` does not list; without it, they record every session. `oneIn` is a number from 0 (no session) to
/// 1,000,000,000. Other members are ignored, so that a later version of the format remains readable.
///
/// In the signed form, `payload` is such a document as text, and `signature` the HMAC-SHA256 (RFC 2104) of the text's
/// UTF-8 under a shared key, in hexadecimal:
///
/// ```json
/// {"payload": "{\"version\": 3, \"default\": {\"oneIn\": 10}}", "signature": "5d41…"}
/// ```
public struct SamplingConfiguration: Hashable, Sendable {
    /// The number of the document.
    public var version: Int
    /// For apps that `apps` does not list.
    package var fallback: SessionSampling
    /// By the app's identifier.
    package var apps: [String: SessionSampling]

    /// The greatest N of one in N.
    package static let largest = 1_000_000_000

    /// Creates a configuration.
    public init(version: Int, fallback: SessionSampling = .all, apps: [String: SessionSampling] = [:]) {
        self.version = version
        self.fallback = fallback
        self.apps = apps
    }

    /// The sampling of an app.
    public func sampling(of app: String) -> SessionSampling { apps[app] ?? fallback }

    /// Reads a document, in the signed or the plain form.
    ///
    /// - Parameters:
    ///   - bytes: the document.
    ///   - key: the shared key; with a key only the signed form is accepted.
    /// - Throws: ``SamplingError``.
    public init(reading bytes: [UInt8], key: SamplingKey? = nil) throws(SamplingError) {
        let document = try Self.parse(bytes)
        guard let payload = document["payload"] else {
            if key != nil {
                throw SamplingError(
                    .unsigned,
                    "the configuration has no `payload` and `signature`; sign it with the shared key"
                )
            }
            self = try SamplingConfiguration(document)
            return
        }
        guard let text = payload.string else {
            throw SamplingError(.invalid, "`payload` must be a text that contains the configuration")
        }
        if let key { try key.verify(document["signature"]?.string, of: Array(text.utf8)) }
        self = try SamplingConfiguration(Self.parse(Array(text.utf8)))
    }

    /// The document in the signed form.
    public func signed(with key: SamplingKey) -> [UInt8] {
        let payload = json.bytes
        let signature = JSONValue.string(key.signature(of: payload))
        return JSONValue.object(["payload": .string(String(decoding: payload, as: UTF8.self)), "signature": signature])
            .bytes
    }

    /// The document in the plain form.
    public var bytes: [UInt8] { json.bytes }

    private var json: JSONValue {
        let apps = apps.mapValues { JSONValue.object(["oneIn": .int($0.oneIn)]) }
        return ["version": .int(version), "default": ["oneIn": .int(fallback.oneIn)], "apps": .object(apps)]
    }

    private init(_ document: JSONValue) throws(SamplingError) {
        guard let version = document["version"]?.int, version >= 0 else {
            throw SamplingError(.invalid, "`version` must be a whole number from 0")
        }
        self.version = version
        fallback =
            try document["default"].map { value throws(SamplingError) in
                try Self.sampling(value, at: "default")
            } ?? .all
        apps = [:]
        switch document["apps"] {
        case nil: break
        case .object(let members)?:
            for (app, value) in members { apps[app] = try Self.sampling(value, at: "apps.\(app)") }
        default: throw SamplingError(.invalid, "`apps` must be an object of apps by identifier")
        }
    }

    private static func sampling(_ value: JSONValue, at path: String) throws(SamplingError) -> SessionSampling {
        guard let count = value["oneIn"]?.int, (0...largest).contains(count) else {
            throw SamplingError(.invalid, "`\(path).oneIn` must be a whole number from 0 to \(largest)")
        }
        return SessionSampling(oneIn: count)
    }

    private static func parse(_ bytes: [UInt8]) throws(SamplingError) -> JSONValue {
        do throws(JSONError) {
            let value = try JSONValue(parsing: bytes)
            if case .object = value { return value }
        } catch {
            throw SamplingError(.invalid, "the configuration is not valid JSON: \(error)")
        }
        throw SamplingError(.invalid, "the configuration must be a JSON object")
    }
}

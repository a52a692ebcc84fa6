import Foundation
import Instrument
import InstrumentCMCD
import InstrumentCMCDBackend
import InstrumentClickstream
import InstrumentCompression
import InstrumentHTTP
import InstrumentInflux
import InstrumentJSON
import InstrumentNewRelic
import InstrumentOTLP
import InstrumentSeer
import InstrumentSift
import InstrumentTransport
import InstrumentXAPI
import Testing

/// One of the services: its backend, and where a request of its has its items.
enum Service: String, CaseIterable, CustomTestStringConvertible {
    case clickstream, cmcd, influx, newRelic, otlp, seer, sift, xapi

    var testDescription: String { rawValue }

    private static let patience = Duration.milliseconds(100)

    /// The backend, with its persistent state in `directory`.
    func makeBackend(
        _ address: String,
        _ directory: String,
        transport given: (any HTTPTransport)? = nil
    ) throws -> any Backend {
        let transport = try given ?? SystemTransport()
        let account = Statement.Identifier.account(homePage: "https://example.org", name: "4711")
        let viewings = Viewings(viewer: .agent(Statement.Agent(account)))
        switch self {
        case .clickstream:
            let environment = ClickstreamEnvironment("test", endpoint: try HTTPURL(address + "/clickstream"))
            return try ClickstreamBackend(
                delegate: Delegate(environment: environment),
                transport: transport,
                configuration: ClickstreamConfiguration(timeout: Self.patience)
            )
        case .cmcd: return try makeCMCD(address, transport)
        case .influx:
            let endpoint = try InfluxEndpoint(url: HTTPURL(address), database: "media")
            let configuration = InfluxConfiguration(timeout: Self.patience, policy: Self.policy)
            return try InfluxBackend(endpoint, configuration: configuration, transport: transport)
        case .newRelic:
            let endpoint = try NewRelicEndpoint(accountID: "1", server: HTTPURL(address))
            let configuration = NewRelicConfiguration(timeout: Self.patience, policy: Self.policy)
            return try NewRelicBackend(endpoint, key: "secret-key", configuration: configuration, transport: transport)
        case .otlp:
            let configuration = OTLPConfiguration(encoding: .json, timeout: Self.patience, policy: Self.policy)
            return try OTLPBackend(HTTPURL(address), configuration: configuration, transport: transport)
        case .seer:
            let mapping = SeerMapping(appID: "app", viewings: viewings) { _ in true }
            return SeerBackend(
                SeerConfiguration(baseURL: try HTTPURL(address), requestTimeout: Self.patience),
                credentials: SeerCredentials(clientID: "client", clientSecret: "secret"),
                transport: transport,
                policy: DeliveryPolicy(maxCount: 25, maxAge: .zero),
                mapping: { mapping($0) }
            )
        case .sift:
            guard let credentials = SiftCredentials(accountID: "account", beaconKey: "key") else { throw NoService() }
            let endpoint = try SiftEndpoint(origin: address)
            return SiftBackend(
                SiftConfiguration(endpoint: endpoint, maxCount: 25, timeout: Self.patience),
                credentials: credentials,
                transport: transport,
                settings: SiftSettingsFile(path: directory + "/sift.json")
            )
        case .xapi:
            let configuration = XAPIConfiguration(
                endpoint: try HTTPURL(address + "/xapi"),
                credentials: .basic(user: "key", password: "secret"),
                requestTimeout: Self.patience,
                policy: DeliveryPolicy(maxCount: 25, maxAge: .zero)
            )
            return XAPIBackend(
                configuration,
                mapping: PlainMapping(viewings: viewings) { _ in true },
                transport: transport,
                memory: FileStateStore(root: directory + "/xapi")
            )
        }
    }

    private static var policy: DeliveryPolicy { DeliveryPolicy(maxCount: 25, maxAge: .zero) }

    /// Reports have no identifier of a sample; a custom key has it here. Sessions of runs are different.
    private func makeCMCD(_ address: String, _ transport: any HTTPTransport) throws -> any Backend {
        let configuration = CMCDConfiguration(timeout: Self.patience, policy: Self.policy) { record in
            guard case .event(let event) = record.sample else { return nil }
            var report = CMCDReport()
            (report[.version], report[.event], report[.timestamp]) = (.integer(2), .token("t"), .integer(1))
            report[.sessionID] = .string("session")
            report["org.example-id"] = .string(record.id.description)
            report["org.example-source"] = event[.source].map { .string($0) }
            return report
        }
        return try CMCDBackend(HTTPURL(address), configuration: configuration, transport: transport)
    }

    /// The items in a request, with their identifiers; nil for a request of another kind.
    func items(of body: [UInt8]) -> [(id: SampleID, json: JSONValue)]? {
        let plain = body.starts(with: Gzip.beginning) ? unpacked(body) : body
        switch self {
        case .influx: return influxItems(plain)
        case .cmcd: return cmcdItems(plain)
        case .newRelic:
            guard case .array(let events)? = try? JSONValue(parsing: plain) else { return nil }
            return events.compactMap { event in
                event["sampleId"]?.string.flatMap { SampleID($0) }.map { ($0, ["fields": event]) }
            }
        case .otlp: return otlpItems(plain)
        case .clickstream, .seer, .sift, .xapi: return documentedItems(body)
        }
    }

    /// Only the sample's own members: a line of the protocol has no other text with quotes here.
    private func influxItems(_ body: [UInt8]) -> [(id: SampleID, json: JSONValue)] {
        String(decoding: body, as: UTF8.self).split(separator: "\n").compactMap { line in
            let text = { (name: String) in
                line.components(separatedBy: name + "=\"").last?.split(separator: "\"").first.map(String.init) ?? ""
            }
            return SampleID(text("sampleId")).map {
                ($0, ["fields": ["source": .string(text("source"))], "line": .string(String(line))])
            }
        }
    }

    /// The number of a record may change: an earlier record of the session that became a dead letter gives its number
    /// back.
    private func cmcdItems(_ body: [UInt8]) -> [(id: SampleID, json: JSONValue)] {
        String(decoding: body, as: UTF8.self).split(separator: "\n").compactMap { line in
            guard let report = CMCDReport(String(line)), case .string(let id)? = report["org.example-id"],
                case .string(let source)? = report["org.example-source"]
            else { return nil }
            return SampleID(id).map { ($0, ["fields": ["source": .string(source)]]) }
        }
    }

    private func otlpItems(_ body: [UInt8]) -> [(id: SampleID, json: JSONValue)]? {
        guard case .array(let resources)? = (try? JSONValue(parsing: body))?["resourceLogs"],
            case .array(let scopes)? = resources.first?["scopeLogs"],
            case .array(let records)? = scopes.first?["logRecords"]
        else { return nil }
        return records.compactMap { record in
            guard case .array(let attributes)? = record["attributes"] else { return nil }
            let text = { (name: String) in
                attributes.first { $0["key"]?.string == name }?["value"]?["stringValue"]?.string ?? ""
            }
            return SampleID(text("log.record.uid")).map {
                ($0, ["fields": ["source": .string(text("url.full"))], "record": record])
            }
        }
    }

    private func documentedItems(_ body: [UInt8]) -> [(id: SampleID, json: JSONValue)]? {
        let json = try? JSONValue(parsing: self == .sift ? unpacked(body) : body)
        guard case .array(let items)? = self == .sift ? json?["data"] : json else { return nil }
        return items.compactMap { item in
            let text = (self == .sift ? item["fields"]?["sampleId"] : item["id"])?.string
            return text.flatMap { SampleID($0.uppercased()) }.map { ($0, item) }
        }
    }

    private func unpacked(_ body: [UInt8]) -> [UInt8] {
        var gunzip = Gunzip()
        var bytes: [UInt8] = []
        try? gunzip.unpack(body) { bytes += $0 }
        return bytes
    }
}

struct NoService: Error {}

private final class Delegate: ClickstreamDelegate {
    let environment: ClickstreamEnvironment
    let userAgent = "test"
    init(environment: ClickstreamEnvironment) { self.environment = environment }
}

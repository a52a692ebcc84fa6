import Foundation
import Instrument
import InstrumentClickstream
import InstrumentCompression
import InstrumentJSON
import InstrumentSeer
import InstrumentSift
import InstrumentTransport
import InstrumentXAPI
import Testing

/// One of the services: its backend, and where a request of its has its items.
enum Service: String, CaseIterable, CustomTestStringConvertible {
    case clickstream, seer, sift, xapi

    var testDescription: String { rawValue }

    private static let patience = Duration.milliseconds(100)

    /// The backend; `directory` keeps what it remembers between runs.
    func makeBackend(_ address: String, _ directory: String) throws -> any Backend {
        let transport = try SystemTransport()
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

    /// The items in a request, with their identifiers; nil for a request of another kind.
    func items(of body: [UInt8]) -> [(id: SampleID, json: JSONValue)]? {
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

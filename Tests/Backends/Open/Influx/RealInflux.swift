import Foundation
import Instrument
import InstrumentHTTP
import InstrumentInflux
import InstrumentJSON
import InstrumentTransport
import LoopbackServers

/// InfluxDB 1.x with an empty database `media`.
struct RealInflux {
    static let isInstalled = RealServer.program("influxd") != nil

    let server: RealServer
    let url: HTTPURL
    private let transport: SystemTransport

    init() async throws {
        guard let program = RealServer.program("influxd") else { throw NoServer(why: "not installed") }
        let port = try TestServer.closedPort()
        let (url, transport) = (try HTTPURL("http://127.0.0.1:\(port)"), try SystemTransport())
        let ping = HTTPRequest(.get, try HTTPURL("http://127.0.0.1:\(port)/ping"))
        server = try await RealServer(program) { scratch in
            let settings = """
                reporting-disabled = true
                bind-address = "127.0.0.1:0"
                [meta]
                dir = "\(scratch)/meta"
                [data]
                dir = "\(scratch)/data"
                wal-dir = "\(scratch)/wal"
                [http]
                bind-address = "127.0.0.1:\(port)"
                log-enabled = false
                [monitor]
                store-enabled = false
                """
            try settings.write(toFile: scratch + "/influx.conf", atomically: true, encoding: .utf8)
            return ["-config", scratch + "/influx.conf"]
        } isReady: {
            (try? await transport.send(ping))?.status == 204
        }
        (self.url, self.transport) = (url, transport)
        _ = try await query("CREATE DATABASE media", isChange: true)
    }

    func endpoint(_ database: String = "media") throws -> InfluxEndpoint {
        try InfluxEndpoint(url: url, database: database)
    }

    /// The samples of `QueueChild`, as lines in the order of their numbers.
    func lines() async throws -> [[UInt8]] {
        let rows = try await query("SELECT sampleId, run, thread, number FROM OAVT_EVENTS")
        let samples = rows.compactMap { row -> (id: String, run: Int, thread: Int, number: Int)? in
            guard let id = row["sampleId"]?.string, let run = row["run"]?.int, let thread = row["thread"]?.int,
                let number = row["number"]?.int
            else { return nil }
            return (id, run, thread, number)
        }
        return samples.sorted { ($0.run, $0.thread, $0.number) < ($1.run, $1.thread, $1.number) }.map { sample in
            let numbers = "\"run\":\(sample.run),\"thread\":\(sample.thread),\"number\":\(sample.number)"
            return Array("{\"id\":\"\(sample.id)\",\(numbers)}".utf8)
        }
    }

    /// The rows of a query's first series, by column.
    func query(_ text: String, isChange: Bool = false) async throws -> [[String: JSONValue]] {
        let parameters = "db=media&epoch=ns&q=" + PercentCoding.encoded(text)
        let address = try HTTPURL("\(url.origin)/query?\(parameters)")
        let request = HTTPRequest(isChange ? .post : .get, address, maxResponseBytes: 64 << 20)
        let json = try JSONValue(parsing: try await transport.send(request).body)
        guard case .array(let results)? = json["results"], case .array(let series)? = results.first?["series"],
            case .array(let columns)? = series.first?["columns"], case .array(let rows)? = series.first?["values"]
        else { return [] }
        return rows.compactMap { row in
            guard case .array(let values) = row else { return nil }
            return Dictionary(zip(columns.compactMap(\.string), values)) { first, _ in first }
        }
    }
}

import Foundation
import Instrument
import InstrumentBackends
import InstrumentJSON
import InstrumentSensors
import LoopbackServers
import Testing

extension CommandLineTests {
    @Test("The catalogue is printed as a table, as JSON, and as a valid property list")
    func privacy() throws {
        let table = try Run.playerMonitor("privacy")
        #expect(table.status == 0)
        let rows = table.output.split(separator: "\n")
        #expect(rows.first?.hasPrefix("NAME") == true)
        #expect(rows.contains { $0.hasPrefix("errorCode ") && $0.contains("OtherDiagnosticData") })
        let json = try JSONValue(parsing: Array(try Run.playerMonitor("privacy", "--format", "json").output.utf8))
        guard case .array(let fields)? = json["fields"] else { throw CancellationError() }
        #expect(fields.count == rows.count - 1)
        #expect(fields.first { $0["name"] == "userId" }?["linked"] == true)
        let manifest = try Run.playerMonitor("privacy", "--format", "apple-manifest").output
        let read = try PropertyListSerialization.propertyList(from: Data(manifest.utf8), format: nil)
        let members = try #require(read as? [String: Any])
        #expect(members["NSPrivacyTracking"] as? Bool == false)
        let types = try #require(members["NSPrivacyCollectedDataTypes"] as? [[String: Any]])
        let names = types.compactMap { $0["NSPrivacyCollectedDataType"] as? String }
        #expect(names.contains("NSPrivacyCollectedDataTypeProductInteraction"))
        #expect(types.allSatisfy { ($0["NSPrivacyCollectedDataTypePurposes"] as? [String])?.isEmpty == false })
        #expect(try Run.playerMonitor("privacy", "--format", "xml").status == 2)
    }

    @Test("The catalogue has the fields of all trackers: probe, app's life, app state, device")
    func wholeCatalogue() throws {
        let names = Set(try catalogueNames())
        let expected: [String] =
            ["errorCode", "joinedLate", "signal", "sleepTime", "location"] + AppState.fields.map(\.name)
            + DeviceProperties.fields.map(\.name)
        for name in expected { #expect(names.contains(name), "\(name)") }
        let rows = try Run.playerMonitor("privacy").output.split(separator: "\n")
        #expect(rows.contains { $0.hasPrefix("motion ") && $0.contains(" off ") })
        #expect(rows.contains { $0.hasPrefix("location ") && $0.contains("PreciseLocation") && $0.contains(" on ") })
        let manifest = try Run.playerMonitor("privacy", "--format", "apple-manifest").output
        #expect(manifest.contains("NSPrivacyCollectedDataTypePreciseLocation"))
        #expect(manifest.contains("NSPrivacyCollectedDataTypeDeviceID"))
    }

    @Test("All fields of a successful and two failed sessions are declared")
    func declaredSessions() throws {
        let server = try TestServer { _ in [.respond("404 Not Found")] }
        let names = Set(try catalogueNames())
        var sent: Set<String> = []
        for source in [Sample.path, "/nonexistent/film.mkv", server.url() + "film.mp4"] {
            let file = NSTemporaryDirectory() + "player-monitor-\(UUID().uuidString).ndjson"
            defer { try? FileManager.default.removeItem(atPath: file) }
            let run = try Run.playerMonitor("play", "--speed", "max", "--backend", "file:\(file)", source)
            #expect(!run.errors.contains("not declared"))
            let lines = (FileManager.default.contents(atPath: file) ?? Data()).split(separator: UInt8(ascii: "\n"))
            #expect(!lines.isEmpty)
            for line in lines {
                let attributes = try JSONLines.decode(Array(line)).sample.attributes
                sent.formUnion(attributes.map(\.name.spelling))
            }
        }
        #expect(sent.isSuperset(of: ["position", "errorCode", "errorPhase"]))
        for name in sent.sorted() where !name.hasPrefix("timeSince") { #expect(names.contains(name), "\(name)") }
    }

    private func catalogueNames() throws -> [String] {
        let json = try JSONValue(parsing: Array(try Run.playerMonitor("privacy", "--format", "json").output.utf8))
        guard case .array(let fields)? = json["fields"] else { throw CancellationError() }
        return fields.compactMap { $0["name"]?.string }
    }
}

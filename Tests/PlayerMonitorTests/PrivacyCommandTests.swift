import Foundation
import InstrumentJSON
import Testing

extension CommandLineTests {
    @Test("The catalogue is printed as a table, as JSON, and as a property list that Foundation reads")
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
}

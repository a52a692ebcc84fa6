import TestTraits
import Testing

@Suite("What URLSession cannot do")
struct URLSessionGapTests {
    @Test("The document of the transport names each gap")
    func table() throws {
        let rows = try ProjectFile("docs/decisions/transport.md").text().split(separator: "\n")
            .filter { $0.hasPrefix("| URLSession ") || $0.hasPrefix("| FoundationNetworking ") }
            .compactMap { $0.split(separator: "|").first.map { $0.trimmingPrefix(" ") } }
        let reasons = Set(rows.map { String($0.hasSuffix(" ") ? $0.dropLast() : $0) })
        #expect(reasons == Set(URLSessionGap.allCases.map(\.rawValue)))
    }
}

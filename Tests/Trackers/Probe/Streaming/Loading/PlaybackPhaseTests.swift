import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Phases of a stream's loading")
struct PlaybackPhaseTests {
    private typealias Phase = StreamPlayback.Phase

    @Test("The documentation of the phases has the table of the changes between them")
    func documentation() throws {
        let changes = Phase.Change.allCases
        let expected =
            [["phase"] + changes.map(\.rawValue)]
            + Phase.allCases.map { phase in
                [phase.rawValue] + changes.map { phase.after($0).rawValue }
            }
        let rows = try DocumentedTable("StreamPlayback+Phase.swift").rows.map { $0.map { $0.joined(separator: " ") } }
        #expect(rows.filter { !$0.contains("---") } == expected)
    }

    @Test("Subtitles play out once video and audio are loaded, and a seek loads everything again")
    func changes() {
        #expect(Phase.loading.after(.mediaLoaded) == .playingOut)
        #expect(Phase.allCases.allSatisfy { $0.after(.moved) == .loading && $0.after(.ended) == .over })
    }
}

/// The table in the documentation of a state machine of the probe's streaming: rows of cells of words.
struct DocumentedTable {
    let rows: [[[String]]]

    init(_ file: String) throws {
        let text = try ProjectFile("Sources/Trackers/Probe/Streaming/\(file)").text()
        rows = text.split(separator: "\n").filter { $0.contains("/// |") }.map { line in
            line.split(separator: "|").dropFirst().map { $0.split { " ,".contains($0) }.map(String.init) }
        }
    }
}

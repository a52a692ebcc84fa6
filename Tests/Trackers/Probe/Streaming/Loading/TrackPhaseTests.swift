import Instrument
import InstrumentManifests
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Phases of a track's loading")
struct TrackPhaseTests {
    private typealias Name = TrackLoading.Phase.Name

    /// A change of a track; `choose` is not made after the end.
    private enum Change: CaseIterable {
        case choose, awaitSegment, endWait, dropPlan, end, move, looksLater, wait, works
    }

    private func make(_ change: Change, to track: inout TrackLoading, _ id: Rendition.ID) {
        switch change {
        case .choose: track.choose(rung: 0, rendition: id)
        case .awaitSegment: track.awaitSegment(from: Loading.instant(1), interval: .seconds(1))
        case .endWait: track.endWait()
        case .dropPlan: track.dropPlan()
        case .end: track.end()
        case .move: track.move(to: 0)
        case .looksLater: track.looksLater(than: Loading.instant(1), interval: .seconds(1))
        case .wait: track.wait(untilBuffered: 1)
        case .works: track.works(until: Loading.instant(2))
        }
    }

    private func track(in name: Name, _ id: Rendition.ID) -> TrackLoading {
        var track = TrackLoading(at: 0)
        let changes: [Change] =
            switch name {
            case .looking: []
            case .planned: [.choose]
            case .awaiting: [.choose, .awaitSegment]
            case .ended: [.end]
            }
        for change in changes { make(change, to: &track, id) }
        return track
    }

    @Test("The changes of a track lead from each phase to the phases of the table, and to no other")
    func transitions() throws {
        let (_, id) = try Loading.manifest()
        for name in Name.allCases {
            var reached: Set<Name> = []
            for change in Change.allCases where name != .ended || change != .choose {
                var track = track(in: name, id)
                #expect(track.phase.name == name)
                make(change, to: &track, id)
                reached.insert(track.phase.name)
            }
            #expect(reached == TrackLoading.Phase.transitions[name])
        }
    }

    @Test("The documentation of the phases has the table by which they follow one another")
    func documentation() throws {
        let rows = try DocumentedTable("TrackLoading+Phase.swift").rows.compactMap { row in
            row.first?.first.flatMap(Name.init).map { ($0, Set(row.dropFirst().joined().compactMap(Name.init))) }
        }
        let documented = Dictionary(rows) { $0.union($1) }
        #expect(documented == TrackLoading.Phase.transitions)
    }

    @Test("A track that waits for a segment chooses again at its next look, and else keeps its plan")
    func waiting() throws {
        let (_, id) = try Loading.manifest()
        var track = track(in: .awaiting, id)
        let plan = try #require(track.plan)
        #expect(track.phase == .awaiting(plan, next: Loading.instant(2)))
        // An event before the next look does not change the rhythm.
        track.awaitSegment(from: Loading.instant(1.5), interval: .seconds(1))
        #expect(track.phase == .awaiting(plan, next: Loading.instant(2)))
        track.endWait()
        #expect(track.plan == nil && track.looks(at: Loading.instant(1), interval: .seconds(1)))
    }
}

import Instrument
import Testing

@testable import InstrumentAds

@Suite("Insertion of ads into content")
struct AdInsertionTests {
    private static let second: Int64 = 1_000_000_000
    private let start = MonotonicInstant(nanoseconds: 0)

    private func ad(_ id: String) throws -> ResolvedAd {
        let response = try VASTResponse(parsing: VAST.document(VAST.inLine(id: id)))
        return ResolvedAd(ad: try #require(response.ads.first), wrappers: [], version: response.version)
    }

    private func text(_ effects: [AdInsertion.Effect]) -> [String] {
        effects.map { effect in
            switch effect {
            case .pauseContent: "pause"
            case .beginBreak(let roll, let count): "begin \(roll.rawValue) \(count)"
            case .play(let ad): "play \(ad.ad.id ?? "")"
            case .stop(let code): "stop \(code)"
            case .endBreak: "end break"
            case .playContent(let position): "content \(Double(position) / 1e9)"
            case .end: "end"
            }
        }
    }

    @Test("Pre-, mid- and post-rolls play in their places, and content resumes where it was left")
    func course() throws {
        var insertion = AdInsertion([
            .init(.post, at: 0, ads: [try ad("post")]),
            .init(.mid, at: 4 * Self.second, ads: [try ad("m1"), try ad("m2")]),
            .init(.pre, at: 0, ads: [try ad("pre")]),
        ])
        #expect(text(insertion.handle(.begin, at: start)) == ["begin pre 1", "play pre"])
        #expect(insertion.handle(.adStarted, at: start).isEmpty)
        #expect(text(insertion.handle(.adEnded, at: start)) == ["end break", "content 0.0"])
        #expect(insertion.handle(.contentMoved(to: 3 * Self.second), at: start).isEmpty)
        #expect(
            text(insertion.handle(.contentMoved(to: 4 * Self.second), at: start)) == [
                "pause", "begin mid 2", "play m1",
            ]
        )
        #expect(insertion.isInBreak)
        #expect(insertion.handle(.contentEnded, at: start).isEmpty)
        #expect(text(insertion.handle(.adEnded, at: start)) == ["play m2"])
        #expect(text(insertion.handle(.adEnded, at: start)) == ["end break", "content 4.0"])
        #expect(insertion.handle(.contentMoved(to: 9 * Self.second), at: start).isEmpty)
        #expect(text(insertion.handle(.contentEnded, at: start)) == ["begin post 1", "play post"])
        #expect(text(insertion.handle(.adEnded, at: start)) == ["end break", "end"])
    }

    @Test("Without ads the content plays at once, and ends")
    func none() {
        var insertion = AdInsertion([.init(.pre, at: 0, ads: [])])
        #expect(text(insertion.handle(.begin, at: start)) == ["content 0.0"])
        #expect(insertion.handle(.begin, at: start).isEmpty)
        #expect(text(insertion.handle(.contentEnded, at: start)) == ["end"])
    }

    @Test("An ad that never starts is given up at its deadline; a stand-alone ad replaces it, else content resumes")
    func timeout() throws {
        var insertion = AdInsertion(
            [.init(.pre, at: 0, ads: [try ad("a")], fallbacks: [try ad("x")])],
            startTimeout: .seconds(5)
        )
        _ = insertion.handle(.begin, at: start)
        #expect(insertion.deadline == start.advanced(by: .seconds(5)))
        #expect(insertion.handle(.deadline, at: start.advanced(by: .seconds(4))).isEmpty)
        #expect(text(insertion.handle(.deadline, at: start.advanced(by: .seconds(5)))) == ["stop 304", "play x"])
        #expect(
            text(insertion.handle(.adFailed(.fileNotFound), at: start)) == ["stop 401", "end break", "content 0.0"]
        )
        #expect(insertion.deadline == nil)
    }

    @Test("A seek over several breaks plays the last one; a break plays once; a resume position wins")
    func seeks() throws {
        var insertion = AdInsertion([
            .init(.mid, at: 2 * Self.second, ads: [try ad("a")]),
            .init(.mid, at: 5 * Self.second, ads: [try ad("b")], resumePosition: 7 * Self.second),
        ])
        _ = insertion.handle(.begin, at: start)
        #expect(
            text(insertion.handle(.contentSought(to: 6 * Self.second), at: start)) == [
                "pause", "begin mid 1", "play b",
            ]
        )
        #expect(text(insertion.handle(.adEnded, at: start)) == ["end break", "content 7.0"])
        #expect(insertion.handle(.contentSought(to: 0), at: start).isEmpty)
        #expect(insertion.handle(.contentMoved(to: 9 * Self.second), at: start).isEmpty)
    }

    @Test("The cursor reports each signal once as the playhead reaches it, and again after a seek back")
    func cursor() {
        let signals =
            [3, 1, 2].map { second -> AdSignal in
                var signal = AdSignal(.cueOut, .breakBegin)
                signal.position = Int64(second) * Self.second
                return signal
            } + [AdSignal(.cueIn, .breakEnd)]
        var cursor = AdSignalCursor(signals)
        #expect(cursor.advance(to: 0).isEmpty)
        #expect(cursor.advance(to: 2 * Self.second).map(\.position) == [1, 2].map { $0 * Self.second })
        #expect(cursor.advance(to: 2 * Self.second).isEmpty)
        cursor.seek(to: 2 * Self.second)
        #expect(cursor.advance(to: 9 * Self.second).map(\.position) == [2, 3].map { $0 * Self.second })
    }
}

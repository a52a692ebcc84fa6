import Instrument
import InstrumentCMCD
import InstrumentTestKit
import Testing

@testable import InstrumentCMCDBackend

@Suite("Playbacks of contents for the reports of their ads")
struct ContentSessionsTests {
    private func event(_ action: Action, of sender: String, _ attributes: Attributes) -> Sample {
        let sample = Samples.event(action, attributes)
        guard case .event(var event) = sample else { return sample }
        event[.senderId] = sender
        return .event(event)
    }

    /// The session that an ad's report has in the end.
    private func session(
        ofAdIn sender: String,
        _ contents: inout ContentSessions,
        from own: String = "ad"
    ) -> CMCDValue? {
        var report: CMCDReport? = CMCDReport()
        report?[.sessionID] = .string(own)
        contents.take(event(.adBegin, of: "ad", ["contentSenderId": .string(sender)]), &report)
        return report?[.sessionID]
    }

    private func begin(_ sender: String, _ playback: String, in contents: inout ContentSessions) {
        var report: CMCDReport? = CMCDReport()
        contents.take(event(.streamLoad, of: sender, ["playbackId": .string(playback)]), &report)
    }

    @Test("Of ten thousand playbacks and more, those that were used last are kept")
    func bound() {
        var contents = ContentSessions()
        begin("first", "f", in: &contents)
        for number in 0..<9_999 { begin("c\(number)", "p\(number)", in: &contents) }
        #expect(session(ofAdIn: "c0", &contents) == .string("p0"))
        begin("first", "f", in: &contents)
        begin("last", "l", in: &contents)
        #expect(session(ofAdIn: "first", &contents) == .string("f"))
        #expect(session(ofAdIn: "last", &contents) == .string("l"))
        #expect(session(ofAdIn: "c9998", &contents) == .string("p9998"))
        #expect(session(ofAdIn: "c0", &contents) == .string("ad"))
    }

    @Test("A session and a content that a mapping gives an ad are kept")
    func ownSession() {
        var contents = ContentSessions()
        begin("c", "p", in: &contents)
        #expect(session(ofAdIn: "c", &contents, from: "mine") == .string("mine"))
        var report: CMCDReport? = CMCDReport()
        report?[.contentID] = .string("own")
        contents.take(event(.adBegin, of: "ad", ["contentSenderId": "c"]), &report)
        #expect(report?[.contentID] == .string("own"))
    }
}

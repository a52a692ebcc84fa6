import InstrumentJSON
import InstrumentTestKit
import Testing

@testable import InstrumentMPV

@Suite("mpv's protocol")
struct ProtocolTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("The parser distinguishes events and replies; an unknown message gives nothing")
    func messages() throws {
        func read(_ text: String) throws -> MPVMessage { try MPVMessage(line: bytes(text)) }
        #expect(try read(#"{"event":"start-file","playlist_entry_id":1}"#) == .event(.startFile))
        #expect(try read(#"{"event":"end-file","reason":"eof"}"#) == .event(.endFile(.endOfFile)))
        #expect(
            try read(#"{"event":"end-file","reason":"error","file_error":"loading failed"}"#)
                == .event(.endFile(.error("loading failed")))
        )
        #expect(try read(#"{"event":"end-file","reason":"redirect"}"#) == .event(.endFile(.redirect)))
        #expect(try read(#"{"event":"end-file","reason":"of tomorrow"}"#) == .event(.endFile(.stop)))
        #expect(
            try read(#"{"event":"property-change","id":3,"name":"pause","data":false}"#)
                == .event(.property(.isPaused, false))
        )
        #expect(
            try read(#"{"event":"property-change","id":8,"name":"path"}"#) == .event(.property(.path, nil))
        )
        #expect(try read(#"{"event":"property-change","id":99,"name":"of-tomorrow","data":1}"#) == .event(.other))
        #expect(try read(#"{"event":"of-tomorrow"}"#) == .event(.other))
        for (text, event) in [
            ("stream 0, offset 0x1c3a: partial file", MPVEvent.mediaIncomplete),
            ("Element end 1 beyond end of file 2 - incomplete file?", .mediaIncomplete),
            ("http: Stream ends prematurely at 946495, should be 2840181", .mediaIncomplete), ("slow", .other),
        ] {
            #expect(try read(#"{"event":"log-message","level":"warn","text":""# + text + #""}"#) == .event(event))
        }
        #expect(try read(#"{"data":1.5,"request_id":7,"error":"success"}"#) == .reply(7, 1.5))
        #expect(try read(#"{"data":null,"request_id":7,"error":"success"}"#) == .reply(7, nil))
        #expect(try read(#"{"data":1,"request_id":7,"error":"property unavailable"}"#) == .reply(7, nil))
    }

    @Test("A file name with invalid UTF-8 is read with replacement characters")
    func invalidUTF8() throws {
        let line = bytes(#"{"event":"property-change","name":"path","data":"/film-"#) + [0xE4] + bytes(#".mkv"}"#)
        #expect(try MPVMessage(line: line) == .event(.property(.path, "/film-\u{FFFD}.mkv")))
    }

    @Test("An invalid message is refused, and the reason does not repeat it")
    func refused() {
        for text in ["", "{", "[]", "1", "null", "{}", #"{"event":1}"#, #"{"request_id":"1"}"#, "secret", "\u{FFFD}"] {
            #expect {
                _ = try MPVMessage(line: bytes(text))
            } throws: { error in
                !"\(error)".contains("secret")
            }
        }
    }

    @Test("Reading a random line gives a message or an error", arguments: 0..<200)
    func fuzz(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var line = bytes(#"{"event":"property-change","id":13,"name":"video-dec-params","data":{"w":320,"h":180}}"#)
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let index = Int.random(in: 0..<line.count, using: &generator)
            switch UInt8.random(in: 0...2, using: &generator) {
            case 0: line[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: line.insert(UInt8.random(in: 0...255, using: &generator), at: index)
            default: line.removeLast(min(index, line.count - 1))
            }
        }
        _ = try? MPVMessage(line: line)
    }

    @Test("A request is complete after all of its replies, in any order; late and foreign replies have no effect")
    func requests() {
        var requests = MPVRequests()
        let lines = String(decoding: requests.ask(.init(number: 1, properties: [.path, .volume])), as: UTF8.self)
        #expect(
            lines == """
                {"command":["get_property","path"],"request_id":1}
                {"command":["get_property","volume"],"request_id":2}

                """
        )
        #expect(requests.take(9, "x") == nil)
        #expect(requests.take(2, 50) == nil)
        #expect(requests.take(2, 51) == nil)
        #expect(requests.take(1, nil) == .init(question: 1, values: [.volume: 50], isHeard: true))
        #expect(requests.expire(1) == nil)
        _ = requests.ask(.init(number: 2, properties: [.path]))
        #expect(requests.expire(2) == .init(question: 2, values: [:], isHeard: false))
        #expect(requests.take(3, "late") == nil)
    }
}

import Testing

@testable import InstrumentText

@Suite("The general text of a cause")
struct CauseTextTests {
    @Test(
        "Texts that differ in numbers, identifiers and addresses alone become one",
        arguments: [
            (
                [
                    "the live playlist has not changed for 16312 ms (limit 9000 ms); check whether the stream is on air",
                    "the live playlist has not changed for 15950 ms (limit 12000 ms); check whether the stream is on air",
                ],
                "the live playlist has not changed for … ms (limit … ms); check whether the stream is on air"
            ),
            (
                ["cannot fetch https://a.example/1.ts?x=1: timed out", "cannot fetch http://[::1]:80/2.ts: timed out"],
                "cannot fetch …: timed out"
            ),
            (
                ["cdn-a.example:443 refused the connection", "127.0.0.1:8080 refused the connection"],
                "… refused the connection"
            ),
            (["no such file: media-12.ts, init.mp4", "no such file: film.mkv"], "no such file: …"),
            (
                [
                    "session 5EF683BE-0B30-422D-A4E6-690F3D4A7C71 is gone", "session 7f3a9c is gone",
                    "session user@host is gone", "session \(String(repeating: "k", count: 64)) is gone",
                ],
                "session … is gone"
            ),
            (["bytes 1, 2, 3 are missing", "bytes 7 are missing", "bytes 1, 2 are missing"], "bytes … are missing"),
            (["the cue at 00:01:02.500 is late", "the cue at +3.5 is late"], "the cue at … is late"),
        ] as [([String], String)]
    )
    func one(texts: [String], general: String) {
        for text in texts { #expect(CauseText.general(text) == general) }
        #expect(CauseText.general(general) == general)
    }

    @Test(
        "What is the cause itself stays",
        arguments: [
            "the server answered with status 404, expected 2xx; check the address", "HTTP 503", "HTTP/1.1 500 Error",
            "the sound is MPEG-2 or MP3 in MP4, e.g. of an encoder; use H.264 and/or AES-128", "", "no description",
            "there is no such file; check the path", "TLS: the certificate is not trusted.",
        ]
    )
    func kept(text: String) { #expect(CauseText.general(text) == text) }

    @Test("Different causes stay different")
    func different() {
        let texts = ["HTTP 404 from a.example", "HTTP 503 from a.example", "no answer from a.example"]
        #expect(
            texts.map(CauseText.general) == ["HTTP 404 from …", "HTTP 503 from …", "no answer from …"]
        )
    }

    @Test("Any text has a general form, which is its own general form")
    func anything() {
        let pieces = ["…", ",", "(", "1", "a.b", " ", "\n", "\u{202E}", "é", "😀", "=", "/", "HTTP", "404", "'", "x9"]
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    let general = CauseText.general(first + second + third)
                    #expect(CauseText.general(general) == general, "\(first)\(second)\(third)")
                }
            }
        }
    }
}

import Instrument
import InstrumentQuality

@testable import InstrumentReport

/// Events of made-up sessions.
enum SampleSessions {
    /// A session with one stall, a change of quality, requests, and the given texts.
    static func events(
        _ number: Int,
        title: String = "Film",
        source: String = "https://example.org/film.m3u8",
        startTime: Int = 800,
        stall: Int = 500,
        failure: (code: String, description: String)? = nil,
        extraStalls: Int = 0,
        origin: Attributes = [:]
    ) -> [Event] {
        var events: [Event] = []
        var (now, requests, isPlaying) = (number * 1000, 0, false)
        func add(_ action: Action, after delay: Int, _ attributes: Attributes = [:]) {
            now += delay
            requests += 1
            var all: Attributes = [
                "senderId": .string("5EF683BE-0B30-422D-A4E6-690F3D4A7C71-\(number)"),
                "playbackId": .string("playback \(number)"),
                "title": .string(title), "source": .string(source), "inPlaybackBlock": .bool(isPlaying),
                "countRequests": .int(requests), "countFailedRequests": .int(requests / 5),
                "liveLatency": .int(3000 + now % 700),
                "bufferLevel": .int(now % 9000), "throughput": .int(1_000_000 + now),
            ]
            all.merge(attributes)
            all.merge(origin)
            let time = Timestamp(
                instant: MonotonicInstant(nanoseconds: Int64(now) * 1_000_000),
                wallTime: WallTime(milliseconds: 1_795_353_396_000 + Int64(now))
            )
            events.append(Event(action, tracker: TrackerID(number), time: time, attributes: all))
        }
        let error: Attributes = [
            "isFatal": true, "errorCode": .string(failure?.code ?? ""), "errorStatus": 404,
            "errorDescription": .string(failure?.description ?? ""),
        ]
        add(.mediaRequest, after: 0)
        add(.streamLoad, after: 20)
        if failure != nil, number.isMultiple(of: 2) {
            add(.error, after: 100, error)
            return events
        }
        isPlaying = true
        add(
            .start,
            after: startTime - 20,
            [
                "timeSinceMediaRequest": .int(startTime), "bitrate": 400_000, "resolutionHeight": 180,
                "resolutionWidth": 320,
            ]
        )
        for _ in 0...extraStalls {
            add(.bufferBegin, after: 4000, ["deltaPlayTime": 4000])
            add(.bufferFinish, after: stall, ["timeSinceBufferBegin": .int(stall)])
            add(.qualityChangeUp, after: 2000, ["bitrate": .int(2_500_000 + now % 1000), "deltaPlayTime": 2000])
        }
        if failure != nil {
            add(.error, after: 50, error)
        } else {
            add(.end, after: 4000, ["deltaPlayTime": 4000])
        }
        return events
    }

    /// A set of sessions.
    static func set(_ sessions: [[Event]], inputs: [String] = ["samples.ndjson"]) -> SessionSet {
        var builder = ReportBuilder(inputs: inputs)
        for event in sessions.joined() { builder.observe(event) }
        return builder.finish()
    }

    /// Texts that try to leave their place in a page, a script, a table or a terminal.
    static let hostile = [
        "</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "<!--",
        "]]>",
        "</style><svg onload=alert(1)>", "&lt;b&gt;", "\u{202E}gnp.exe", "\u{1B}[31mred\u{1B}]0;title\u{7}",
        "\u{2028}\u{2029}",
        "=HYPERLINK(\"http://x\",\"y\")", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "a\r\nb,\"c\"",
        "\u{0}\u{FEFF}",
        "`${alert(1)}`", "שלום <b>", "{{constructor}}", "javascript:alert(1)", "\u{FF1D}1",
    ]
}

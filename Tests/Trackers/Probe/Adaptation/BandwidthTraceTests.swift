import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentProbe

@Suite("Bandwidth traces")
struct BandwidthTraceTests {
    private func period(_ milliseconds: Int, _ bitrate: Int, latency: Int = 0) -> BandwidthTrace.Period {
        BandwidthTrace.Period(duration: .milliseconds(milliseconds), bitrate: bitrate, latency: .milliseconds(latency))
    }

    @Test("Downloads end at the computed nanosecond, across outages and the end of the trace")
    func transfers() throws {
        let trace = try BandwidthTrace(
            name: "",
            periods: [period(1000, 8000, latency: 100), period(500, 0), period(1000, 3000)]
        )
        #expect(trace.duration == .milliseconds(2500) && trace.averageBitrate == 4400)
        func end(_ bytes: Int64, at time: Int64) -> Int64 {
            Transfer(bytes, requested: time * 1_000_000, over: trace).time(ofShare: 1, of: 1)
        }
        // 0.1 s, then one byte per millisecond.
        #expect(end(900, at: 0) == 1_000_000_000)
        // One more byte arrives after the outage: 8 bits at 3000 bit/s, rounded up.
        #expect(end(901, at: 0) == 1_502_666_667)
        #expect(end(1, at: 1200) == 1_502_666_667)
        // From 2 s on: 187.5 bytes until the end, then 12.5 ms.
        #expect(end(200, at: 2000) == 2_512_500_000)
        // A hundred times the whole.
        #expect(end(137_500, at: 2500) == 2_500_000_000 * 101 + 33_333_334 * 0 + 100_000_000 * 1)
        let transfer = Transfer(900, requested: 0, over: trace)
        #expect(transfer.bytes(until: 50_000_000) == 0 && transfer.bytes(until: 600_000_000) == 500)
        #expect(transfer.bytes(until: 999_999_999) == 899 && transfer.bytes(until: .max) == 900)
    }

    @Test("Work and time are each other's inverse", arguments: 0..<50)
    func inverse(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var periods = (0..<Int.random(in: 1...9, using: &random)).map { _ in
            BandwidthTrace.Period(
                duration: .nanoseconds(Int64.random(in: 0...5_000_000_000, using: &random)),
                bitrate: Bool.random(using: &random) ? 0 : Int.random(in: 1...50_000_000, using: &random)
            )
        }
        periods.append(BandwidthTrace.Period(duration: .nanoseconds(7), bitrate: 3))
        let trace = try BandwidthTrace(name: "", periods: periods)
        for _ in 0..<100 {
            let work = Int128(Int64.random(in: 1...Int64.max, using: &random))
            let time = trace.time(ofWork: work)
            // Beyond the range, the result saturates.
            if time == .max { continue }
            #expect(trace.work(until: time) >= work && trace.work(until: time - 1) < work)
        }
    }

    @Test("Invalid values are rejected with a reason")
    func refused() {
        for periods in [
            [], [period(1000, 0)], [period(0, 5)], [period(-1, 5)], [period(1, -5)], [period(1, 5, latency: -1)],
        ] {
            #expect(throws: BandwidthTraceError.self) { try BandwidthTrace(name: "", periods: periods) }
        }
        let ages = BandwidthTrace.Period(duration: .seconds(9_000_000_000), bitrate: .max)
        #expect(throws: BandwidthTraceError.self) { try BandwidthTrace(name: "", periods: [ages, ages]) }
        #expect(throws: Never.self) { try BandwidthTrace(name: "", periods: [ages]) }
    }

    @Test("A Mahimahi trace carries 1500 bytes per line in its millisecond")
    func mahimahi() throws {
        let trace = try BandwidthTrace(name: "m", reading: "1\n1\n2\n2\n5\n", latency: .milliseconds(9))
        #expect(
            trace.periods == [
                period(2, 24_000_000, latency: 9), period(2, 0, latency: 9), period(1, 12_000_000, latency: 9),
            ]
        )
        // Three packets each 3 ms.
        #expect(try BandwidthTrace(name: "m", reading: "0\n\n# c\n 3 \n3\n").averageBitrate == 12_000_000)
    }

    @Test("A bandwidth of Pensieve's cooked traces applies until its time")
    func cooked() throws {
        let trace = try BandwidthTrace(name: "c", reading: "0.5 9\n1.5\t2.5\n2.0 0\n3 1e-3\n")
        #expect(trace.periods == [period(1000, 2_500_000), period(500, 0), period(1000, 1000)])
    }

    @Test("Sabre's traces are read with bandwidth and latency")
    func sabre() throws {
        let text =
            #"[{"duration_ms":1500,"bandwidth_kbps":2500.5,"latency_ms":80},{"duration_ms":2,"bandwidth_kbps":0}]"#
        let trace = try BandwidthTrace(name: "s", reading: text)
        #expect(trace.periods == [period(1500, 2_500_500, latency: 80), period(2, 0)])
    }

    @Test(
        "An invalid trace is rejected with the number of the line",
        arguments: [
            "", "\n#\n", "x", "5\n4", "-1", "1 2 3", "1 x", "1 nan\n2 nan", "3 1\n2 1", "1 1", "[", "[1]", "{}", "[]",
            #"[{"duration_ms":-1,"bandwidth_kbps":1}]"#, #"[{"duration_ms":1e400,"bandwidth_kbps":1}]"#,
            "99999999999999999999",
            "0 1\n1 1e300", "0 1\n1e300 1", "1\n\u{0}\n",
        ]
    )
    func nonsense(text: String) {
        #expect(throws: BandwidthTraceError.self) { try BandwidthTrace(name: "", reading: text) }
    }

    @Test("Readers withstand mutated files", arguments: BandwidthTraceFormat.allCases)
    func fuzz(format: BandwidthTraceFormat) {
        let seeds: [BandwidthTraceFormat: String] = [
            .mahimahi: "1\n1\n2\n9\n", .cooked: "0 1.5\n1 2\n2.5 0.1\n",
            .sabre: #"[{"duration_ms":1500,"bandwidth_kbps":2500,"latency_ms":80}]"#,
        ]
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            var bytes = Array((seeds[format] ?? "").utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.insert(UInt8.random(in: 45...57, using: &random), at: index)
                default: if bytes.count > 1 { bytes.remove(at: index) }
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            for format in [format, nil] {
                guard let trace = try? BandwidthTrace(name: "", reading: text, format: format) else { continue }
                #expect(trace.duration > .zero && trace.time(ofWork: 1 << 60) > 0)
            }
        }
    }

    @Test("The generated traces are the same in every run")
    func generated() {
        let traces = BandwidthTrace.generated
        #expect(traces.map(\.name) == ["steady", "step-down", "step-up", "sawtooth", "3g", "lte", "wifi"])
        #expect(
            traces.map(\.averageBitrate) == [
                3_000_000, 1_640_000, 4_160_000, 2_750_000, 1_341_666, 12_543_503, 7_341_269,
            ]
        )
    }

    @Test("Sabre's media files: sizes in bits become bytes, and invalid files give nil")
    func media() {
        let text =
            #"{"segment_duration_ms":3000,"bitrates_kbps":[230,331],"segment_sizes_bits":[[886360,1180512],[9,17]]}"#
        let media = SegmentedMedia(readingSabre: text)
        #expect(media?.segments.map(\.sizes) == [[110_795, 147_564], [2, 3]])
        #expect(media?.duration == .seconds(6))
        for text in [
            "", "{}", "[]", #"{"segment_duration_ms":3000,"bitrates_kbps":[],"segment_sizes_bits":[[]]}"#,
            #"{"segment_duration_ms":3000,"bitrates_kbps":[2,1],"segment_sizes_bits":[[1,2]]}"#,
            #"{"segment_duration_ms":3000,"bitrates_kbps":[1,2],"segment_sizes_bits":[[1]]}"#,
            #"{"segment_duration_ms":"x","bitrates_kbps":[1,2],"segment_sizes_bits":[[1,2]]}"#,
        ] {
            #expect(SegmentedMedia(readingSabre: text) == nil)
        }
    }
}

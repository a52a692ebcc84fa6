import Instrument
import InstrumentJSON
import InstrumentMonitor
import InstrumentWatch
import Testing

@testable import InstrumentMonitorRuntime

@Suite("The history that survives a restart")
struct HistoryTests {
    private func restored(_ bytes: [UInt8], _ streams: WatchConfiguration, at milliseconds: Int64) -> (Drive, Int?) {
        var drive = Drive(streams, at: milliseconds)
        let damages = drive.model.restoreHistory(bytes, at: drive.now.wallTime)?.damages
        return (drive, damages)
    }

    private func chart(_ drive: Drive, _ name: String = "a") throws -> StreamChart {
        try #require(drive.model.stream(named: name)).history.chart
    }

    @Test("A day in minutes, quarters of an hour and events are the same after a restart")
    func whole() throws {
        let streams = configuration([try stream("a"), try stream("b")])
        var first = Drive(streams, ["b": .fails(after: .seconds(1), code: "x")])
        for _ in 0..<300 {
            first.emit(.ping, "a", ["liveLatency": 4_000, "bitrate": 70_000_000, "bufferLevel": 9_000])
            first.run(for: .seconds(60))
        }
        let bytes = first.model.savedHistory(at: first.now.wallTime).bytes
        var (second, damages) = restored(bytes, streams, at: 18_100_000)
        #expect(damages == 0)
        for name in ["a", "b"] {
            let (old, new) = (try chart(first, name), try chart(second, name))
            #expect(old.minutes().count >= 300)
            #expect(old.minutes().dropLast() == new.minutes().dropLast())
            #expect(old.quarters().dropLast() == new.quarters().dropLast())
            #expect(old.quarters().last?.minute == new.quarters().last?.minute)
            let logs = [first, second].map { $0.model.stream(named: name)?.log.latest.suffix(50).map(\.text) }
            #expect(logs[0] == logs[1])
        }
        let point = try #require(try chart(second).minutes().dropLast().last)
        #expect(point.playing == 60_000)
        // Steps of 64 kbit/s above 32 Mbit/s.
        #expect((69_936...70_000).contains(point.bitrate))
        #expect((point.latency, point.buffer) == (4_000, 9_000))
        second.run(for: .seconds(900))
        #expect(try chart(second).quarters().count == 22)
    }

    @Test("What was appended each minute before a crash is there, and the quarter of the crash continues")
    func appended() throws {
        let streams = configuration([try stream("a")])
        var first = Drive(streams)
        first.run(for: .seconds(30))
        var (bytes, mark) = first.model.savedHistory(at: first.now.wallTime)
        for _ in 0..<20 {
            first.run(for: .seconds(60))
            let news = mark.news(of: first.model, at: first.now.wallTime)
            bytes += news.bytes
            mark = news.mark
        }
        #expect(mark.news(of: first.model, at: first.now.wallTime).bytes.isEmpty)
        var (second, damages) = restored(bytes, streams, at: 1_260_000)
        #expect(damages == 0)
        #expect(try chart(second).minutes().map(\.playing) == [52_500] + Array(repeating: 60_000, count: 19))
        #expect(try chart(second).quarters().map(\.minute) == chart(first).quarters().map(\.minute))
        #expect(try chart(second).quarters().map(\.playing) == [892_500, 300_000])
        second.run(for: .seconds(60))
        #expect(try chart(second).quarters().count == 2)
        let texts = second.model.stream(named: "a")?.log.latest.map(\.text) ?? []
        #expect(texts.count { $0.hasPrefix("first picture") } == 2)
    }

    @Test("A damaged place and a file that was cut lose what was there, and nothing else")
    func damaged() throws {
        let streams = configuration(try (0..<5).map { try stream("s\($0)") })
        var first = Drive(streams)
        first.run(for: .seconds(600))
        let bytes = first.model.savedHistory(at: first.now.wallTime).bytes
        func lost(_ bytes: [UInt8]) throws -> (damages: Int?, streams: Int) {
            let (drive, damages) = restored(bytes, streams, at: 700_000)
            return (damages, try (0..<5).count { try chart(drive, "s\($0)").minutes().isEmpty })
        }
        #expect(try lost(bytes) == (0, 0))
        for position in stride(from: 8, to: bytes.count, by: 37) {
            var damaged = bytes
            damaged[position] ^= 0x41
            let found = try lost(damaged)
            #expect(found.damages == 1 && found.streams == 1, "byte \(position): \(found)")
        }
        for count in stride(from: 9, to: bytes.count, by: 61) {
            let found = try lost(Array(bytes.prefix(count)))
            #expect(found.damages ?? 9 <= 1 && found.streams >= 1, "\(count) bytes: \(found)")
        }
        for text in ["", "IMHIST3\n", "{}", "[]", "{\"version\":1,\"streams\":[]}"] {
            #expect(try lost(Array(text.utf8)).damages == nil, "\(text)")
        }
    }

    @Test("A file of the first version is read, and odd points in it are left out")
    func firstVersion() throws {
        let streams = configuration([try stream("a"), try stream("b")])
        let minute = Drive.time(0).wallTime.milliseconds / 60_000
        let old =
            "{\"version\":1,\"streams\":{\"a\":[[\(minute - 30),9000,1000,2,800,500,4000,6000,1],[\(minute - 15),0,0,0,0,0,0,0,0],"
            + "1,[],[99999999999,1,1,1,1,1,1,1,1],[\(minute + 90),1,1,1,1,1,1,1,1]],\"b\":3,\"c\":[]}}"
        let (drive, damages) = restored(Array(old.utf8), streams, at: 0)
        #expect(damages == 0)
        let quarters = try chart(drive).quarters()
        #expect(quarters.map { Int64($0.minute) - minute } == [-30, -15])
        #expect(quarters.first?.playing == 9_000 && quarters.first?.errors == 2 && quarters.first?.wasDown == true)
        #expect(try chart(drive, "b").quarters().isEmpty)
    }

    @Test("The history keeps a day and two weeks, also of a stream that is seldom played, in a bounded file")
    func bounded() throws {
        var options = MonitorOptions()
        options.evaluationInterval = .seconds(30)
        let hourly = WatchedStream.Schedule.sampled(every: .seconds(3_600), for: .seconds(30))
        let streams = configuration([try stream("a"), try stream("rare", hourly)])
        var drive = Drive(streams, options: options)
        drive.run(for: .seconds(15.5 * 86_400))
        #expect(try chart(drive).minutes().count == 1_440)
        #expect(try chart(drive).quarters().count == 1_344)
        let rare = try chart(drive, "rare")
        #expect((24...50).contains(rare.minutes().count))
        #expect((330...700).contains(rare.quarters().count))
        let now = Int32(drive.now.wallTime.milliseconds / 60_000)
        #expect(rare.minutes().allSatisfy { now - $0.minute <= 1_500 })
        // A thousand streams: 150 MB.
        #expect(drive.model.savedHistory(at: drive.now.wallTime).bytes.count < 150_000)
        let minutes = try chart(drive).minutes().map(\.minute)
        #expect(minutes == (0..<1_440).map { now - 1_439 + $0 })
    }

    @Test("A store that fails gets the whole history once it works again, and news otherwise")
    func keeper() throws {
        let store = FailingStore()
        let keeper = HistoryKeeper(store)
        var drive = Drive(configuration([try stream("a")]))
        func minute() {
            drive.run(for: .seconds(60))
            keeper.keep(drive.model, isLast: false, at: drive.now.wallTime)
        }
        for fails in [false, false, false, true, true, false, false] {
            store.fails.withLock { $0 = fails }
            minute()
        }
        #expect(
            store.calls.withLock { $0 } == ["replace", "append", "append", "append", "replace", "replace", "append"]
        )
        let (second, damages) = restored(store.bytes.withLock { $0 }, drive.model.configuration, at: 500_000)
        #expect(damages == 0)
        #expect(try chart(second).minutes().count == 7)
    }

    @Test("A stream that was down is shown as down at once after a restart, with its first cause, until it plays")
    func down() throws {
        let streams = configuration([try stream("a"), try stream("b")], [try alert("down", "up == 0")])
        var first = Drive(streams)
        first.run(for: .seconds(20))
        for _ in 0..<3 {
            first.request("v/live.m3u8", 503)
            first.run(for: .seconds(2))
        }
        first.behaviours["a"] = .fails(after: .seconds(1), code: "httpStatus")
        first.send(.ended(.failed(code: "stalePlaylist", message: "m")), to: "a")
        first.run(for: .seconds(30))
        let cause = try #require(first.cause)
        #expect(cause.title == "503 Service Unavailable")
        let saved = try #require(SavedMonitor(first.saved.bytes))
        // An orderly stop keeps the same.
        let since = first.state?.stateSince
        first.stop()
        first.run(for: .seconds(1))
        #expect(first.model.isIdle)
        let stopped = try #require(SavedMonitor(first.saved.bytes))
        #expect(stopped.down == saved.down)
        #expect(stopped.down.count == 1)
        var second = Drive(streams, ["a": .staysBlank], at: 400_000, restoring: saved)
        #expect(second.state?.isUp == false)
        #expect(second.state?.word == .down)
        #expect(second.state?.stateSince == since)
        #expect(second.cause == cause)
        #expect(second.model.alerts.map(\.isFiring) == [true])
        #expect(second.model.stream(named: "b")?.isUp == nil)
        second.run(for: .seconds(8))
        #expect(second.cause == cause)
        #expect(second.model.alerts.map(\.isFiring) == [true])
        second.emit(.start, "a")
        #expect(second.cause == nil)
        #expect(second.state?.word == .playing)
    }

    @Test("What survives a restart is saved soon after it changed", .timeLimit(.minutes(30)))
    func savedSoon() async throws {
        let clock = VirtualClock()
        let saved = Lock<[[UInt8]]>([])
        let source = ScriptedSource()
        let monitor = Monitor(
            MonitorModel(configuration([try stream("a")]), at: clock.timestamp),
            source: source,
            sink: NoSink(),
            clock: clock,
            save: { bytes in saved.withLock { $0.append(bytes) } }
        )
        monitor.start()
        await monitor.settle()
        for _ in 0..<10 {
            clock.advance(by: .seconds(1))
            await monitor.settle()
        }
        let before = saved.withLock { $0.count }
        let error = Event(.error, tracker: TrackerID(0), time: clock.timestamp, attributes: ["isFatal": true])
        source.emit(.event(error), to: "a")
        for _ in 0..<7 {
            clock.advance(by: .seconds(1))
            await monitor.settle()
        }
        #expect(saved.withLock { $0.count } == before + 1)
        let last = try #require(saved.withLock { $0.last })
        #expect(String(decoding: last, as: UTF8.self).contains("\"down\":[{"))
        await monitor.stop(timeout: .seconds(60))
    }
}

private final class FailingStore: HistoryStore {
    let fails = Lock(false)
    let calls = Lock<[String]>([])
    let bytes = Lock<[UInt8]>([])

    func replace(_ next: () -> [UInt8]?) -> Bool {
        calls.withLock { $0.append("replace") }
        if fails.withLock({ $0 }) { return false }
        bytes.withLock { $0 = [] }
        while let piece = next() { bytes.withLock { $0 += piece } }
        return true
    }

    func append(_ bytes: [UInt8]) -> Bool {
        calls.withLock { $0.append("append") }
        if fails.withLock({ $0 }) { return false }
        self.bytes.withLock { $0 += bytes }
        return true
    }
}

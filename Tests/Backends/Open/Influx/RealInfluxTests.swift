import Foundation
import Instrument
import InstrumentInflux
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import TestTraits
import Testing

@Suite(
    "InfluxDB backend with a real InfluxDB",
    .ownThread,
    .serialized,
    .enabled(
        if: RealInflux.isInstalled,
        "SKIPPED: there is no InfluxDB to test with; scripts/install-servers.sh installs one"
    )
)
struct RealInfluxTests {
    private func backend(_ influx: RealInflux) throws -> InfluxBackend {
        try InfluxBackend(influx.endpoint(), transport: SystemTransport())
    }

    @Test("Every awkward value is read back unchanged, or was counted as altered")
    func awkwardValues() async throws {
        let influx = try await RealInflux()
        let backend = try backend(influx)
        // One attribute for each type: a field of InfluxDB has one type.
        let texts = AwkwardSamples.values.compactMap { if case .string(let text) = $0.value { text } else { nil } }
        let numbers = AwkwardSamples.values.compactMap { if case .double(let value) = $0.value { value } else { nil } }
        let integers = AwkwardSamples.values.compactMap { if case .int(let value) = $0.value { value } else { nil } }
        let long = texts.filter { $0.utf8.count > 65_535 }
        let samples =
            texts.map { Samples.event(.ping, ["text": .string($0)]) }
            + numbers.map { Samples.event(.ping, ["number": .double($0)]) }
            + integers.map { Samples.event(.ping, ["integer": .int($0)]) }
        for start in stride(from: 0, to: samples.count, by: 50) {
            let records = (start..<min(start + 50, samples.count)).map { Samples.record(samples[$0], UInt64($0)) }
            #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        }
        #expect(backend.alterations == [.shortenedTexts: long.count])
        let rows = try await influx.query("SELECT * FROM OAVT_EVENTS")
        #expect(rows.count == samples.count)
        let byID = Dictionary(rows.map { ($0["sampleId"]?.string ?? "", $0) }) { first, _ in first }
        for (number, sample) in samples.enumerated() {
            let row = try #require(byID[Samples.id(UInt64(number)).description])
            let value = sample.attributes[0]
            switch value.value {
            case .string(let text):
                let read = row["text"]?.string
                #expect(read.map { Array($0.utf8) } == Array(text.utf8.prefix(65_535)) || isCut(read, text))
            case .double(let number): #expect(row["number"]?.number == number)
            case .int(let number): #expect(row["integer"]?.int == number)
            default: Issue.record("\(value)")
            }
        }
    }

    private func isCut(_ read: String?, _ text: String) -> Bool {
        guard let read else { return false }
        return text.utf8.count > 65_535 && read.utf8.count > 65_531 && text.utf8.starts(with: read.utf8)
    }

    @Test("Hostile names and tag values are stored under the escaped or the counted name")
    func awkwardNames() async throws {
        let influx = try await RealInflux()
        let backend = try backend(influx)
        let names = ["a b", "a,b", "a=b", "é😀", #"a\b"#, "say \"x\"", "'quoted'", "a.b/c", "  ", "🏳️‍🌈"]
        let changed = ["#x": "_x", "n\nl": "n_l", #"end\"#: "end/", "\u{0}": "_", "time": "time_"]
        var attributes: Attributes = [:]
        for (number, name) in (names + changed.keys.sorted()).enumerated() {
            attributes[AttributeName(name)] = .int(number)
        }
        attributes["trackerTarget"] = #"mpv, "the" = \player"#
        #expect(
            await backend.deliver(Batch(records: [Samples.record(Samples.event(.end, attributes))])) == .acknowledged
        )
        let row = try #require(try await influx.query("SELECT * FROM OAVT_EVENTS").first)
        for name in names { #expect(row[name]?.int == names.firstIndex(of: name), "\(name)") }
        for (number, name) in changed.keys.sorted().enumerated() {
            #expect(row[changed[name] ?? ""]?.int == names.count + number, "\(name)")
        }
        #expect(row["trackerTarget"]?.string == #"mpv, "the" = \player"#)
        #expect(backend.alterations == [.replacedCharacters: 4, .renamedAttributes: 1])
    }

    @Test("A batch that is written twice is stored once, with samples of the same millisecond apart")
    func copies() async throws {
        let influx = try await RealInflux()
        let backend = try backend(influx)
        let batch = Batch(records: Samples.records((0..<200).map { _ in Samples.event(.ping) }))
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(try await influx.query("SELECT sampleId FROM OAVT_EVENTS").count == 200)
    }

    @Test("Points of a conflicting type become dead letters, all others are written")
    func partialWrite() async throws {
        let influx = try await RealInflux()
        let queue = BatchQueue(backends: [try backend(influx)])
        queue.append([Samples.event(.ping, ["v": 1])])
        #expect(await queue.flush(timeout: .seconds(600)))
        queue.append((0..<100).map { Samples.event(.ping, ["v": $0 % 25 == 7 ? 0.5 : .int($0)]) })
        queue.append([Samples.event(.ping, ["v": "text"])])
        #expect(await queue.shutdown(timeout: .seconds(1800)))
        let ledger = try #require(queue.ledger["influx"])
        #expect((ledger.acknowledged, ledger.dead, ledger.queued) == (97, 5, 0))
        let letters = queue.deadLetters(of: "influx")
        #expect(letters.allSatisfy { $0.reason.contains("field type conflict") }, "\(letters.map(\.reason))")
        #expect(try await influx.query("SELECT v FROM OAVT_EVENTS").count == 97)
    }

    @Test("Two streams of a monitor are two series, and their values are grouped by label")
    func streams() async throws {
        let influx = try await RealInflux()
        let backend = try backend(influx)
        let samples = ["a", "b"].flatMap { name in
            let attributes = Samples.stream(name, ["cdn": name == "a" ? "alpha" : "be,ta= x"])
            return [Samples.event(.start, attributes), Samples.metric(.playTime, name == "a" ? 1 : 2, attributes)]
        }
        #expect(await backend.deliver(Batch(records: Samples.records(samples))) == .acknowledged)
        // Only tags can be compared and grouped: `WHERE` on a field that is no tag would find both.
        for (cdn, total) in [("alpha", 1.0), ("be,ta= x", 2)] {
            let rows = try await influx.query(
                "SELECT sum(value) AS total FROM OAVT_METRICS WHERE cdn = '\(cdn)' GROUP BY monitorStream, monitorLocation"
            )
            #expect(rows.compactMap { $0["total"]?.number } == [total], "\(rows)")
        }
        let all = try await influx.query("SELECT * FROM OAVT_EVENTS")
        #expect(Set(all.compactMap { $0["monitorStream"]?.string }) == ["a", "b"])
        #expect(Set(all.compactMap { $0["cdn"]?.string }) == ["alpha", "be,ta= x"])
        #expect(Set(all.compactMap { $0["monitorLocation"]?.string }) == ["oslo"])
    }

    @Test("A missing database is waited for, and nothing is lost")
    func missingDatabase() async throws {
        let influx = try await RealInflux()
        let backend = try InfluxBackend(influx.endpoint("later"), transport: SystemTransport())
        let batch = Batch(records: Samples.records([Samples.event(.start)]))
        guard case .retry(_, let reason) = await backend.deliver(batch) else { throw Unexpected("") }
        #expect(reason.hasPrefix(#"HTTP 404: database not found: "…""#))
        _ = try await influx.query("CREATE DATABASE later", isChange: true)
        #expect(await backend.deliver(batch) == .acknowledged)
    }
}

extension JSONValue {
    /// A number of either kind.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
}

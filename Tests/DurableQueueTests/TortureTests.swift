import Foundation
import Instrument
import InstrumentBackends
import InstrumentTestKit
import Testing

/// Kills a process that emits and delivers, at random moments, again and again.
///
/// A short form runs with every test; `make torture` runs the long one. `TORTURE_KILLS` says how often, `TORTURE_SEED`
/// repeats a failure.
@Suite("Torture of the durable queue")
struct TortureTests {
    private static let environment = ProcessInfo.processInfo.environment
    static let kills = environment["TORTURE_KILLS"].flatMap { Int($0) } ?? 20
    static let seed = environment["TORTURE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))

    /// The child lies beside the test bundle.
    private static let child: URL = {
        let bundle = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
        return bundle.appendingPathComponent("QueueChild")
    }()

    private struct Line: Hashable {
        var run: Int
        var thread: Int
    }

    @Test("Nothing whose emit returned is lost to kill -9; copies are equal; order holds; the ledger adds up")
    func kills() throws {
        var generator = SeededGenerator(seed: Self.seed)
        var left = Self.kills
        // A new directory now and then, so that what has to be compared stays small.
        while left > 0 {
            try round(of: min(left, 50), &generator)
            left -= 50
        }
    }

    private func round(of kills: Int, _ generator: inout SeededGenerator) throws {
        let scratch = try Scratch()
        let (queue, delivered, progress) = (
            scratch.path + "/queue", scratch.path + "/delivered", scratch.path + "/progress"
        )
        var returned: [Line: Int] = [:]
        for run in 1...kills {
            try Data(count: 4096).write(to: URL(fileURLWithPath: progress))
            let process = Process()
            process.executableURL = Self.child
            process.arguments = ["emit", queue, delivered, progress, "\(run)", "\(generator.next() >> 1)"]
            try process.run()
            usleep(UInt32.random(in: 10_000...120_000, using: &generator))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(
                process.terminationReason == .uncaughtSignal,
                "seed \(Self.seed), run \(run): the child ended by itself"
            )
            let notes = try Data(contentsOf: URL(fileURLWithPath: progress))
            for thread in 0..<2 {
                let number = notes.withUnsafeBytes { $0.load(fromByteOffset: 8 * thread, as: UInt64.self) }
                returned[Line(run: run, thread: thread)] = Int(number)
            }
        }
        let ledger = try drain(queue, delivered)
        try check(delivered, returned, ledger)
    }

    private func drain(_ queue: String, _ delivered: String) throws -> [Int] {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Self.child
        process.arguments = ["drain", queue, delivered]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let words = text.split { $0 == " " || $0 == "\n" }
        #expect(words.first == "true", "seed \(Self.seed): not drained: \(text)")
        return words.dropFirst().compactMap { Int($0) }
    }

    private func check(_ delivered: String, _ returned: [Line: Int], _ ledger: [Int]) throws {
        var samples: [SampleID: Int] = [:]
        var numbers: [Line: [Int]] = [:]
        var reader = try SampleFileReader(path: delivered)
        while let record = try reader.next() {
            if let known = samples[record.id] {
                #expect(
                    known == record.sample.hashValue,
                    "seed \(Self.seed): two samples have the identifier \(record.id)"
                )
                continue
            }
            samples[record.id] = record.sample.hashValue
            let attributes = record.sample.attributes
            guard let run = attributes[AttributeKey<Int>("run")], let thread = attributes[AttributeKey<Int>("thread")],
                let number = attributes[AttributeKey<Int>("number")]
            else { continue }
            numbers[Line(run: run, thread: thread), default: []].append(number)
        }
        #expect(reader.problems.isEmpty)
        var total = 0
        for (line, count) in returned {
            let arrived = numbers[line] ?? []
            total += arrived.count
            // One more may have been stored whose emit had not returned yet.
            #expect(arrived.count >= count, "seed \(Self.seed), \(line): \(count) returned, \(arrived.count) arrived")
            #expect(arrived == Array(1...max(1, arrived.count)) || arrived.isEmpty, "seed \(Self.seed), \(line): order")
        }
        #expect(ledger.count == 5)
        if ledger.count == 5 {
            #expect(ledger[0] == samples.count, "seed \(Self.seed): emitted \(ledger[0]), arrived \(samples.count)")
            #expect(ledger[0] == ledger[1...].reduce(0, +), "seed \(Self.seed): \(ledger)")
        }
        print("torture: seed \(Self.seed), \(returned.count / 2) kills, \(total) samples arrived, none lost")
    }
}

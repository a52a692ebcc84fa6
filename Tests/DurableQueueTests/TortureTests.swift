import Foundation
import Instrument
import InstrumentBackends
import InstrumentTestKit
import TestTraits
import Testing

/// Kills a process that emits and delivers, at random moments, again and again.
///
/// A short form runs with every test; `make torture` runs the long one. `TORTURE_KILLS` says how often, `TORTURE_SEED`
/// repeats a failure.
@Suite("Torture of the durable queue", .ownThread, .serialized)
struct TortureTests {
    private static let environment = ProcessInfo.processInfo.environment
    static let kills = environment["TORTURE_KILLS"].flatMap { Int($0) }
    static let seed = environment["TORTURE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))

    @Test("Nothing whose emit returned is lost to kill -9; copies are equal; order holds; the ledger adds up")
    func kills() throws {
        try rounds(kills: Self.kills ?? 20) { scratch, _ in
            scratch.path + "/delivered"
        } arrived: { scratch in
            let contents = FileManager.default.contents(atPath: scratch.path + "/delivered") ?? Data()
            return contents.split(separator: UInt8(ascii: "\n")).map { Array($0) }
        }
    }

    @Test("Nor is it to a server that fails in every way at the same time: all has arrived, or is a dead letter")
    func server() throws {
        let server = Lock<MoodyServer?>(nil)
        try rounds(kills: Self.kills ?? 8) { _, seed in
            let made = try MoodyServer(seed: seed)
            server.withLock { $0 = made }
            return made.address
        } arrived: { _ in
            let made = server.withLock { $0 }
            let answers = (made?.answers ?? [:]).sorted { $0.key < $1.key }
            print("torture: answers", answers.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
            return made?.lines ?? []
        }
    }

    /// A new directory now and then, so that what has to be compared stays small.
    private func rounds(
        kills: Int,
        target: (Scratch, UInt64) throws -> String,
        arrived: (Scratch) -> [[UInt8]]
    ) throws {
        var generator = SeededGenerator(seed: Self.seed)
        var left = kills
        while left > 0 {
            let scratch = try Scratch()
            let torture = Torture(
                scratch: scratch,
                target: try target(scratch, generator.next()),
                label: "seed \(Self.seed)"
            )
            let returned = try torture.kill(min(left, 50), &generator)
            let (ledger, dead) = try torture.drain()
            torture.check(arrived: arrived(scratch), dead: dead, returned, ledger)
            left -= 50
        }
    }
}

/// One directory whose processes are killed.
struct Torture {
    struct Line: Hashable {
        var run: Int
        var thread: Int
    }

    let scratch: Scratch
    let target: String
    let label: String

    /// The child lies beside the test bundle.
    private static let child: URL = {
        let bundle = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
        return bundle.appendingPathComponent("QueueChild")
    }()

    private func process(_ arguments: String...) -> Process {
        let process = Process()
        process.executableURL = Self.child
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        return process
    }

    /// Starts so many processes, `atOnce` at a time, and kills each after a while; returns how many emits of each thread had
    /// returned.
    func kill(_ count: Int, atOnce: Int = 1, _ generator: inout SeededGenerator) throws -> [Line: Int] {
        var returned: [Line: Int] = [:]
        for first in stride(from: 1, through: count, by: atOnce) {
            let children = try (first..<first + atOnce).map { run in (run, try start(run, seed: generator.next() >> 1))
            }
            usleep(UInt32.random(in: 10_000...120_000, using: &generator))
            for (run, child) in children {
                Foundation.kill(child.processIdentifier, SIGKILL)
                child.waitUntilExit()
                #expect(child.terminationReason == .uncaughtSignal, "\(label), run \(run): the child ended by itself")
                try note(run, &returned)
            }
        }
        return returned
    }

    private func progress(_ run: Int) -> String { scratch.path + "/progress-\(run)" }

    private func start(_ run: Int, seed: UInt64) throws -> Process {
        try Data(count: 4096).write(to: URL(fileURLWithPath: progress(run)))
        let child = process("emit", scratch.path + "/queue", target, progress(run), "\(run)", "\(seed)")
        try child.run()
        return child
    }

    private func note(_ run: Int, _ returned: inout [Line: Int]) throws {
        let notes = try Data(contentsOf: URL(fileURLWithPath: progress(run)))
        for thread in 0..<2 {
            let number = notes.withUnsafeBytes { $0.load(fromByteOffset: 8 * thread, as: UInt64.self) }
            returned[Line(run: run, thread: thread)] = Int(number)
        }
    }

    /// Delivers what is left; returns the ledger's sums and the dead letters.
    func drain() throws -> (ledger: [Int], dead: [[UInt8]]) {
        let (child, output) = (process("drain", scratch.path + "/queue", target, scratch.path + "/dead"), Pipe())
        child.standardOutput = output
        try child.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        child.waitUntilExit()
        let words = text.split { $0 == " " || $0 == "\n" }
        #expect(words.first == "true", "\(label): not drained: \(text)")
        let dead = FileManager.default.contents(atPath: scratch.path + "/dead") ?? Data()
        return (
            words.dropFirst().compactMap { Int($0) },
            dead.split(separator: UInt8(ascii: "\n")).map { Array($0) }
        )
    }

    func check(arrived: [[UInt8]], dead: [[UInt8]], _ returned: [Line: Int], _ ledger: [Int]) {
        var known: [SampleID: [UInt8]] = [:]
        var numbers: [Line: [Int]] = [:]
        for bytes in arrived {
            guard let record = try? JSONLines.decode(bytes), let (line, number) = Self.place(of: record) else {
                Issue.record("\(label): no sample: \(String(decoding: bytes, as: UTF8.self))")
                continue
            }
            if let first = known.updateValue(bytes, forKey: record.id) {
                #expect(first == bytes, "\(label): two samples have the identifier \(record.id)")
            } else {
                numbers[line, default: []].append(number)
            }
        }
        let deadNumbers = Self.numbers(of: dead)
        for (line, count) in returned {
            let (all, gone) = (numbers[line] ?? [], deadNumbers[line] ?? [])
            let isInOrder = zip(all, all.dropFirst()).allSatisfy { $0 < $1 }
            #expect(isInOrder, "\(label), \(line): order")
            // One more may have been stored whose emit had not returned yet.
            let sum = all.count + gone.count
            #expect(sum >= count, "\(label), \(line): \(count) returned, \(all.count) arrived, \(gone.count) are dead")
            let expected: [Int] = sum == 0 ? [] : Array(1...sum)
            #expect((all + gone).sorted() == expected, "\(label), \(line): gaps or copies")
        }
        #expect(ledger.count == 5)
        guard ledger.count == 5 else { return }
        #expect(ledger[0] == ledger[1...].reduce(0, +), "\(label): \(ledger)")
        #expect((ledger[1], ledger[3]) == (known.count, dead.count), "\(label): \(ledger), \(known.count) arrived")
        let copies = arrived.count - known.count
        print(
            "torture: \(label), \(returned.count / 2) kills, \(known.count) samples arrived, \(copies) of them twice or more,",
            "\(dead.count) dead letters, none lost"
        )
    }

    private static func place(of record: SampleRecord) -> (Line, Int)? {
        let attributes = record.sample.attributes
        guard let run = attributes[AttributeKey<Int>("run")], let thread = attributes[AttributeKey<Int>("thread")],
            let number = attributes[AttributeKey<Int>("number")]
        else { return nil }
        return (Line(run: run, thread: thread), number)
    }

    private static func numbers(of lines: [[UInt8]]) -> [Line: [Int]] {
        var numbers: [Line: [Int]] = [:]
        for bytes in lines {
            guard let record = try? JSONLines.decode(bytes), let (line, number) = place(of: record) else { continue }
            numbers[line, default: []].append(number)
        }
        return numbers
    }
}

import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueChildPlan
import QueueTorture
import Testing

/// Makes each system call of the store fail once, with each error that it may return, at its start and while it runs.
@Suite("System calls that fail under the durable queue", .serialized)
struct FaultInjectionTortureTests {
    @Test(
        "A single failing system call loses no sample, counts none as corrupt, and neither ends nor hangs the process"
    )
    func everyCall() async throws {
        let findings = try await offPool { () -> Findings? in
            do { return try Self.runAll() } catch let error as FaultShim.Unavailable {
                print("SKIPPED: system calls that fail under the durable queue, because \(error.reason)")
                return nil
            }
        }
        findings?.report("injected faults")
    }

    private static func runAll() throws -> Findings {
        let scratch = try Scratch()
        let shim = try FaultShim(in: scratch.path)
        var generator = SeededGenerator(seed: TortureSettings.seed)
        let fixture = try FaultFixture(scratch.path + "/fixture", &generator)
        let cases = try FaultCase.all(fixture, shim, scratch.path)
        // The short form has all opens at the start, and a selection of all other calls.
        let chosen =
            if let prefix = TortureSettings.faults {
                cases.filter { "\($0)".hasPrefix(prefix) }
            } else if TortureSettings.isLong {
                cases
            } else {
                cases.filter { $0.isLasting || $0.isEarlyOpen } + cases.shuffled(using: &generator).prefix(24)
            }
        return inParallel(chosen.count, part: "injected faults") { index in
            try chosen[index].run(fixture, shim, "\(scratch.path)/case-\(index)")
        }
    }
}

/// One call that fails: once, or from then on for a kind of file.
struct FaultCase: Sendable, CustomStringConvertible {
    static let errors: [(name: String, number: Int32)] = [
        ("EMFILE", EMFILE), ("EACCES", EACCES), ("EIO", EIO), ("ENOMEM", ENOMEM), ("ENOSPC", ENOSPC), ("EINTR", EINTR),
        ("EDQUOT", EDQUOT), ("EROFS", EROFS),
    ]
    /// A call that reads or writes only half of its bytes, as on a disk that becomes full.
    static let half: (name: String, number: Int32) = ("half", -1)

    /// One failing call is no flood of diagnostics, also if it fails from then on.
    private static let mostDiagnostics = 12

    let call: String
    let at: Int
    let error: (name: String, number: Int32)
    /// The files whose calls all fail; nil for a single call.
    var suffix: String?

    var description: String { "\(call) \(suffix ?? "\(at)") \(error.name)" }
    var isLasting: Bool { suffix != nil }
    var isEarlyOpen: Bool { call == "open" && at <= 16 && error.number == EMFILE }

    /// Every call that a run makes, with every error.
    static func all(_ fixture: FaultFixture, _ shim: FaultShim, _ folder: String) throws -> [FaultCase] {
        let queue = try fixture.copy(to: folder + "/counted")
        let counts = folder + "/counts"
        _ = try queue.run(environment: try shim.environment(directory: queue.directory, counts: counts))
        let calls = FaultShim.calls(counts)
        TortureSettings.progress("calls of one run: \(calls.sorted { $0.key < $1.key })")
        let single = FaultShim.kinds.flatMap { call in
            let errors = ["read", "write"].contains(call) ? errors + [half] : errors
            return numbers(upTo: calls[call] ?? 0).flatMap { at in
                errors.map { FaultCase(call: call, at: at, error: $0) }
            }
        }
        return lasting + single
    }

    /// A segment that is never renamed, and files that can never be opened.
    private static let lasting = [("EACCES", EACCES), ("EIO", EIO)].flatMap { error in
        [("rename", "/spare"), ("open", "/spare"), ("open", "0.segment")].map { call, suffix in
            FaultCase(call: call, at: 1, error: error, suffix: suffix)
        }
    }

    /// All of the first calls, and a decreasing share of later ones, up to a third more calls than a run makes.
    private static func numbers(upTo count: Int) -> [Int] {
        var (numbers, number): ([Int], Double) = ([], 1)
        while number <= Double(count) * 1.3 {
            numbers.append(Int(number))
            number = number < 30 ? number + 1 : number * 1.1
        }
        return numbers
    }

    func run(_ fixture: FaultFixture, _ shim: FaultShim, _ folder: String) throws -> Findings {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let queue = try fixture.copy(to: folder)
        if call == "open", suffix == "/spare" {
            try FaultFixture.unname(queue.directory, older: error.number == EIO ? 2 : 0)
        }
        let counts = folder + "/counts"
        let fault = FaultShim.Fault(
            call: call,
            at: at,
            times: isLasting ? .max : 1,
            error: error.number,
            suffix: suffix
        )
        let environment = try shim.environment(directory: queue.directory, counts: counts, fault)
        var findings = try queue.run(environment: environment)
        let isInjected = FaultShim.injected(counts) > 0
        if queue.diagnosticCount > Self.mostDiagnostics { findings.fail("\(queue.diagnosticCount) diagnostics") }
        findings += try queue.drain(keepsOrder: !(isLasting && call == "open"))
        var labelled = Findings()
        labelled.count(isInjected ? "faults" : "faults whose call did not come")
        for (name, count) in findings.counts { labelled.count(name, count) }
        for failure in findings.failures { labelled.fail("\(self): \(failure); \(queue.errors)") }
        return labelled
    }
}

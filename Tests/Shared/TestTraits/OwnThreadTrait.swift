internal import Foundation
internal import LoopbackServers
package import Testing

/// Runs each test of a suite on dedicated threads: for tests that wait for processes, files, sockets or players without
/// suspending.
///
/// Swift's pool has as many threads as the machine has processors. A test that blocks one of them delays every other
/// test of the run; two such tests stop the run on a machine with two processors.
package struct OwnThreadTrait: SuiteTrait, TestTrait, TestScoping {
    /// Whether the tests begin with the run: for a serialized suite that mostly waits for real time or for other
    /// processes. It would otherwise begin last, and the machine would wait for it.
    let isEarly: Bool
    /// As many tests at a time as a machine can use; fewer (`TESTS_AT_ONCE`) where tests judge real time.
    private static let permits = Permits(
        ProcessInfo.processInfo.environment["TESTS_AT_ONCE"].flatMap(Int.init)
            ?? max(16, 2 * ProcessInfo.processInfo.activeProcessorCount)
    )
    /// Whether an outer suite's trait has a permit already.
    @TaskLocal private static var hasPermit = false

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        if Self.hasPermit { return try await function() }
        if !isEarly { await Self.permits.take() }
        defer { if !isEarly { Self.permits.give() } }
        try await Self.$hasPermit.withValue(true) {
            try await withTaskExecutorPreference(OwnThread()) { try await function() }
        }
    }
}

extension Trait where Self == OwnThreadTrait {
    /// Runs each test on dedicated threads, so that it may block.
    package static var ownThread: Self { Self(isEarly: false) }

    /// Runs each test on dedicated threads from the beginning of the run: for serialized suites that mostly wait.
    package static var earlyOnOwnThread: Self { Self(isEarly: true) }
}

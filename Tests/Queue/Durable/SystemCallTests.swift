import Foundation
import Instrument
import Testing

@testable import InstrumentDurableQueue

@Suite("Retries of system calls")
struct SystemCallTests {
    /// A call that fails with these errors, then succeeds.
    private func run(_ errors: [Int32], unless final: [Int32] = []) -> (Result<Int, SystemError>, calls: Int) {
        var calls = 0
        let call = { () -> Int? in
            defer { calls += 1 }
            guard calls < errors.count else { return calls }
            errno = errors[calls]
            return nil
        }
        let result = SystemCall.retrying(unless: final, call)
        return (result, calls)
    }

    @Test("A call that succeeds is made once")
    func success() { #expect(run([]) == (.success(0), 1)) }

    @Test("A call that fails is retried at most twice, and the error is that of the last attempt")
    func failures() {
        #expect(run([EMFILE]) == (.success(1), 2))
        #expect(run([EMFILE, ENOMEM]) == (.success(2), 3))
        #expect(run([EMFILE, ENOMEM, EINTR]) == (.failure(SystemError(EINTR)), 3))
    }

    @Test("A final error is not retried")
    func finalError() {
        #expect(run([ENOENT], unless: [ENOENT]) == (.failure(SystemError(ENOENT)), 1))
        #expect(run([EMFILE, ENOENT], unless: [ENOENT]) == (.failure(SystemError(ENOENT)), 2))
        #expect(run([EMFILE], unless: [ENOENT]) == (.success(1), 2))
    }
}

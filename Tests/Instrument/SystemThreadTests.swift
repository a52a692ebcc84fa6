import Foundation
import Instrument
import Testing

@Suite("System threads")
struct SystemThreadTests {
    /// The properties of a thread that it has read itself.
    private struct Seen: Sendable {
        var name = ""
        var blocked: Set<Int32> = []
    }

    private static let watched = [SIGTERM, SIGPIPE, SIGUSR1, SIGSEGV, SIGABRT]

    private static func look() -> Seen {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        var seen = Seen()
        seen.blocked = Set(watched.filter { sigismember(&mask, $0) == 1 })
        #if os(Linux)
        seen.name = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
        #endif
        return seen
    }

    @Test("A thread has its name and blocks every signal that is not a crash when it takes none")
    func withoutSignals() async {
        let seen = await withCheckedContinuation { continuation in
            let isRunning = SystemThread.start(name: "fifteen-letters", takesSignals: false) {
                continuation.resume(returning: Self.look())
            }
            #expect(isRunning)
        }
        #expect(seen.blocked == [SIGTERM, SIGPIPE, SIGUSR1])
        #if os(Linux)
        #expect(seen.name == "fifteen-letters\n")
        #endif
    }

    @Test("Starting a thread leaves the signal mask of the caller as it was")
    func mask() async {
        let (before, after) = await withCheckedContinuation { continuation in
            // On a dedicated thread, because a test may change its thread.
            let isRunning = SystemThread.start {
                let before = Self.look().blocked
                let isRunning = SystemThread.start(takesSignals: false) {}
                continuation.resume(returning: (isRunning ? before : [-1], Self.look().blocked))
            }
            #expect(isRunning)
        }
        #expect(before == after)
    }

    @Test("A thread that cannot start releases its body, and the call returns false")
    func failure() {
        final class Held: Sendable {}
        weak var held: Held?
        func fail() -> Bool {
            let object = Held()
            held = object
            // No machine has a stack of this size.
            return SystemThread.start(stackSize: .max & ~0xFFFF) { withExtendedLifetime(object) {} }
        }
        // A size that the system refuses may be replaced by its default; then the thread runs and ends.
        if !fail() { #expect(held == nil) }
        func hand() -> Bool {
            let object = Held()
            held = object
            return SystemThread.hand({ withExtendedLifetime(object) {} }, to: { _, _ in false })
        }
        #expect(!hand())
        #expect(held == nil)
    }

    @Test("A body that is handed to C runs once and is released")
    func handed() {
        final class Count: @unchecked Sendable {
            // Only this test's thread uses it.
            var value = 0
        }
        let count = Count()
        let isRunning = SystemThread.hand({ count.value += 1 }) { run, context in
            run(context)
            return true
        }
        #expect(isRunning && count.value == 1)
    }
}

internal import CFFmpeg
internal import CProbeShim
internal import Instrument

/// Aborts libav's blocking calls, from any thread or at a deadline.
///
/// `@unchecked Sendable`: the C object is made of atomics only and lives as long as this one.
final class Interrupt: @unchecked Sendable {
    private let interrupt: OpaquePointer?

    init() { interrupt = probe_interrupt_create() }

    deinit { probe_interrupt_free(interrupt) }

    var callback: AVIOInterruptCB { probe_interrupt_callback(interrupt) }
    var isAborted: Bool { probe_interrupt_is_aborted(interrupt) }
    var didTimeOut: Bool { probe_interrupt_timed_out(interrupt) }

    /// Whether a call was aborted, independent of its result.
    var hasEndedCall: Bool { isAborted || didTimeOut }

    func abort() { probe_interrupt_abort(interrupt) }

    /// Sets a deadline for all following calls together.
    func allow(_ timeout: Duration) {
        probe_interrupt_set_timeout(interrupt, min(max(1, timeout.nanoseconds), .max / 2))
    }
}

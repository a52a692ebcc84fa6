internal import CAllocatorShim

/// Settings of the allocator of a process that runs for months.
package enum Allocator {
    /// Keeps resident memory near the memory in use.
    ///
    /// The GNU C Library gives threads up to eight heaps per processor (mallopt(3), `M_ARENA_MAX`). A process whose
    /// threads come and go fills all of them with the gaps of another's buffers, for hours, though the memory in use
    /// does not grow (docs/measurements.md). Call this at the start: threads keep the heaps that they have. Does
    /// nothing elsewhere.
    package static func keepFlat() { allocator_limit_heaps(2) }

    /// Gives memory that is not in use back to the system (malloc_trim(3)), which the GNU C Library does by itself only
    /// at the end of a heap: after a burst of segments, a single small buffer there would keep all of it.
    ///
    /// Takes milliseconds, in which other threads wait if they allocate. Does nothing elsewhere.
    package static func giveBack() { allocator_give_back() }
}

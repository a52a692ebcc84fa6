/// Work on segment files that may wait for the disk, which appends leave to another thread, and the spare segment that
/// this thread creates ahead.
struct SegmentChores {
    enum Chore {
        /// The spare has become a segment and needs a new name.
        case name(Segment, isRetry: Bool = false)
        /// The segment was sealed with unused bytes.
        case cut(Segment, end: Int)
    }

    /// A segment that is created ahead, so that an append does not wait for the disk.
    private var spare: Segment?
    /// Whether a segment still has the spare's name, so that no spare can be created.
    private var isSpareNameTaken = false
    private var due: [Chore] = []

    var isDue: Bool { !due.isEmpty }
    /// Whether there is no spare, and its name is free.
    var canCreateSpare: Bool { spare == nil && !isSpareNameTaken }

    /// Returns the due work, once.
    mutating func take() -> [Chore] {
        defer { due = [] }
        return due
    }

    /// A sealed segment has unused bytes.
    mutating func cut(_ segment: Segment, to end: Int) { due.append(.cut(segment, end: end)) }

    /// A segment has the spare's name and needs its own.
    mutating func name(_ segment: Segment) {
        isSpareNameTaken = true
        due.append(.name(segment))
    }

    /// The renaming of a segment failed.
    mutating func retryNaming(_ segment: Segment) { due.append(.name(segment, isRetry: true)) }

    /// No segment has the spare's name any more.
    mutating func spareNameIsFree() { isSpareNameTaken = false }

    /// Sets the spare.
    mutating func keep(spare segment: Segment) { spare = segment }

    /// Returns the spare if it is large enough; it needs a name from now on.
    mutating func takeSpare(atLeast size: Int) -> Segment? {
        guard let spare, spare.capacity >= size else { return nil }
        self.spare = nil
        name(spare)
        return spare
    }

    /// Removes the spare, and returns it for deletion.
    mutating func takeSpare() -> Segment? { spare.take() }
}

internal import Instrument
internal import InstrumentJSON

/// The names of attributes in the order in which lines had them first, and what followed each of them last.
///
/// Stands in memory that every line reads in place: each attribute of a recording passes here.
final class NameTrail {
    /// A name, and the predictions for the next line that has it.
    struct Entry {
        let name: AttributeName
        /// `"name":`
        let quoted: UnsafeMutableBufferPointer<UInt8>
        /// The position of the name that followed last, which is greater byte by byte; negative for none.
        var successor = -1
        /// The positions of the last text and of the last fraction in their tables.
        var lastText = 0
        var lastNumber = 0

        /// The bytes of the name, without quotes and colon; the name is printable ASCII and needs no escape.
        var spelling: UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(rebasing: quoted[1..<max(1, quoted.count - 2)])
        }
    }

    private(set) var count = 0
    private var capacity = 64
    private var entries = UnsafeMutablePointer<Entry>.allocate(capacity: 64)
    /// The position of the first name of the last line; negative for none.
    var first = -1

    deinit {
        for position in 0..<count { entries[position].quoted.deallocate() }
        entries.deinitialize(count: count)
        entries.deallocate()
    }

    /// The entry at a position that ``append(_:)`` returned.
    @inline(__always)
    subscript(position: Int) -> Entry {
        _read { yield entries[position] }
        _modify { yield &entries[position] }
    }

    /// Adds a name; returns its position.
    func append(_ spelling: String) -> Int {
        if count == capacity { grow() }
        let quoted = JSONWriter.quoted(spelling)
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: quoted.count)
        _ = memory.initialize(from: quoted)
        (entries + count).initialize(to: Entry(name: AttributeName(spelling), quoted: memory))
        count += 1
        return count - 1
    }

    private func grow() {
        let larger = UnsafeMutablePointer<Entry>.allocate(capacity: 2 * capacity)
        larger.moveInitialize(from: entries, count: count)
        entries.deallocate()
        (entries, capacity) = (larger, 2 * capacity)
    }
}

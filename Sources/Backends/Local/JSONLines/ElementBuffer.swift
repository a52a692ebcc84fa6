internal import Instrument

/// The attributes of the line that is read, in the memory of an earlier line whose attributes nobody uses any more.
///
/// There is a row for the events and one for the metrics of each tracker's number modulo 8: the events of one tracker
/// mostly have the same names in the same order, and many of the same texts. These stay in place, so that a line that
/// is read and dropped allocates nothing.
final class ElementBuffer {
    private static let rowCount = 16
    /// The first elements of each row, whose texts are compared by their marks.
    private static let markCount = 64
    private static let leastRoom = 8

    private let rows: UnsafeMutablePointer<Attributes>
    /// The mark of the text that was set last at each of the first places of each row; negative for none.
    private let marks: UnsafeMutablePointer<Int>
    private var row = 0
    private var isOpen = false
    private var elements: UnsafeMutablePointer<Attributes.Element>
    private var room = 0
    /// The number of elements that the row had before, and of those that were set since.
    private var known = 0
    private var count = 0
    private var areNamesKnown = true

    init() {
        rows = .allocate(capacity: Self.rowCount)
        rows.initialize(repeating: Attributes(), count: Self.rowCount)
        marks = .allocate(capacity: Self.rowCount * Self.markCount)
        marks.initialize(repeating: -1, count: Self.rowCount * Self.markCount)
        let first = rows[0].beginRow(room: Self.leastRoom)
        (elements, room) = (first.elements, first.room)
    }

    deinit {
        abandon()
        rows.deinitialize(count: Self.rowCount)
        rows.deallocate()
        marks.deallocate()
    }

    /// Begins the attributes of a tracker's line.
    func begin(of tracker: TrackerID, isMetric: Bool) {
        abandon()
        row = (tracker.number & (Self.rowCount / 2 - 1)) * 2 + (isMetric ? 1 : 0)
        // Probably as many as before.
        take(rows[row].beginRow(room: max(Self.leastRoom, rows[row].count)))
        (count, areNamesKnown, isOpen) = (0, true, true)
    }

    /// Adds a number or a truth value; its name must differ from the others, and its value be finite.
    @inline(__always)
    func append(_ name: AttributeName, _ value: AttributeValue) {
        if count < known, elements[count].name == name, elements[count].value.isPlain {
            // Nothing is to be released.
            (elements + count).initialize(to: Attributes.Element(name: name, value: value))
            count += 1
        } else {
            set(name, value)
        }
    }

    /// Adds a text; its name must differ from the others.
    ///
    /// - Parameter mark: another one for each text; negative for a text without a mark.
    @inline(__always)
    func append(_ name: AttributeName, mark: Int, _ text: () -> String) {
        if count < min(known, Self.markCount), elements[count].name == name, !elements[count].value.isPlain,
            marks[row * Self.markCount + count] == mark, mark >= 0
        {
            // The same text as before.
            count += 1
            return
        }
        if count < Self.markCount { marks[row * Self.markCount + count] = mark }
        set(name, .string(text()))
    }

    /// Returns the attributes of the line.
    ///
    /// - Parameter payloadSize: the bytes of their texts.
    func end(payloadSize: Int) -> Attributes {
        isOpen = false
        rows[row].endRow(count, payloadSize: payloadSize, areNamesKnown: areNamesKnown)
        return rows[row]
    }

    @inline(never)
    private func set(_ name: AttributeName, _ value: consuming AttributeValue) {
        if count == room { grow() }
        let element = Attributes.Element(name: name, value: value)
        if count < known {
            if elements[count].name != name { areNamesKnown = false }
            elements[count] = element
        } else {
            areNamesKnown = false
            (elements + count).initialize(to: element)
        }
        count += 1
    }

    /// Drops what was set of a line that is declined.
    private func abandon() {
        guard isOpen else { return }
        isOpen = false
        rows[row].endRow(max(count, known), payloadSize: 0, areNamesKnown: false)
    }

    private func grow() {
        var larger = Attributes()
        let grown = larger.beginRow(room: 2 * room)
        rows[row].endRow(count, payloadSize: 0, areNamesKnown: false)
        grown.elements.initialize(from: elements, count: count)
        rows[row] = larger
        take(grown)
    }

    private func take(_ row: Attributes.Row) { (elements, room, known) = (row.elements, row.room, row.count) }
}

extension AttributeValue {
    /// Whether the value is a number or a truth value, which refers to no other memory.
    fileprivate var isPlain: Bool {
        @inline(__always) get {
            switch self {
            case .int, .double, .bool: true
            case .string, .array, .object: false
            }
        }
    }
}

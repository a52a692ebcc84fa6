/// A value for each of a few trackers, found without hashing: the state of a hub or a metricalc for each tracker.
///
/// `@inlinable`, because a generic that is not specialised for its value costs 10,000 instructions per event.
public struct TrackerTable<Value> {
    @usableFromInline
    struct Entry {
        @usableFromInline var id: TrackerID
        @usableFromInline var value: Value

        @inlinable
        init(id: TrackerID, value: Value) {
            self.id = id
            self.value = value
        }
    }

    @usableFromInline var entries: ContiguousArray<Entry> = []

    /// Creates an empty table.
    @inlinable
    public init() {}

    /// The value of a tracker, in place; `fallback` without a value.
    @inlinable
    public subscript(id: TrackerID, default fallback: @autoclosure () -> Value) -> Value {
        get {
            let index = index(of: id)
            return holds(id, at: index) ? entries[index].value : fallback()
        }
        _modify {
            let index = index(of: id)
            if !holds(id, at: index) { entries.insert(Entry(id: id, value: fallback()), at: index) }
            yield &entries[index].value
        }
    }

    /// The value of a tracker; setting nil removes the tracker.
    @inlinable
    package subscript(id: TrackerID) -> Value? {
        get {
            let index = index(of: id)
            return holds(id, at: index) ? entries[index].value : nil
        }
        set {
            guard let newValue else { return remove(id) }
            let index = index(of: id)
            if holds(id, at: index) {
                entries[index].value = newValue
            } else {
                entries.insert(Entry(id: id, value: newValue), at: index)
            }
        }
    }

    /// The trackers, in increasing order.
    package var ids: [TrackerID] { entries.map(\.id) }

    /// The values, in the order of their trackers.
    package var values: [Value] { entries.map(\.value) }

    /// Whether a tracker has a value.
    @inlinable
    public func contains(_ id: TrackerID) -> Bool { holds(id, at: index(of: id)) }

    /// Removes a tracker.
    @inlinable
    public mutating func remove(_ id: TrackerID) {
        let index = index(of: id)
        if holds(id, at: index) { entries.remove(at: index) }
    }

    /// Changes each value in place.
    @inlinable
    public mutating func forEachValue(_ body: (inout Value) -> Void) {
        for index in entries.indices { body(&entries[index].value) }
    }

    @inlinable
    func holds(_ id: TrackerID, at index: Int) -> Bool { index < entries.count && entries[index].id == id }

    /// Returns the position of the tracker: entries are sorted by number, and trackers get increasing numbers.
    @inlinable
    func index(of id: TrackerID) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension TrackerTable: Sendable where Value: Sendable {}
extension TrackerTable.Entry: Sendable where Value: Sendable {}
extension TrackerTable: Equatable where Value: Equatable {}
extension TrackerTable.Entry: Equatable where Value: Equatable {}
extension TrackerTable: Hashable where Value: Hashable {}
extension TrackerTable.Entry: Hashable where Value: Hashable {}

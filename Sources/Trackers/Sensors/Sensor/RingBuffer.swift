/// The latest values; a new value replaces the oldest.
struct RingBuffer<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var next = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = max(1, capacity)
        elements.reserveCapacity(self.capacity)
    }

    mutating func append(_ element: Element) {
        if elements.count < capacity {
            elements.append(element)
        } else {
            elements[next] = element
            next = (next + 1) % capacity
        }
    }

    /// Removes and returns all values, the oldest first.
    mutating func takeAll() -> [Element] {
        defer {
            elements.removeAll(keepingCapacity: true)
            next = 0
        }
        return Array(elements[next...] + elements[..<next])
    }
}

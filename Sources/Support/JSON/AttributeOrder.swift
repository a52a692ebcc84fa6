package import Instrument

/// In which order the attributes of a sample are written, sorted by the bytes of their names, with their names made
/// ready.
///
/// Samples of a session have the same few sets of names: each is looked up and sorted once, not once a sample. Lives as
/// long as the writer of one batch, and so stays small.
package struct AttributeOrder {
    package struct Entry {
        /// The attribute's position in the sample.
        package let position: Int
        package let quotedName: [UInt8]
    }

    /// The order of one set of names.
    private struct Known {
        /// The numbers of the names, as they stand in the samples.
        let numbers: [UInt32]
        let entries: [Entry]

        func isOrder(of elements: UnsafeBufferPointer<Attributes.Element>) -> Bool {
            guard elements.count == numbers.count else { return false }
            return numbers.withUnsafeBufferPointer { numbers in
                for index in 0..<numbers.count where elements[index].name.number != numbers[index] { return false }
                return true
            }
        }
    }

    private var orders: [Known] = []
    /// The places in `orders`, by ``hash(of:)``.
    private var places: [UInt64: [Int]] = [:]
    private var latest = 0

    package mutating func entries(of attributes: Attributes) -> [Entry] {
        attributes.withElements { elements in
            if latest < orders.count, orders[latest].isOrder(of: elements) { return orders[latest].entries }
            let hash = Self.hash(of: elements)
            if let known = places[hash]?.first(where: { orders[$0].isOrder(of: elements) }) {
                latest = known
                return orders[known].entries
            }
            let entries = elements.enumerated()
                .map { (position: $0.offset, name: $0.element.name.spelling) }
                .sortedByBytes(of: \.name)
                .map { Entry(position: $0.position, quotedName: JSONWriter.quoted($0.name)) }
            latest = orders.count
            orders.append(Known(numbers: elements.map(\.name.number), entries: entries))
            places[hash, default: []].append(latest)
            return entries
        }
    }

    /// A number that depends on the names and their order. Equal numbers of different names cost a comparison.
    private static func hash(of elements: UnsafeBufferPointer<Attributes.Element>) -> UInt64 {
        var hash = UInt64(0xCBF2_9CE4_8422_2325)
        for index in 0..<elements.count {
            hash = (hash ^ UInt64(elements[index].name.number)) &* 0x0000_0100_0000_01B3
        }
        return hash
    }
}

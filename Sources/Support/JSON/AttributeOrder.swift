internal import Instrument
internal import InstrumentText

/// In which order the attributes of a sample are written, sorted by the bytes of their names, with their names made
/// ready.
///
/// Samples of a session have the same few sets of names: each is looked up and sorted once, not once a sample. A writer
/// may be kept from batch to batch: of more than ``maxCount`` sets, none is remembered.
package struct AttributeOrder: Sendable {
    /// The order of one set of names.
    package final class Known: Sendable {
        struct Entry {
            /// The attribute's position in the sample.
            let position: Int32
            /// The bytes of its name in `names`.
            let length: Int32
        }

        /// The numbers of the names, as they stand in the samples.
        fileprivate let numbers: [UInt32]
        /// The attributes in the order in which they are written.
        let entries: [Entry]
        /// The names in that order, each in quotes and with its colon, all but the first behind a comma.
        let names: [UInt8]

        fileprivate init(_ elements: UnsafeBufferPointer<Attributes.Element>) {
            numbers = elements.map(\.name.number)
            let sorted = elements.enumerated()
                .map { (position: Int32($0.offset), name: $0.element.name.spelling) }
                .sortedByBytes(of: \.name)
            let quoted = sorted.enumerated()
                .map { ($0.offset == 0 ? [] : [UInt8(ascii: ",")]) + JSONWriter.quoted($0.element.name) }
            entries = zip(sorted, quoted).map { Entry(position: $0.position, length: Int32($1.count)) }
            names = Array(quoted.joined())
        }

        func isOrder(of elements: UnsafeBufferPointer<Attributes.Element>) -> Bool {
            guard elements.count == numbers.count else { return false }
            return numbers.withUnsafeBufferPointer { numbers in
                for index in 0..<numbers.count where elements[index].name.number != numbers[index] { return false }
                return true
            }
        }
    }

    static let maxCount = 1024

    /// By ``hash(of:)``.
    private var orders: [UInt64: [Known]] = [:]
    private var count = 0
    private var latest: Known?

    package init() {}

    /// The order of a sample's attributes.
    mutating func order(of elements: UnsafeBufferPointer<Attributes.Element>) -> Known {
        if let latest, latest.isOrder(of: elements) { return latest }
        let hash = Self.hash(of: elements)
        let known = orders[hash]?.first { $0.isOrder(of: elements) } ?? learn(elements, hash)
        latest = known
        return known
    }

    private mutating func learn(_ elements: UnsafeBufferPointer<Attributes.Element>, _ hash: UInt64) -> Known {
        if count == Self.maxCount { (orders, count) = ([:], 0) }
        let order = Known(elements)
        orders[hash, default: []].append(order)
        count += 1
        return order
    }

    /// A number that depends on the names and their order. Equal numbers of different names cost a comparison.
    private static func hash(of elements: UnsafeBufferPointer<Attributes.Element>) -> UInt64 {
        var (hash, factor) = (UInt64(elements.count), UInt64(1))
        for index in 0..<elements.count {
            factor &+= 0x9E37_79B9_7F4A_7C16
            hash &+= UInt64(elements[index].name.number) &* factor
        }
        return hash
    }
}

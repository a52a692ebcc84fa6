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

    private var known: [[UInt32]: [Entry]] = [:]

    package mutating func entries(of attributes: Attributes) -> [Entry] {
        let numbers = attributes.map(\.name.number)
        if let entries = known[numbers] { return entries }
        let entries = attributes.enumerated()
            .map { (position: $0.offset, name: $0.element.name.spelling) }
            .sortedByBytes(of: \.name)
            .map { Entry(position: $0.position, quotedName: JSONWriter.quoted($0.name)) }
        known[numbers] = entries
        return entries
    }
}

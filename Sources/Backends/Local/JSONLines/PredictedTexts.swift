/// Texts of attributes, each kept once. The text that followed a text last is tried first: it costs one comparison and
/// no hash.
///
/// Of one name, a text is followed by itself (a title), or in a log of several trackers by that of another tracker,
/// often in turn.
struct PredictedTexts {
    private var texts: ByteTable<String>
    /// For each text the position of the text that followed it.
    private var successors: [Int] = []
    private let capacity: Int
    /// How often the table has dropped all its texts.
    private var dropCount = 0

    /// Creates a table for `capacity` texts.
    init(capacity: Int) {
        texts = ByteTable(capacity: capacity)
        self.capacity = capacity
    }

    /// Takes the text that is predicted, and the closing quote, and returns the position of the text; nil, without a
    /// step, if another text follows.
    ///
    /// - Parameter last: the position of the text before it; becomes the position of this one. Any position is safe:
    ///   the bytes of a predicted text are compared.
    @inline(__always)
    func takePredicted(_ cursor: inout LineCursor, after last: inout Int) -> Int? {
        guard last < successors.count, case let guess = successors[last], guess < texts.count,
            texts.withKey(at: guess, { cursor.takeText($0) })
        else { return nil }
        last = guess
        return guess
    }

    /// The text at a position.
    subscript(position: Int) -> String { texts.values[position] }

    /// A number that no other text has, nor one that the table has dropped.
    func mark(of position: Int) -> Int { dropCount &* capacity &+ position }

    /// Takes the text up to the closing quote, and the quote; nil if the text needs to be unescaped, has no quote or is
    /// not UTF-8.
    @inline(never)
    mutating func learn(_ cursor: inout LineCursor, after last: inout Int) -> String? {
        guard let bytes = cursor.text() else { return nil }
        if let known = texts.position(of: bytes) {
            if last < successors.count { successors[last] = known }
            last = known
            return texts.values[known]
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        guard let position = texts.insert(text, for: bytes) else { return text }
        // A full table was emptied: the positions begin again.
        if position < successors.count {
            successors.removeAll(keepingCapacity: true)
            dropCount += 1
        }
        successors.append(position)
        if last < successors.count { successors[last] = position }
        last = position
        return text
    }
}

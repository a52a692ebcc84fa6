/// The largest document that ``MarkupReader`` accepts.
package struct MarkupLimits: Hashable, Sendable {
    /// Bytes of the document.
    package var bytes: Int
    /// Bytes of an attribute's value or of an element's text.
    package var textBytes: Int
    /// Elements within elements.
    package var depth: Int
    /// Elements of the document.
    package var elements: Int
    /// Attributes of one element.
    package var attributes: Int

    /// Creates limits.
    package init(bytes: Int, textBytes: Int, depth: Int, elements: Int, attributes: Int) {
        (self.bytes, self.textBytes, self.depth) = (bytes, textBytes, depth)
        (self.elements, self.attributes) = (elements, attributes)
    }
}

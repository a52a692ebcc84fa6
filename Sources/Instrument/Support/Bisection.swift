extension RandomAccessCollection {
    /// The place of the first element that passes a test, by bisection; the end if none passes. All elements behind one
    /// that passes must pass as well.
    @inlinable
    package func partitioningIndex<E>(where passes: (Element) throws(E) -> Bool) throws(E) -> Index {
        var (low, length) = (startIndex, count)
        while length > 0 {
            let half = length / 2
            let middle = index(low, offsetBy: half)
            if try passes(self[middle]) {
                length = half
            } else {
                low = index(after: middle)
                length -= half + 1
            }
        }
        return low
    }
}

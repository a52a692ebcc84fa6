/// Applies an operation to elements, a few at a time; the results are in the order of the elements.
package func inParallel<Element: Sendable, Output: Sendable>(
    _ elements: [Element],
    limit: Int,
    _ operation: @escaping @Sendable (Element) async -> Output
) async -> [Output] {
    await withTaskGroup(of: (Int, Output).self) { group in
        var results: [Int: Output] = [:]
        for (place, element) in elements.enumerated() {
            if place >= max(1, limit), let (done, output) = await group.next() { results[done] = output }
            group.addTask { (place, await operation(element)) }
        }
        for await (done, output) in group { results[done] = output }
        return elements.indices.compactMap { results[$0] }
    }
}

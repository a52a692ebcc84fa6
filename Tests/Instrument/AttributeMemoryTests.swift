import Testing

@testable import Instrument

@Suite("Memory of attributes")
struct AttributeMemoryTests {
    private static let names = (0..<120).map { AttributeName("memory\($0)") }

    @Test("A block that came back is given out next, and no more than the limit are kept")
    func blocks() {
        let memory = AttributeMemory(limit: 2)
        let blocks = (0..<3).map { _ in memory.take() }
        #expect(Set(blocks).count == 3 && memory.spareCount == 0)
        for block in blocks { memory.giveBack(block) }
        #expect(memory.spareCount == 2)
        #expect(memory.take() == blocks[1] && memory.take() == blocks[0] && memory.spareCount == 0)
        for block in blocks.prefix(2) { memory.giveBack(block) }
    }

    @Test(
        "Attributes hold what was set, beside their object, in a block, and beyond one",
        arguments: [1, 8, 33, 34, 35, AttributeStorage.blockCapacities.upperBound, 56, 57, 120]
    )
    func sizes(capacity: Int) {
        for round in 0..<3 {
            var attributes = Attributes(exactCapacity: capacity)
            var expected: [AttributeName: AttributeValue] = [:]
            // The last rounds go beyond the capacity.
            for index in 0..<min(capacity + 40 * round, Self.names.count) {
                let value: AttributeValue =
                    index.isMultiple(of: 2)
                    ? .int(index + round) : .string("a text that does not fit into 15 bytes \(index)")
                attributes.set(value, for: Self.names[index])
                expected[Self.names[index]] = value
            }
            attributes.set(.double(.nan), for: Self.names[0])
            expected[Self.names[0]] = nil
            let copy = attributes
            attributes.set(.bool(true), for: Self.names[119])
            #expect(copy.count == expected.count && copy.allSatisfy { expected[$0.name] == $0.value })
            #expect(attributes[Self.names[119]] == .bool(true) && copy.refused == [Self.names[0]])
        }
    }

    @Test("Threads that create attributes while others release them see only their own values")
    func threads() async {
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var held: [Attributes] = []
                    for number in 0..<2000 {
                        var attributes = Attributes(minimumCapacity: 25)
                        for index in 0..<25 {
                            attributes.set(.int(task << 20 | number << 5 | index), for: Self.names[index])
                        }
                        held.append(attributes)
                        if held.count == 100 {
                            let released = held
                            held = []
                            let isRight = await Task {
                                released.allSatisfy { one in
                                    guard case .int(let first)? = one[Self.names[0]] else { return false }
                                    return (0..<25).allSatisfy { one[Self.names[$0]] == .int(first + $0) }
                                }
                            }.value
                            if !isRight { return false }
                        }
                    }
                    return true
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

import Testing

@testable import Instrument

@Suite("The memory of attributes")
struct AttributeStorageTests {
    @Test("Threads may look into what they share; the positions lie where they are looked for")
    func sharedReads() async {
        #expect(MemoryLayout<AttributeStorage.Header>.offset(of: \.positions) == 0)
        let attributes: Attributes = ["title": "film", "position": 5]
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask { (0..<1000).allSatisfy { _ in attributes["position"] == 5 && attributes["fps"] == nil } }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

import Testing

@testable import Instrument

@Suite("Attribute storage")
struct AttributeStorageTests {
    @Test("Concurrent threads read shared storage, and the table has every position")
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

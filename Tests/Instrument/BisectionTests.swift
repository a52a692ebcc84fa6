import Instrument
import InstrumentTestKit
import Testing

@Suite("Bisection")
struct BisectionTests {
    @Test("The place of the first element that passes, as a search from the start finds it")
    func places() {
        var generator = SeededGenerator(seed: 7)
        for count in 0..<40 {
            let values = (0..<count).map { _ in Int.random(in: 0..<20, using: &generator) }.sorted()
            for limit in -1...21 {
                let expected = values.firstIndex { $0 >= limit } ?? values.endIndex
                #expect(values.partitioningIndex { $0 >= limit } == expected)
                let slice = values.dropFirst(3)
                #expect(slice.partitioningIndex { $0 >= limit } == slice.firstIndex { $0 >= limit } ?? slice.endIndex)
            }
        }
    }

    @Test("A search of many elements looks at few")
    func steps() {
        var looks = 0
        let place = (0..<1_000_000).partitioningIndex { number in
            looks += 1
            return number >= 765_432
        }
        #expect(place == 765_432)
        #expect(looks <= 20)
    }
}

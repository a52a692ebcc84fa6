import Testing

@testable import InstrumentProbe

@Suite("Values behind a reference")
struct IndirectTests {
    private struct Holder {
        @Indirect var numbers = [1]
    }

    @Test("A copy keeps its value when the original changes, and the reverse")
    func copies() {
        var original = Holder()
        var copy = original
        original.numbers.append(2)
        #expect((original.numbers, copy.numbers) == ([1, 2], [1]))
        copy.numbers = [3]
        #expect((original.numbers, copy.numbers) == ([1, 2], [3]))
    }

    @Test("The table of tracks has the tracks that were set, video first, and a copy keeps its own")
    func table() {
        var table = TrackTable()
        #expect(table.roles.isEmpty && table.all.isEmpty && table[.subtitles] == nil)
        table[.audio] = TrackLoading(at: 1)
        table[.main] = TrackLoading(at: 2)
        let copy = table
        table[.main]?.move(to: 3)
        #expect(table.roles == [.main, .audio] && table.all.map(\.loadedEnd) == [3, 1])
        #expect(copy.all.map(\.loadedEnd) == [2, 1])
        table[.audio] = nil
        #expect(table.roles == [.main])
    }
}

import Instrument
import InstrumentTestKit
import Testing

@Suite("Sample identifiers")
struct SampleIDTests {
    @Test("An identifier contains the 62 bits of its log for any log and number, also after a round trip through text")
    func log() {
        var generator = SeededGenerator(seed: 3)
        var pairs: [(log: UInt64, sequence: UInt64)] = [(0, 0), (.max, .max), (1 << 61, 1), (3, 1 << 59), (1 << 62, 0)]
        for _ in 0..<1_000 { pairs.append((generator.next(), generator.next())) }
        for (log, sequence) in pairs {
            let id = SampleID(log: log, sequence: sequence)
            #expect(id.log == log & 0x3FFF_FFFF_FFFF_FFFF)
            #expect(SampleID(id.description)?.log == id.log)
        }
    }

    @Test(
        "Only a UUID with its hyphens in place is an identifier",
        arguments: [
            "", "e05aa883acaf40adbf5402c8ce485fb0", "e05aa883a-caf-40ad-bf54-02c8ce485fb0",
            "+05aa883-acaf-40ad-bf54-02c8ce485fb0", "-05aa883-acaf-40ad-bf54-02c8ce485fb0",
            "e05aa883-acaf-40ad-bf54-02c8ce485fbg", "e05aa883-acaf-40ad-bf54-02c8ce485fb",
            "------------------------------------",
            "{05aa883-acaf-40ad-bf54-02c8ce485fb}", " 05aa883-acaf-40ad-bf54-02c8ce485fb0",
            "é05aa883-acaf-40ad-bf54-02c8ce485fb",
        ]
    )
    func malformed(text: String) {
        #expect(SampleID(text) == nil)
    }

    @Test("Identifiers of one log differ, and so do those of one number in two logs")
    func differences() {
        let ids = (0..<1_000).flatMap { number in
            [7, 8].map { SampleID(log: $0, sequence: UInt64(number)) }
        }
        #expect(Set(ids).count == 2_000)
    }
}

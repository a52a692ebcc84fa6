import InstrumentQuality
import Testing

@Suite("Dialects")
struct DialectTests {
    @Test("Dialect.named finds each dialect by its name on the command line")
    func names() {
        for dialect in Dialect.all { #expect(Dialect.named(dialect.name)?.title == dialect.title) }
        #expect(Dialect.named("3gpp26247") != nil)
        #expect(Dialect.named("unknown") == nil)
    }
}

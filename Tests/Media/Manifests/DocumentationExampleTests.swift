import Instrument
import InstrumentHTTP
import InstrumentManifests
import Testing

/// The examples of the documentation comments, as they stand there.
@Suite("Examples of the documentation")
struct DocumentationExampleTests {
    @Test("The example of Presentation parses a manifest and takes the lowest variant")
    func presentation() throws {
        let body = Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=2\nb\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n".utf8)
        let response = HTTPResponse(status: 200, body: body, url: try HTTPURL("http://origin.example/master.m3u8"))
        let clock = VirtualClock()

        let presentation = try Presentation(parsing: response.body, at: response.url, now: clock.wallTime)
        let variant = presentation.variants[0]

        #expect(variant.peakBitrate == 1)
    }
}

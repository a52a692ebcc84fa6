#if canImport(Glibc)
import CCurl
import CTransportShim
import InstrumentFiles
import LoopbackServers
import TestTraits
import Testing

@Suite("Descriptors that are left to the system's libraries", .ownThread)
struct DescriptorReserveTests {
    @Test("A connection whose descriptor would be in the reserve is not opened, and the transfer says so")
    func connections() throws {
        let server = try TestServer { _ in [.respond("200 OK")] }
        for (start, isOpened) in [(Int32(0), false), (.max, true)] {
            let easy = try #require(curl_easy_init())
            defer { curl_easy_cleanup(easy) }
            var openings = transport_openings()
            openings.reserve_start = start
            let result = withUnsafeMutablePointer(to: &openings) { openings in
                #expect(transport_set_openings(easy, openings) == CURLE_OK)
                let url = "http://127.0.0.1:\(server.port)/"
                url.withCString { #expect(transport_set_pointer(easy, CURLOPT_URL, $0) == CURLE_OK) }
                return curl_easy_perform(easy)
            }
            #expect(result == (isOpened ? CURLE_OK : CURLE_COULDNT_CONNECT))
            #expect(openings.has_opened == isOpened && openings.lacks_descriptors != isOpened)
        }
        #expect(server.connectionCount == 1)
    }

    @Test(
        "The reserve is 32 descriptors, and a sixteenth of a smaller limit",
        arguments: [
            (1_024, 32), (1 << 20, 32), (256, 16), (64, 4), (0, 0),
        ]
    )
    func reserve(count: Int, reserve: Int) { #expect(FileLimit.reserve(of: count) == reserve) }

    @Test("A descriptor below the reserve is kept")
    func kept() throws {
        #expect(FileLimit.reserveStart > 64)
        #expect(FileLimit.keepingReserve(-1) == -1)
        #expect(FileLimit.keepingReserve(2) == 2)
    }
}
#endif

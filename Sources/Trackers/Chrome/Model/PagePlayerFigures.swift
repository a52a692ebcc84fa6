internal import Instrument
internal import InstrumentJSON

/// What a player of a page (hls.js, dash.js, Shaka, Video.js) says of a media element. All of it is the page's.
struct PagePlayerFigures: Hashable, Sendable {
    /// The name of the library.
    var name: String?
    /// The bit rate of the rendition, bit/s.
    var bitrate: Int?
    /// How far behind the live edge the playhead is.
    var latency: Duration?
    /// The player's estimate, bit/s.
    var throughput: Int?
    /// Media ahead of the playhead, of the element itself.
    var buffered: Duration?

    init() {}

    /// Reads the answer of `players.js`: a JSON text.
    init?(_ answer: String) {
        guard answer.utf8.count <= 4_096, let value = try? JSONValue(parsing: answer) else { return nil }
        name = value["n"]?.text(40)
        bitrate = value["b"]?.rate
        throughput = value["t"]?.rate
        buffered = value["a"]?.finite.flatMap { (0...1e6).contains($0) ? .seconds($0) : nil }
        latency = value["l"]?.finite.flatMap { (0...1e6).contains($0) ? .seconds($0) : nil }
    }
}

extension JSONValue {
    /// Bits per second, up to a terabit.
    fileprivate var rate: Int? {
        guard let number = finite, number > 0, number <= 1e12 else { return nil }
        return Int(number.rounded())
    }
}

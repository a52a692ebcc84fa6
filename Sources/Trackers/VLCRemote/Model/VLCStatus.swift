internal import InstrumentJSON
internal import InstrumentText

/// A status of VLC, as its HTTP interface answers it (`/requests/status.json`). All values can be anybody's.
struct VLCStatus: Hashable, Sendable {
    enum State: String, Hashable, Sendable { case playing, paused, stopped }

    /// The counters of the input, which VLC computes every 250 ms while the input works.
    struct Counters: Hashable, Sendable {
        /// Displayed pictures, with the refreshes of a picture that stands.
        var displayed: Int
        var decodedVideo: Int
        var playedAudio: Int
    }

    /// The picture of the stream that is decoded.
    struct Picture: Hashable, Sendable {
        var width: Int
        var height: Int
        var framesPerSecond: Double?
    }

    var state: State
    /// The number of the item in the playlist; negative without one.
    var item: Int
    /// Seconds.
    var position: Double
    /// Seconds; nil without an end.
    var length: Double?
    var rate: Double
    /// 0 to 100; nil without a sound output.
    var volume: Int?
    var counters: Counters?
    var picture: Picture?
    var title: String?

    init(_ state: State, item: Int = 1, position: Double = 0, length: Double? = nil) {
        (self.state, self.item, self.position, self.length, rate) = (state, item, position, length, 1)
    }

    /// Reads an answer; nil for one that is not VLC's.
    init?(_ value: JSONValue) {
        guard let name = value["state"]?.string else { return nil }
        // 'unknown' and states of other versions.
        let state = State(rawValue: name) ?? .stopped
        let length = value["length"]?.amount(below: 1e9).flatMap { $0 > 0 ? $0 : nil }
        let share = value["position"]?.amount(below: 1.01).map { min($0, 1) }
        let time = value["time"]?.amount(below: 1e9) ?? 0
        // The time is in whole seconds, the share of the length is exact.
        let position = length.flatMap { length in share.map { $0 * length } } ?? time
        self.init(state, item: value["currentplid"]?.int ?? -1, position: position, length: length)
        rate = value["rate"]?.amount(below: 100).flatMap { $0 > 0.01 ? $0 : nil } ?? 1
        // 256 is the media's volume; VLC amplifies beyond, and the data model ends at 100.
        volume = value["volume"]?.amount(below: 1e6).map { Int(min(100, ($0 / 2.56).rounded())) }
        counters = value["stats"].flatMap(Counters.init)
        let information = value["information"]?["category"]
        picture = information.flatMap(Picture.init)
        title = information?["meta"]?["title"]?.string?.excerpt(toBytes: 300)
    }
}

extension VLCStatus.Counters {
    fileprivate init?(_ value: JSONValue) {
        guard let displayed = value["displayedpictures"]?.amount(below: 1e15) else { return nil }
        self.init(
            displayed: Int(displayed),
            decodedVideo: Int(value["decodedvideo"]?.amount(below: 1e15) ?? 0),
            playedAudio: Int(value["playedabuffers"]?.amount(below: 1e15) ?? 0)
        )
    }
}

extension VLCStatus.Picture {
    /// The picture of the streams `Stream 0`, `Stream 1` …: of several, the one that VLC has added last.
    fileprivate init?(_ streams: JSONValue) {
        let videos = (0..<64).compactMap { number -> Self? in
            guard let stream = streams["Stream \(number)"], let size = stream["Video_resolution"]?.string else {
                return nil
            }
            let sides = size.prefix(20).split(separator: "x").compactMap { Int($0) }
            guard sides.count == 2, sides.allSatisfy({ (1...100_000).contains($0) }) else { return nil }
            let frames = stream["Frame_rate"]?.string.flatMap { Double($0.prefix(20)) }
            let known = frames.flatMap { $0.isFinite && $0 > 0 && $0 <= 1_000 ? $0 : nil }
            return Self(width: sides[0], height: sides[1], framesPerSecond: known)
        }
        guard let last = videos.last else { return nil }
        self = last
    }

    var area: Int { width * height }
}

extension JSONValue {
    /// The number, if it is from 0 to a limit.
    fileprivate func amount(below limit: Double) -> Double? {
        number.flatMap { $0 >= 0 && $0 < limit ? $0 : nil }
    }
}

/// The playlist of a VLC (`/requests/playlist.json`).
enum VLCPlaylist {
    private static let maxDepth = 16

    /// The address of an item; nil if the playlist does not name it.
    static func address(of item: Int, in playlist: JSONValue) -> String? { find("\(item)", in: playlist, maxDepth) }

    private static func find(_ item: String, in node: JSONValue, _ depth: Int) -> String? {
        if node["id"]?.string == item, let address = node["uri"]?.string { return address.excerpt(toBytes: 4_000) }
        guard depth > 0 else { return nil }
        for child in node["children"]?.elements ?? [] {
            if let address = find(item, in: child, depth - 1) { return address }
        }
        return nil
    }
}

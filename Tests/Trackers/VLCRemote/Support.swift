import Instrument
import InstrumentJSON
import LoopbackServers

@testable import InstrumentVLCRemote

extension VLCStatus {
    /// A status of a picture of 25 frames per second.
    static func playing(
        _ position: Double,
        displayed: Int,
        decoded: Int,
        audio: Int = 0,
        length: Double? = 20,
        item: Int = 3
    ) -> VLCStatus {
        var status = VLCStatus(.playing, item: item, position: position, length: length)
        status.counters = Counters(displayed: displayed, decodedVideo: decoded, playedAudio: audio)
        status.picture = Picture(width: 320, height: 180, framesPerSecond: 25)
        return status
    }
}

/// A model with a clock, whose instants are milliseconds.
struct Stage {
    var model = VLCRemoteModel()
    private(set) var signals: [PlayerSignal] = []

    var actions: [Action] { signals.map(\.action) }
    var instants: [Int64?] { signals.map { $0.instant.map { $0.nanoseconds / 1_000_000 } } }

    mutating func observe(_ status: VLCStatus, at milliseconds: Int64, source: String? = "/film.mkv") {
        let now = MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
        signals += model.observe(status, source: source, at: now)
    }

    /// A VLC without media, and then a playback that has started: at 1,000 ms the position is 0, at 2,000 ms 1 s.
    mutating func play(length: Double? = 20) {
        observe(VLCStatus(.stopped, item: -1), at: 600)
        for step in 0..<5 {
            observe(
                .playing(
                    0.25 * Double(step),
                    displayed: Int(6.25 * Double(step)),
                    decoded: 20 + 6 * step,
                    audio: 10 * step,
                    length: length
                ),
                at: 1_000 + 250 * Int64(step)
            )
        }
    }
}

/// Answers as a VLC does.
enum AnsweringVLC {
    static func status(_ state: String, item: Int = 3, position: Double = 0, decoded: Int = 0) -> String {
        """
        {"state":"\(state)","currentplid":\(item),"position":\(position),"length":20,"time":0,"rate":1,"volume":128,
        "stats":{"displayedpictures":\(decoded),"decodedvideo":\(decoded),"playedabuffers":\(decoded)},
        "information":{"category":{"meta":{"title":"Film"},
        "Stream 0":{"Type":"Video","Video_resolution":"320x180","Frame_rate":"25"}}}}
        """
    }

    static let playlist = """
        {"type":"node","id":"0","children":[{"type":"node","id":"1","children":[
        {"type":"leaf","id":"3","uri":"http://user:word@127.0.0.1/film.mp4?token=secret","current":"current"}]}]}
        """
}

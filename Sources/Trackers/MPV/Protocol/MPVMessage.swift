internal import Instrument
package import InstrumentJSON

/// A line of mpv's JSON IPC (mpv's manual, "JSON IPC").
enum MPVMessage: Hashable {
    case event(MPVEvent)
    /// The answer to the request of that number; nil if it has no value or the request failed.
    case reply(Int, JSONValue?)

    /// Reads a line. mpv writes names of files as they are, which may be no valid UTF-8: such bytes are replaced.
    init(line: [UInt8]) throws(BadMessage) {
        let value = try Self.parse(line)
        if let name = value["event"]?.string {
            self = .event(MPVEvent(name: name, value))
        } else if let number = value["request_id"]?.int {
            let isGood = value["error"]?.string == "success"
            self = .reply(number, isGood ? value["data"].flatMap(\.present) : nil)
        } else {
            throw BadMessage(description: "neither an event nor a reply")
        }
    }

    private static func parse(_ line: [UInt8]) throws(BadMessage) -> JSONValue {
        if let value = try? JSONValue(parsing: line) { return value }
        do throws(JSONError) {
            return try JSONValue(parsing: Array(String(decoding: line, as: UTF8.self).utf8))
        } catch {
            // The error's own message quotes the line.
            throw BadMessage(description: "not JSON (\(error.code) at byte \(error.offset))")
        }
    }
}

/// The reason for which a line is not a message. Contains nothing of the line.
struct BadMessage: Error, Hashable, CustomStringConvertible { let description: String }

/// Something that happened in mpv (its manual, "List of events").
package enum MPVEvent: Hashable, Sendable {
    case startFile
    case fileLoaded
    case seek
    case playbackRestart
    case endFile(MPVEndReason)
    case idle
    case shutdown
    /// A property changed; nil: it has no value any more.
    case property(MPVProperty, JSONValue?)
    /// The demuxer or the network found that media are missing behind what it has read. `end-file` says nothing of it.
    case mediaIncomplete
    /// One that says nothing to us, or that we do not know.
    case other

    fileprivate init(name: String, _ value: JSONValue) {
        switch name {
        case "start-file": self = .startFile
        case "file-loaded": self = .fileLoaded
        case "seek": self = .seek
        case "playback-restart": self = .playbackRestart
        case "end-file": self = .endFile(MPVEndReason(value))
        case "idle": self = .idle
        case "shutdown": self = .shutdown
        case "property-change":
            let property = value["name"]?.string.flatMap(MPVProperty.init(rawValue:))
            self = property.map { .property($0, value["data"].flatMap(\.present)) } ?? .other
        case "log-message": self = MPVEvent(logged: value["text"]?.string ?? "")
        default: self = .other
        }
    }

    /// What a message of mpv's log says to us; it may contain addresses, and is not kept.
    ///
    /// Seen in mpv 0.35 with FFmpeg 5.1: of an MP4 file (libavformat/mov.c), of Matroska (demux/demux_mkv.c), and of a
    /// body that is shorter than its `Content-Length` (libavformat/http.c).
    package init(logged text: String) {
        let words = ["partial file", "incomplete file", "Stream ends prematurely"]
        let isIncomplete = words.contains { BytePattern($0.utf8).isContained(in: text.utf8) }
        self = isIncomplete ? .mediaIncomplete : .other
    }

    /// The level from which on mpv's log is read.
    package static let logLevel = "warn"
}

/// The reason for which mpv ended a file.
package enum MPVEndReason: Hashable, Sendable {
    case endOfFile
    case stop
    case quit
    /// mpv's own words; they are fixed and name no address.
    case error(String)
    /// It was a playlist, whose entries follow.
    case redirect

    fileprivate init(_ value: JSONValue) {
        switch value["reason"]?.string {
        case "eof": self = .endOfFile
        case "quit": self = .quit
        case "redirect": self = .redirect
        case "error": self = .error(value["file_error"]?.string ?? "playback failed")
        default: self = .stop
        }
    }
}

extension JSONValue {
    /// The value, unless it is `null`; a bare `nil` would be just that.
    var present: JSONValue? { self == .null ? Optional.none : self }

    /// The number, if it is a finite one.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value) where value.isFinite: value
        default: nil
        }
    }

    /// The truth, if it is one.
    var truth: Bool? { if case .bool(let value) = self { value } else { nil } }
}

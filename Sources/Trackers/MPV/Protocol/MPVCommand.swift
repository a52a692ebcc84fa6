internal import InstrumentJSON

/// The commands for mpv, one line each.
struct MPVCommand: Hashable {
    let words: [JSONValue]

    /// Reports the property's value now and whenever it changes.
    static func observe(_ property: MPVProperty, number: Int) -> MPVCommand {
        MPVCommand(words: ["observe_property", .int(number), .string(property.rawValue)])
    }

    static let readLog = MPVCommand(words: ["request_log_messages", .string(MPVEvent.logLevel)])

    static func get(_ property: MPVProperty) -> MPVCommand {
        MPVCommand(words: ["get_property", .string(property.rawValue)])
    }

    static func pause(_ isPaused: Bool) -> MPVCommand {
        MPVCommand(words: ["set_property", "pause", .bool(isPaused)])
    }

    static func seek(toSeconds seconds: Double) -> MPVCommand {
        MPVCommand(words: ["seek", .double(seconds), "absolute"])
    }

    static func load(_ source: String, appending: Bool) -> MPVCommand {
        MPVCommand(words: ["loadfile", .string(source), appending ? "append-play" : "replace"])
    }

    static let next = MPVCommand(words: ["playlist-next"])
    static let stop = MPVCommand(words: ["stop"])
    static let quit = MPVCommand(words: ["quit"])

    /// The line, with its end.
    func line(request: Int) -> [UInt8] {
        let object: JSONValue = ["command": .array(words), "request_id": .int(request)]
        return object.bytes + [UInt8(ascii: "\n")]
    }
}

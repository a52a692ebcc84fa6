internal import Instrument
internal import InstrumentJSON

/// The memory of a viewer, a video and a registration: the played segments, and the state of each player.
struct VideoMemory {
    /// One person does not watch a video in more players at a time; the oldest one is left from a crash.
    private static var maxPlayers: Int { 8 }

    private(set) var history: VideoProfile.History
    /// Whether a player's state has been kept since the memory was read.
    private(set) var isChanged = false
    private var players: [(name: String, playback: VideoProfile.Playback)]

    init(json: JSONValue) {
        history = VideoProfile.History(
            segments: json["segments"]?.string.flatMap { PlayedSegments($0) } ?? PlayedSegments(),
            isCompleted: json["completed"]?.bool ?? false
        )
        players = (json["players"]?.elements ?? []).compactMap { player in
            guard let name = player["name"]?.string, let playback = VideoProfile.Playback(json: player) else {
                return nil
            }
            return (name, playback)
        }
    }

    var json: JSONValue {
        .object([
            "segments": .string(history.segments.description),
            "completed": .bool(history.isCompleted),
            "players": .array(players.map { .object($0.playback.members.merging(["name": .string($0.name)]) { $1 }) }),
        ])
    }

    func playback(of player: String) -> VideoProfile.Playback {
        players.first { $0.name == player }?.playback ?? VideoProfile.Playback()
    }

    /// Closes the players of earlier runs, which send no more events: their open segments count as played.
    mutating func takeOver(by player: String) {
        let gone = players.filter { Self.run(of: $0.name) != Self.run(of: player) }
        for (_, playback) in gone {
            if case .playing(let from) = playback.phase { history.segments.append(from: from, to: playback.place) }
        }
        players.removeAll { player in gone.contains { $0.name == player.name } }
    }

    /// The run in a player's name, which is followed by a number.
    private static func run(of player: String) -> Substring {
        player.lastIndex(of: "-").map { player[..<$0] } ?? player[...]
    }

    /// Keeps a player's state; the latest player is the last one.
    mutating func keep(_ profile: VideoProfile, of player: String) {
        isChanged = true
        history = profile.past
        players.removeAll { $0.name == player }
        if profile.playback != VideoProfile.Playback() { players.append((player, profile.playback)) }
        players.removeFirst(max(0, players.count - Self.maxPlayers))
    }
}

extension VideoProfile.Playback {
    init?(json: JSONValue) {
        guard let place = json["place"]?.int, let phase = VideoProfile.Phase(json: json) else { return nil }
        self.place = place
        self.phase = phase
        if let id = json["session"]?.id, let began = json["began"]?.int, let length = json["length"]?.int {
            session = VideoProfile.Session(id: id, began: MonotonicInstant(nanoseconds: Int64(began)), length: length)
        }
    }

    var members: [String: JSONValue] {
        let session: [String: JSONValue?] = [
            "session": session.map { .id($0.id) }, "began": session.map { .int(Int($0.began.nanoseconds)) },
            "length": session.map { .int($0.length) }, "place": .int(place),
        ]
        return session.compactMapValues(\.self).merging(phase.members) { $1 }
    }
}

extension VideoProfile.Phase {
    fileprivate init?(json: JSONValue) {
        let (from, isPlaying) = (json["from"]?.int, json["playing"]?.bool)
        switch (json["phase"]?.string, from, isPlaying) {
        case ("idle", _, _): self = .idle
        case ("paused", _, _): self = .paused
        case ("playing", let from?, _): self = .playing(from: from)
        case ("seeking", let from?, let isPlaying?): self = .seeking(from: from, isPlaying: isPlaying)
        default: return nil
        }
    }

    fileprivate var members: [String: JSONValue] {
        switch self {
        case .idle: ["phase": "idle"]
        case .paused: ["phase": "paused"]
        case .playing(let from): ["phase": "playing", "from": .int(from)]
        case .seeking(let from, let isPlaying): ["phase": "seeking", "from": .int(from), "playing": .bool(isPlaying)]
        }
    }
}

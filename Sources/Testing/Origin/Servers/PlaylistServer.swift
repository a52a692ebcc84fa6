/// A server that a multivariant playlist or an MPD names. All of them are this origin, under `server/NAME/`, so that a
/// fault can concern one of them.
struct PlaylistServer: Sendable {
    /// The servers of the fixtures, the preferred one first.
    static let both = ["a", "b"].map { PlaylistServer(name: $0) }

    /// The name in paths, and as a pathway or service location; nil for the addresses beside the playlist.
    var name: String?

    /// The address of a folder with two names (`vod/ts/`), from a playlist in it.
    func prefix(of folder: String) -> String { name.map { "../../server/\($0)/\(folder)" } ?? "" }

    /// The group of audio renditions.
    var group: String { name.map { "sound-\($0)" } ?? "sound" }

    /// The names of a path behind those of a server; nil for another path.
    static func path(behind names: [String]) -> [String]? {
        guard names.count > 2, names[0] == "server", !names[1].isEmpty, names[2] != "server" else { return nil }
        return Array(names.dropFirst(2))
    }
}

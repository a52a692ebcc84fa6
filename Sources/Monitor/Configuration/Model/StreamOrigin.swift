/// A stream that a monitor elsewhere plays: its name there, and where that monitor is.
package struct StreamOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The name in the configuration of that monitor.
    package let stream: String
    /// The location of that monitor; empty for a monitor without one.
    package let place: String

    package init(stream: String, place: String) { (self.stream, self.place) = (stream, place) }

    /// The name of the stream here, which is unique: `news (oslo)`.
    package var description: String { "\(stream) (\(Self.name(of: place)))" }

    /// The name of a place for people.
    package static func name(of place: String) -> String { place.isEmpty ? "unnamed" : place }
}

/// How the samples of other monitors are judged.
package struct PlaceSettings: Hashable, Sendable {
    /// How long a place may send no sample before that is an incident.
    package var silence: Duration
    /// What the configuration says of streams, by their names in the places; streams that it does not name are watched
    /// with the default settings.
    package var streams: [String: WatchedStream]

    package init(silence: Duration = .seconds(180), streams: [String: WatchedStream] = [:]) {
        (self.silence, self.streams) = (silence, streams)
    }
}

extension WatchConfiguration {
    /// The configuration of a monitor that plays nothing and reads the samples of other monitors: its streams are
    /// settings, and what it reads is not written again.
    package func reading(silence: Duration) -> WatchConfiguration {
        var copy = self
        let known = Dictionary(streams.map { ($0.name, $0) }) { first, _ in first }
        copy.places = PlaceSettings(silence: silence, streams: known)
        (copy.streams, copy.backends) = ([], [:])
        return copy
    }
}

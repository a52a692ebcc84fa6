/// The state of a stream in a word.
package enum StreamWord: String, Hashable, Sendable, CaseIterable {
    /// No viewer would see a picture.
    case down
    /// The picture stands since a short time.
    case stalled
    /// The stream plays, and there is a finding, or requests fail.
    case impaired
    case playing
    /// A session waits for its first picture.
    case starting
    /// The stream waits for its next session, or for the beginning of its presentation.
    case waiting
    /// Nothing is known of the stream: the monitor of its place sends nothing.
    case unknown
    /// The monitor has stopped watching the stream.
    case stopped
}

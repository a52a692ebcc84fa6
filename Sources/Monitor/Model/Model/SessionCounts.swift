/// The numbers of sessions: of those that run, of starts that waited, and of those that did not end.
package struct SessionCounts: Sendable {
    package private(set) var running = 0
    /// Starts that waited because too many sessions were running.
    package private(set) var delayedStarts = 0
    /// Sessions that did not end after their stop.
    package private(set) var abandoned = 0
    private var latest = 0

    /// Counts a session that begins; returns its number, which is unique in the process.
    mutating func begin() -> Int {
        running += 1
        latest += 1
        return latest
    }

    mutating func end() { running -= 1 }
    mutating func delayStart() { delayedStarts += 1 }
    mutating func abandon() { abandoned += 1 }
}

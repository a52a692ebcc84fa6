/// Why a connection failed, in words that name the peer.
package struct SocketError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// The task was cancelled before the connection was used.
    package static let cancelled = SocketError("the write was cancelled")
}

#if canImport(AVFoundation)
internal import Dispatch

extension PlayerWatch {
    /// Creates a watch that reads AVPlayer's logs, which can block, on a separate queue.
    convenience init(_ player: any ObservedPlayer) {
        let logs = DispatchQueue(label: "instrument.avplayer.logs")
        self.init(player) { read in logs.async { read() } }
    }
}
#endif

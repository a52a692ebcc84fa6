internal import Instrument

/// An event of libVLC, copied out of the callback: what it points to is gone after the callback.
struct VLCEvent: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case opening, playing, paused, stopped, endReached, failed, mediaChanged
        case buffering(percent: Double)
        case time(milliseconds: Int64)
        case position(Double)
        case length(milliseconds: Int64)
        case pictureOutputs(Int)
        case trackSelected
        case volume(Double)
        case muted(Bool)
        case message(String)
    }

    var kind: Kind
    var instant: MonotonicInstant
    /// The thread that called.
    var thread: UInt

    /// The value that is not possible, for a diagnostic; nil if all is possible.
    var impossibleValue: String? {
        switch kind {
        case .buffering(let percent) where !(0...100).contains(percent): "buffering of \(percent) %"
        case .time(let milliseconds) where !VLCEvent.times.contains(milliseconds): "a time of \(milliseconds) ms"
        case .position(let position) where !(-0.01...1.01).contains(position): "a position of \(position)"
        case .length(let milliseconds) where !VLCEvent.times.contains(milliseconds): "a length of \(milliseconds) ms"
        case .pictureOutputs(let count) where count < 0: "\(count) picture outputs"
        // Negative: there is no sound output.
        case .volume(let volume) where !volume.isFinite: "a volume of \(volume)"
        default: nil
        }
    }

    /// Up to 285 years: libVLC counts microseconds.
    private static let times = Int64(0)...9_000_000_000_000
}

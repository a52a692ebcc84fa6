import AVFoundation
import Dispatch
import Foundation
import Instrument
import Synchronization

@testable import InstrumentAVPlayer

/// Lets everything happen that was sent to the main queue, and what that sends there in turn.
func settle() async {
    for _ in 0..<10 {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }
}

/// Holds the main thread until `body` has returned on another one.
@MainActor
func blockMainThread(_ body: @escaping @Sendable () -> Void) {
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        body()
        end.signal()
    }
    end.wait()
}

/// Records reports, and lets a test wait for them.
final class Collected<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiter: (isEnough: @Sendable ([Element]) -> Bool, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Lock(State())

    var all: [Element] { state.withLock { $0.elements } }

    func append(_ element: Element) {
        let waiter = state.withLock { state in
            state.elements.append(element)
            guard let waiter = state.waiter, waiter.isEnough(state.elements) else {
                return CheckedContinuation<Void, Never>?.none
            }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    func wait(until isEnough: @escaping @Sendable ([Element]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if isEnough(state.elements) { return true }
                state.waiter = (isEnough, continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}

/// A player, its monitor, and the monitor's signals.
@MainActor
struct Watched {
    let clock = VirtualClock()
    let player: AVPlayer
    let monitor: AVPlayerMonitor
    let signals = Collected<PlayerSignal>()

    init(_ player: AVPlayer = AVPlayer()) {
        self.player = player
        monitor = AVPlayerMonitor(player, clock: clock)
    }

    func listen() async {
        let signals = signals
        monitor.report { signals.append($0) }
        await settle()
    }

    /// Plays for a duration, with an observation every quarter of a second.
    func run(_ seconds: Double, from position: Double = 0) async {
        player.simulate(time: position)
        for step in 1...Int(seconds * 4) {
            clock.advance(by: .milliseconds(250))
            player.simulate(time: position + Double(step) / 4)
        }
        await settle()
    }

    func start(_ item: AVPlayerItem) async {
        player.replaceCurrentItem(with: item)
        await settle()
        player.play()
        await run(1)
    }

    var actions: [String] { signals.all.map(\.action.name) }
}

func film(_ name: String = "film") -> AVPlayerItem {
    AVPlayerItem(
        asset: AVURLAsset(
            url: URL(string: "https://user:secret@cdn.example/\(name).m3u8?token=1") ?? URL(fileURLWithPath: "/")
        )
    )
}

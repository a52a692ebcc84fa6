import Foundation
import Instrument

/// The app's player: plays a WAV file through `aplay` if available, otherwise silently.
///
/// The conformance to `Player` makes the player measurable: a name, a status, and signals. Including playback, it takes
/// about a hundred lines, as for any other player.
final class WavePlayer: Player, @unchecked Sendable {
    // Sendable: all mutable state is accessed under `lock` only.
    private let lock = NSLock()
    private let file: WaveFile
    private let output: FileHandle
    private let speaker: Process?
    private var observer: (@Sendable (PlayerSignal) -> Void)?
    private var offset = 0
    private var isPaused = false
    private var isStopped = false

    let name = "WavePlayer"

    init(_ file: WaveFile) {
        self.file = file
        (output, speaker) = Self.openSpeaker(file) ?? (.nullDevice, nil)
    }

    var status: PlayerStatus {
        var status = PlayerStatus()
        let offset = lock.withLock { self.offset }
        status.position = .nanoseconds(offset * 1_000_000_000 / file.bytesPerSecond)
        status.duration = file.duration
        status.bitrate = file.bytesPerSecond * 8
        status.title = (file.path as NSString).lastPathComponent
        status.source = file.path
        status.volume = 100
        return status
    }

    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { lock.withLock { self.observer = observer } }

    /// Plays to the end or until stopped, then returns.
    func play() async {
        signal(.mediaRequest)
        signal(.streamLoad)
        signal(.start)
        // 40 ms at a time; the buffer of the sound card hides small delays.
        let piece = file.bytesPerSecond / 25 / file.frameSize * file.frameSize
        while let sound = nextPiece(piece) {
            if !sound.isEmpty { try? output.write(contentsOf: sound) }
            try? await Task.sleep(for: .milliseconds(40))
        }
        signal(lock.withLock { isStopped } ? .stop : .end)
        try? output.close()
    }

    func togglePause() {
        let isPaused = lock.withLock {
            self.isPaused.toggle()
            return self.isPaused
        }
        signal(isPaused ? .pauseBegin : .pauseFinish)
    }

    func seek(to position: Duration) {
        signal(.seekBegin)
        lock.withLock {
            let wanted = Int(Double(file.bytesPerSecond) * (position / .seconds(1)))
            offset = min(max(0, wanted / file.frameSize * file.frameSize), file.sound.count)
        }
        signal(.seekFinish)
    }

    func stop() { lock.withLock { isStopped = true } }

    /// The next audio data; empty during a pause, nil at the end.
    private func nextPiece(_ size: Int) -> Data? {
        lock.withLock {
            if isStopped || offset >= file.sound.count { return nil }
            if isPaused { return Data() }
            let start = file.sound.startIndex + offset
            let sound = file.sound[start..<min(start + size, file.sound.endIndex)]
            offset += sound.count
            return sound
        }
    }

    private func signal(_ action: Action) {
        let observer = lock.withLock { self.observer }
        observer?(PlayerSignal(action))
    }

    private static func openSpeaker(_ file: WaveFile) -> (FileHandle, Process)? {
        let aplay = "/usr/bin/aplay"
        // Without a sound card, `aplay` is not started.
        let isAudible = FileManager.default.fileExists(atPath: "/dev/snd")
        guard isAudible, FileManager.default.isExecutableFile(atPath: aplay) else { return nil }
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: aplay)
        process.arguments = [
            "-q", "-f", "S16_LE", "-c", "\(file.frameSize / 2)", "-r", "\(file.bytesPerSecond / file.frameSize)",
        ]
        process.standardInput = pipe
        guard (try? process.run()) != nil else { return nil }
        return (pipe.fileHandleForWriting, process)
    }
}

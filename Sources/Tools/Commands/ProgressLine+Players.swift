internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentMPV
internal import InstrumentTerminal
internal import InstrumentVLCRemote

extension ProgressLine {
    /// The progress of a player in another process.
    static func text(of player: MPVPlayer) -> TerminalText {
        guard player.isConnected else { return "… waiting for the player" }
        let status = player.status
        guard let position = status.position else { return "… nothing is playing" }
        let symbol = player.isPaused ? "⏸" : player.isPlaying ? "▶" : "…"
        let length = status.duration.map { " / " + clock($0) } ?? ""
        let buffered = player.bufferedDuration.map { "  buffer " + seconds($0) } ?? ""
        let title = status.title.map { "  " + $0 } ?? ""
        return "\(symbol) \(clock(position))\(length)\(buffered)\(title)"
    }

    /// The progress of a VLC in another process.
    static func text(of player: VLCRemotePlayer) -> TerminalText {
        guard player.isConnected else { return "… waiting for the player" }
        let status = player.status
        guard let position = status.position else { return "… nothing is playing" }
        let symbol = player.isPaused ? "⏸" : player.isPlaying ? "▶" : "…"
        let length = status.duration.map { " / " + clock($0) } ?? ""
        let title = (status.title ?? status.source).map { "  " + $0 } ?? ""
        return "\(symbol) \(clock(position))\(length)\(title)"
    }
}

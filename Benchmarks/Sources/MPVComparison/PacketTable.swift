import Foundation
import InstrumentOrigin

/// Which byte of a transport stream brings which moment of it, as ffprobe says; and from that, what a player with a given
/// threshold shows over a given link. Independent of the probe and its model.
struct PacketTable {
    private struct Packet {
        var isVideo: Bool
        /// Seconds from the start of the media.
        var end: Double
        /// So many bytes have to have come: a packet is complete when the next one of its stream begins.
        var bytes: Int
    }

    private var packets: [Packet] = []

    init(of path: String) throws {
        let lines = try Self.output(of: [
            "ffprobe", "-v", "error", "-show_entries", "packet=codec_type,pts_time,duration_time,pos", "-of", "csv=p=0",
            path,
        ])
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        var origin = Double.infinity
        var waiting: [Bool: (end: Double, position: Int)] = [:]
        for line in lines.split(separator: "\n") {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count >= 4, let time = Double(fields[1]), let length = Double(fields[2]) else { continue }
            // Sound comes several frames a packet of the container: the others have no place of their own.
            guard let position = Int(fields[3]) ?? waiting[fields[0] == "video"]?.position else { continue }
            let isVideo = fields[0] == "video"
            origin = min(origin, time)
            if let before = waiting[isVideo] {
                packets.append(Packet(isVideo: isVideo, end: before.end, bytes: position + 188))
            }
            waiting[isVideo] = (time + length, position)
        }
        for (isVideo, last) in waiting { packets.append(Packet(isVideo: isVideo, end: last.end, bytes: size)) }
        for index in packets.indices { packets[index].end -= origin }
        packets.sort { $0.bytes < $1.bytes }
    }

    /// What is shown: playback begins, and goes on after a stall, when `threshold` seconds are there, and stalls when the
    /// playhead meets the end of what is there of picture or sound.
    func viewing(over schedule: DeliverySchedule, after bytes: Int, threshold: Double) -> Viewing {
        var viewing = Viewing(outcome: "")
        var (video, audio) = (0.0, 0.0)
        // While it plays: when the playhead would have been at the start of the media.
        var playing: Double?
        var (playhead, stalledAt) = (0.0, 0.0)
        for packet in packets {
            guard let arrival = schedule.instant(ofByte: bytes + packet.bytes, startingAt: .zero) else { break }
            let now = arrival / .seconds(1)
            let buffered = min(video, audio)
            if let zero = playing, now - zero > buffered, packet.end > buffered {
                (playing, playhead, stalledAt) = (nil, buffered, zero + buffered)
            }
            if packet.isVideo { video = max(video, packet.end) } else { audio = max(audio, packet.end) }
            let isLast = packet.bytes == packets.last?.bytes
            guard playing == nil, min(video, audio) - playhead >= threshold || isLast else { continue }
            if viewing.start == nil {
                viewing.start = now
            } else {
                viewing.stalls.append(Viewing.Stall(begin: stalledAt, length: now - stalledAt))
            }
            playing = now - playhead
        }
        return viewing
    }

    private static func output(of command: [String]) throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}

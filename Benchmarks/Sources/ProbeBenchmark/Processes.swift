import Foundation

/// The origin, as a separate process, so that its cost does not count as the player's.
final class OriginProcess {
    let address: String
    private let process = Process()
    private let input = Pipe()

    init() throws {
        let output = Pipe()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["origin"]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data([10]), !byte.isEmpty {
            line += byte
        }
        address = String(decoding: line, as: UTF8.self)
    }

    var processorTime: Double { usage(of: process.processIdentifier).seconds }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

/// Other ways to play the same without showing it.
enum Peer {
    static func ffmpeg(_ address: String) -> [String] {
        ["ffmpeg", "-nostdin", "-v", "quiet", "-re", "-i", address, "-c", "copy", "-f", "null", "-"]
    }
    static func mpv(_ address: String) -> [String] {
        ["mpv", "--no-config", "--really-quiet", "--no-terminal", "--vo=null", "--ao=null", address]
    }
}

/// The cost of a peer with one process per stream.
func measurePeer(_ name: String, _ words: [String], _ options: Options) throws -> Row {
    let processes = (0..<options.peers).map { _ in
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        return process
    }
    for process in processes { try process.run() }
    Thread.sleep(forTimeInterval: 8)
    let before = processes.map { usage(of: $0.processIdentifier).seconds }.reduce(0, +)
    Thread.sleep(forTimeInterval: options.seconds)
    let after = processes.map { usage(of: $0.processIdentifier) }
    // Not by SIGTERM, which a child of a task's thread may have inherited as blocked.
    for process in processes where process.isRunning { kill(process.processIdentifier, SIGKILL) }
    for process in processes { process.waitUntilExit() }
    let minutes = options.seconds / 60 * Double(options.peers)
    return Row(
        name: name,
        count: options.peers,
        processorSeconds: (after.map(\.seconds).reduce(0, +) - before) / minutes,
        megabytes: Double(after.map(\.bytes).reduce(0, +)) / 1e6 / Double(options.peers)
    )
}

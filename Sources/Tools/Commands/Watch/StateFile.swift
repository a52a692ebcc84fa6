internal import Instrument
internal import InstrumentFiles
internal import InstrumentMonitor
internal import InstrumentMonitorRuntime
internal import InstrumentWatch

/// The files with the state of alerts, which is replaced as a whole, and with the history of streams, which grows.
struct StateFile: HistoryStore {
    private let path: String
    private let historyPath: String
    /// The history of the first version.
    private let oldHistoryPath: String
    private let evidencePath: String
    /// Whether a problem with the history was reported, and has not ended.
    private let hasProblem = Lock(false)
    /// Whether a problem with the state was reported, and has not ended.
    private let hasStateProblem = Lock(false)
    private let log: WatchLog

    /// - Parameter shard: the part of the streams that this process watches, so that several processes may share a
    ///   directory.
    init(directory: String, shard: Shard?, log: WatchLog) {
        let part = shard.map { "-\($0.number)-of-\($0.count)" } ?? ""
        path = directory + "/monitor\(part).json"
        (historyPath, oldHistoryPath) = (directory + "/history\(part).bin", directory + "/history\(part).json")
        evidencePath = directory + "/evidence\(part)"
        self.log = log
    }

    /// Deletes what a crash left of files that were about to be replaced: the history is long.
    func removeLeftovers() {
        for path in [path, historyPath] {
            do throws(FileError) { try SmallFile.removeLeftovers(of: path) } catch { log.warning("\(error)") }
        }
    }

    /// Reads the state; nil without one. A file that cannot be read is reported and ignored.
    func read() -> SavedMonitor? {
        do throws(FileError) {
            guard let bytes = try SmallFile.read(path, atMost: 256 << 20) else { return nil }
            guard let saved = SavedMonitor(bytes) else {
                let kept = Self.keep(path, log)
                log.warning("\(path) is not a state of this version\(kept); alerts start without their history")
                return nil
            }
            return saved
        } catch {
            log.warning("\(error)\(Self.keep(path, log)); alerts start without their history")
            return nil
        }
    }

    /// Keeps a file that cannot be read beside the one that will replace it, and returns a part of a sentence that says
    /// so: a newer version, or a person, may be able to read it.
    static func keep(_ path: String, _ log: WatchLog) -> String {
        do throws(FileError) { return ", and is kept as \(try SmallFile.keepAside(path))" } catch {
            log.warning("\(error); what is there will be replaced")
            return ""
        }
    }

    /// Reports that only a part of the state could be read.
    func warnOfDamagedIncidents() {
        let kept = Self.keep(path, log).replacing(", and is kept as", with: ", and the file is kept as")
        log.warning(
            "the incidents in \(path) cannot be read\(kept); alerts that fire open new incidents, and silences and the audit log start empty"
        )
    }

    /// Reads the history into a model. A file that cannot be read is reported and ignored.
    func readHistory(into model: inout MonitorModel, at now: WallTime) {
        var file = historyPath
        do throws(FileError) {
            var bytes = try SmallFile.read(file, atMost: 1 << 30)
            if bytes == nil {
                file = oldHistoryPath
                bytes = try SmallFile.read(file, atMost: 1 << 30)
            }
            guard let bytes else { return }
            guard let reading = model.restoreHistory(bytes, at: now) else {
                let kept = Self.keep(file, log)
                log.warning("\(file) is not a history of this version\(kept); the charts start empty")
                return
            }
            if reading.damages > 0 {
                let places = reading.damages == 1 ? "1 place" : "\(reading.damages) places"
                log.warning("\(file) is damaged in \(places); the charts lack what was written there")
            }
        } catch {
            log.warning("\(error)\(Self.keep(file, log)); the charts start empty")
        }
    }

    /// The folder with the evidence, whose pieces are read into a model; those for which there is no room are deleted.
    func readEvidence(into model: inout MonitorModel) -> EvidenceFolder {
        let folder = EvidenceFolder(evidencePath) { [log] in log.warning($0) }
        for id in model.evidence.restore(folder.entries()) { folder.remove(id) }
        return folder
    }

    func replace(_ next: () -> [UInt8]?) -> Bool {
        attempt("history", hasProblem) { () throws(FileError) in
            try SmallFile.write(to: historyPath, pieces: next)
            try SmallFile.remove(oldHistoryPath)
        }
    }

    func append(_ bytes: [UInt8]) -> Bool {
        attempt("history", hasProblem) { () throws(FileError) in try SmallFile.append(bytes, to: historyPath) }
    }

    /// Reports a problem once, until the file can be written again.
    private func attempt(
        _ subject: String,
        _ hasProblem: Lock<Bool>,
        _ work: () throws(FileError) -> Void
    ) -> Bool {
        do throws(FileError) {
            try work()
            hasProblem.withLock { $0 = false }
            return true
        } catch {
            let isNew = hasProblem.withLock { known in
                defer { known = true }
                return !known
            }
            if isNew { log.warning("\(error); the \(subject) is kept in memory, and written as soon as it can be") }
            return false
        }
    }

    func write(_ bytes: [UInt8]) {
        _ = attempt("state", hasStateProblem) { () throws(FileError) in try SmallFile.write(bytes, to: path) }
    }
}

internal import Instrument
internal import InstrumentFiles
internal import InstrumentMonitor
internal import InstrumentWatch

/// The files with the state of alerts and with the history of streams, each replaced as a whole.
struct StateFile: Sendable {
    private let path: String
    private let historyPath: String
    private let log: WatchLog

    /// - Parameter shard: the part of the streams that this process watches, so that several processes may share a
    ///   directory.
    init(directory: String, shard: Shard?, log: WatchLog) {
        let part = shard.map { "-\($0.number)-of-\($0.count)" } ?? ""
        (path, historyPath) = (directory + "/monitor\(part).json", directory + "/history\(part).json")
        self.log = log
    }

    /// Reads the state; nil without one. A file that cannot be read is reported and ignored.
    func read() -> SavedMonitor? {
        do throws(FileError) {
            guard let bytes = try SmallFile.read(path, atMost: 256 << 20) else { return nil }
            guard let saved = SavedMonitor(bytes) else {
                log.warning("\(path) is not a state of this version; alerts start without their history")
                return nil
            }
            return saved
        } catch {
            log.warning("\(error); alerts start without their history")
            return nil
        }
    }

    /// Reports that only a part of the state could be read.
    func warnOfDamagedIncidents() {
        log.warning(
            "the incidents in \(path) cannot be read; alerts that fire open new incidents, and silences and the audit log start empty"
        )
    }

    /// Reads the history into a model. A file that cannot be read is reported and ignored.
    func readHistory(into model: inout MonitorModel, at now: WallTime) {
        do throws(FileError) {
            guard let bytes = try SmallFile.read(historyPath, atMost: 1 << 30) else { return }
            if !model.restoreHistory(bytes, at: now) {
                log.warning("\(historyPath) is not a history of this version; the charts start empty")
            }
        } catch {
            log.warning("\(error); the charts start empty")
        }
    }

    func writeHistory(_ bytes: [UInt8]) {
        do throws(FileError) { try SmallFile.write(bytes, to: historyPath) } catch { log.warning("\(error)") }
    }

    func write(_ bytes: [UInt8]) {
        do throws(FileError) { try SmallFile.write(bytes, to: path) } catch { log.warning("\(error)") }
    }
}

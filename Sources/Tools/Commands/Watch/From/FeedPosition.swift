internal import Instrument
internal import InstrumentFiles
internal import InstrumentJSON

/// Where the reading of a source continues, in the directory of `--state`.
struct FeedPosition: Sendable {
    private let path: String
    private let source: String
    private let warn: @Sendable (String) -> Void

    /// - Parameter source: the source without secrets: the position of another one means nothing.
    init(directory: String, source: String, warn: @escaping @Sendable (String) -> Void) {
        (path, self.source, self.warn) = (directory + "/from.json", source, warn)
    }

    /// The position that an earlier process kept; nil without one. A file that cannot be read is reported and ignored.
    func read() -> JSONValue? {
        do throws(FileError) {
            guard let bytes = try SmallFile.read(path, atMost: 16 << 20) else { return nil }
            guard let json = try? JSONValue(parsing: bytes), json["version"] == 1, let position = json["position"]
            else {
                warn("\(path) is no position of this version\(kept); reading begins as --since says")
                return nil
            }
            guard json["source"]?.string == source else {
                warn("\(path) is the position of another source; reading begins as --since says")
                return nil
            }
            return position
        } catch {
            warn("\(error)\(kept); reading begins as --since says")
            return nil
        }
    }

    /// Keeps a file that cannot be read beside the one that will replace it, and says so.
    private var kept: String {
        (try? SmallFile.keepAside(path)).map { ", and is kept as \($0)" } ?? ""
    }

    func write(_ position: JSONValue) {
        let json: JSONValue = ["version": 1, "source": .string(source), "position": position]
        do throws(FileError) { try SmallFile.write(json.bytes, to: path) } catch { warn("\(error)") }
    }
}

internal import Instrument
internal import InstrumentFiles
internal import NIOCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The user's files, under `media/`: a folder's content, or files by their names. Files outside are never served.
struct ServedFiles: Sendable {
    /// Folders, with symbolic links resolved.
    private var folders: [String] = []
    private var files: [String: String] = [:]

    init(_ paths: [String]) throws(OriginError) {
        for path in paths {
            let resolved = LocalPath.canonical(path)
            var status = stat()
            guard stat(path, &status) == 0 else {
                throw OriginError(.noSuchMedia, "\(path) does not exist. Give the path of an existing folder or file.")
            }
            if status.st_mode & S_IFMT == S_IFDIR {
                folders.append(resolved)
            } else {
                files[path.split(separator: "/").last.map(String.init) ?? path] = resolved
            }
        }
    }

    func resource(_ names: [String]) -> Resource? {
        // Names that could lead outside are invalid: an empty name, `.`, `..`, or a hidden name.
        guard !names.isEmpty, !names.contains(where: { $0.isEmpty || $0.hasPrefix(".") || $0.contains("/") }) else {
            return nil
        }
        let path = names.joined(separator: "/")
        if let file = files[path] { return Self.resource(file, path) }
        for folder in folders {
            let resolved = LocalPath.canonical(folder + "/" + path)
            // A link may lead outside as well.
            if resolved.hasPrefix(folder + "/"), let found = Self.resource(resolved, path) { return found }
        }
        return nil
    }

    private static func resource(_ file: String, _ path: String) -> Resource? {
        OpenFile(path: file).map { Resource(ContentType.of(path: path), .file($0, 0..<$0.size)) }
    }

    /// Files, and playlists, manifests and films in folders: at most a thousand, among the first 50,000 files.
    var catalogue: [CatalogueEntry] {
        var entries = files.keys.sorted().map { CatalogueEntry("media/\($0)", "a file of yours") }
        let endings = [".m3u8", ".mpd", ".mp4", ".ts", ".mkv", ".webm", ".mov", ".mp3", ".m4a"]
        for folder in folders {
            var seen = 0
            // Names relative to the folder, the next one last. Links are listed and not followed.
            var names = Self.listed(folder, "")
            while entries.count < 1_000, seen < 50_000, let name = names.popLast() {
                seen += 1
                if endings.contains(where: { name.lowercased().hasSuffix($0) }) {
                    entries.append(CatalogueEntry("media/\(name)", "a file of yours"))
                } else {
                    names += Self.listed(folder, name)
                }
            }
        }
        return entries
    }

    /// The names in a folder below `folder`, last first, without hidden ones; empty for a file or a link.
    private static func listed(_ folder: String, _ name: String) -> [String] {
        let path = name.isEmpty ? folder : folder + "/" + name
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return [] }
        let names = (try? Folder.names(in: path)) ?? []
        return names.reversed().filter { !$0.hasPrefix(".") }.map { name.isEmpty ? $0 : name + "/" + $0 }
    }
}

internal import Foundation
internal import NIOCore

/// The user's files, under `media/`: a folder's content, or files by their names. Files outside are never served.
struct ServedFiles: Sendable {
    /// Folders, with symbolic links resolved.
    private var folders: [String] = []
    private var files: [String: String] = [:]

    init(_ paths: [String]) throws(OriginError) {
        for path in paths {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw OriginError(.noSuchMedia, "\(path) does not exist. Give the path of an existing folder or file.")
            }
            let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
            if isFolder.boolValue {
                folders.append(url.path)
            } else {
                files[URL(fileURLWithPath: path).lastPathComponent] = url.path
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
            let resolved = URL(fileURLWithPath: folder + "/" + path).resolvingSymlinksInPath().path
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
            let found = FileManager.default.enumerator(atPath: folder)
            var seen = 0
            while entries.count < 1_000, seen < 50_000, let name = found?.nextObject() as? String {
                seen += 1
                let isHidden = name.split(separator: "/").contains { $0.hasPrefix(".") }
                if !isHidden, endings.contains(where: { name.lowercased().hasSuffix($0) }) {
                    entries.append(CatalogueEntry("media/\(name)", "a file of yours"))
                }
            }
        }
        return entries
    }
}

import Foundation
import InstrumentFiles
import LoopbackServers
import Testing

@Suite("Folders")
struct FolderTests {
    @Test("A folder is removed with everything in it, and what its links name stays")
    func removal() throws {
        let scratch = try Scratch()
        let files = FileManager.default
        let (folder, other) = (scratch.path + "/folder", scratch.path + "/other")
        try Folder.create(folder + "/a/b")
        try Folder.create(other)
        for path in [folder + "/a/b/file", other + "/kept"] {
            #expect(files.createFile(atPath: path, contents: Data()))
        }
        try files.createSymbolicLink(atPath: folder + "/a/link", withDestinationPath: other)
        Folder.remove(folder)
        #expect(!files.fileExists(atPath: folder))
        #expect(files.fileExists(atPath: other + "/kept"))
        Folder.remove(folder)
    }
}

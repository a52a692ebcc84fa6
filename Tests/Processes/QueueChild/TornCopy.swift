import CDurableShim
import Foundation

/// A copy into a mapped file that ends in the middle.
enum TornCopy {
    /// Maps a file, cuts it to a half, and copies `count` ones over the middle of what was mapped, as a segment's
    /// records are copied. The system ends the process at the first byte behind the cut.
    static func run(over path: String, count: Int) -> Never {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0,
            let base = mmap(nil, Int(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            base != MAP_FAILED, ftruncate(descriptor, status.st_size / 2) == 0
        else { fail("cannot map \(path)") }
        let ones = [UInt8](repeating: 1, count: count)
        durable_copy_forward(base + (Int(status.st_size) - count) / 2, ones, count)
        fail("the copy did not end the process")
    }
}

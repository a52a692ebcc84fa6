internal import CFFmpeg
package import Instrument

extension LinkedLibrary {
    /// FFmpeg with its libraries and its licence, which holds for the program as a whole: a build of FFmpeg with
    /// `--enable-gpl` makes it GPL.
    package static var ffmpeg: LinkedLibrary {
        let libraries = [
            ("libavformat", avformat_version()), ("libavcodec", avcodec_version()), ("libavutil", avutil_version()),
        ]
        let versions = libraries.map { name, version in
            "\(name) \(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
        }
        let licence = avformat_license().map { String(cString: $0) } ?? "unknown licence"
        let version = av_version_info().map { String(cString: $0) } ?? "unknown"
        return LinkedLibrary("FFmpeg", version, details: versions + [licence])
    }
}

internal import CFFmpeg
package import Instrument

extension LinkedLibrary {
    /// FFmpeg with its libraries and its licence, which holds for the program as a whole: a build of FFmpeg with
    /// `--enable-gpl` makes it GPL.
    ///
    /// Asks libavutil alone, the only one of the three libraries that the installed program loads at its start: the
    /// others load about ninety further libraries. Their major versions are those that the program was built with,
    /// because these are a part of the libraries' names.
    package static var ffmpeg: LinkedLibrary {
        let version = av_version_info().map { String(cString: $0) } ?? "unknown"
        let licence = avutil_license().map { String(cString: $0) } ?? "unknown licence"
        let names = ["libavformat \(LIBAVFORMAT_VERSION_MAJOR)", "libavcodec \(LIBAVCODEC_VERSION_MAJOR)"]
        let utilities = avutil_version()
        let numbers = "\(utilities >> 16).\(utilities >> 8 & 0xFF).\(utilities & 0xFF)"
        return LinkedLibrary("FFmpeg", version, details: names + ["libavutil \(numbers)", licence])
    }
}

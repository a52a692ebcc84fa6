/// Media types by file extension (IANA's registry; RFC 8216, section 10; ISO/IEC 23009-1, annex C).
enum ContentType {
    static let hls = "application/vnd.apple.mpegurl"
    static let dash = "application/dash+xml"
    static let dashPatch = "application/dash-patch+xml"
    static let html = "text/html; charset=utf-8"
    static let text = "text/plain; charset=utf-8"
    static let jsonLines = "application/x-ndjson"

    static func of(path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return "application/octet-stream" }
        switch name[name.index(after: dot)...].lowercased() {
        case "m3u8": return hls
        case "mpd": return dash
        case "mpp": return dashPatch
        case "ts", "m2ts": return "video/mp2t"
        case "mp4", "m4v", "m4s": return "video/mp4"
        case "m4a": return "audio/mp4"
        case "mkv": return "video/x-matroska"
        case "webm": return "video/webm"
        case "mov": return "video/quicktime"
        case "mp3": return "audio/mpeg"
        case "aac": return "audio/aac"
        case "wav": return "audio/wav"
        case "vtt": return "text/vtt"
        case "ttml": return "application/ttml+xml"
        case "html", "htm": return html
        case "json": return "application/json"
        case "txt": return text
        case "ico": return "image/x-icon"
        default: return "application/octet-stream"
        }
    }
}

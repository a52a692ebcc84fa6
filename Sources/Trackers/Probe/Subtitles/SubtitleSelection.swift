/// The subtitles that a probe fetches beside video and audio.
///
/// Subtitles never delay playback: the probe fetches them, counts their cues, and reports those that are late, missing
/// or malformed (`StreamWarning`).
public enum SubtitleSelection: Hashable, Sendable {
    /// Those that the stream declares for everybody: the default rendition (HLS `DEFAULT=YES`; DASH role `main`), else
    /// forced subtitles in the language of the audio (HLS `FORCED=YES` with `AUTOSELECT=YES`, RFC 8216 section 4.3.4.1;
    /// DASH role `forced-subtitle`). None if the stream declares neither.
    case declared
    /// Those in a language (BCP 47): `en` also finds `en-GB`. Complete subtitles come before forced ones. A stream
    /// without subtitles in the language is a `StreamWarning` with the code `missingSubtitles`.
    case language(String)
    /// None.
    case off
}

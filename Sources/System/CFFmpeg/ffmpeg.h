// What the probe needs of FFmpeg, and the values that Swift cannot see because they are function-like macros.
#ifndef INSTRUMENT_FFMPEG_H
#define INSTRUMENT_FFMPEG_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/aes.h>
#include <libavutil/avutil.h>
#include <libavutil/dict.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <libavutil/mathematics.h>
#include <libavutil/pixdesc.h>

static const int64_t ffmpeg_no_timestamp = AV_NOPTS_VALUE;

static const int ffmpeg_error_eof = AVERROR_EOF;
static const int ffmpeg_error_exit = AVERROR_EXIT;
static const int ffmpeg_error_again = AVERROR(EAGAIN);
static const int ffmpeg_error_invalid_data = AVERROR_INVALIDDATA;
static const int ffmpeg_error_demuxer_not_found = AVERROR_DEMUXER_NOT_FOUND;
static const int ffmpeg_error_protocol_not_found = AVERROR_PROTOCOL_NOT_FOUND;
static const int ffmpeg_error_http_bad_request = AVERROR_HTTP_BAD_REQUEST;
static const int ffmpeg_error_http_unauthorized = AVERROR_HTTP_UNAUTHORIZED;
static const int ffmpeg_error_http_forbidden = AVERROR_HTTP_FORBIDDEN;
static const int ffmpeg_error_http_not_found = AVERROR_HTTP_NOT_FOUND;
static const int ffmpeg_error_http_other_4xx = AVERROR_HTTP_OTHER_4XX;
static const int ffmpeg_error_http_server_error = AVERROR_HTTP_SERVER_ERROR;

#endif

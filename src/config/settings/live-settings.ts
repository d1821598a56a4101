import { hour, second, setting } from './setting.ts';
import { boolean, choice, duration, integer, size, text } from './setting-kinds.ts';

/** Broadcasts, recordings and delivery. */
export const liveSettings = {
  'live.packager': setting(
    'MILLRACE_LIVE_PACKAGER',
    choice(['auto', 'direct', 'ffmpeg']),
    'auto',
    'What packages the media of a broadcast. `auto`: the server itself, and one ffmpeg per broadcast only where audio must be converted to AAC. `direct`: always the server itself; audio that must be converted is refused. `ffmpeg`: one ffmpeg for each broadcast; VP8 is refused.',
  ),
  'live.partTarget': setting(
    'MILLRACE_LIVE_PART_TARGET',
    duration(100, 2 * second),
    '200ms',
    'Target duration of a low-latency part. Viewers play about three parts behind the newest one.',
  ),
  'live.segmentTarget': setting(
    'MILLRACE_LIVE_SEGMENT_TARGET',
    duration(second, 10 * second),
    '2s',
    'Target duration of a segment, which ends at the first keyframe after it.',
  ),
  'live.window': setting(
    'MILLRACE_LIVE_WINDOW',
    duration(6 * second, 600 * second),
    '12s',
    'The playlist lists at least this duration of a broadcast, and at least six segments. More can be listed: see `live.rewind`.',
  ),
  'live.windowBytes': setting(
    'MILLRACE_LIVE_WINDOW_BYTES',
    size(1024 ** 2, 1024 ** 3),
    '64MiB',
    'Maximum memory for the segments of one rendition while the disk is slow or full; the window is shortened to fit.',
  ),
  'live.reconnectGrace': setting(
    'MILLRACE_LIVE_RECONNECT_GRACE',
    duration(0, hour),
    '60s',
    'Time for a publisher to reconnect after its connection was lost and continue the same broadcast. After that, the broadcast ends.',
  ),
  'live.stopGrace': setting(
    'MILLRACE_LIVE_STOP_GRACE',
    duration(0, hour),
    '5s',
    'Time from the stop of the encoder to the end of the broadcast. An encoder that restarts earlier continues the same broadcast.',
  ),
  'live.keyframeTimeout': setting(
    'MILLRACE_LIVE_KEYFRAME_TIMEOUT',
    duration(second, hour),
    '20s',
    'Ends a broadcast without a keyframe for this long.',
  ),
  'live.rewind': setting(
    'MILLRACE_LIVE_REWIND',
    duration(0, 24 * hour),
    '1h',
    'Time that viewers can rewind a running broadcast. Also the time that it can still be played after its end, up to an hour. 0 limits both to `live.window`.',
  ),
  'live.qualities': setting(
    'MILLRACE_LIVE_QUALITIES',
    choice(['passthrough', 'ladder']),
    'passthrough',
    '`passthrough`: broadcasts are delivered as received. `ladder`: they are also encoded at every lower quality. A live stream can override it.',
  ),
  'live.slate': setting(
    'MILLRACE_LIVE_SLATE',
    choice(['still', 'last-frame', 'picture', 'off']),
    'still',
    'Video for viewers while a disconnected publisher may reconnect. `still`: its last keyframe with silence, without encoding; all tested players continue after it. `last-frame` and `picture` (see `live.slatePicture`): encoded, and shown sooner. `off`: gaps in the playlist.',
  ),
  'live.slatePicture': setting(
    'MILLRACE_LIVE_SLATE_PICTURE',
    text,
    null,
    'JPEG or PNG file shown when `live.slate` is `picture`, which requires it.',
  ),
  'live.maxPixels': setting(
    'MILLRACE_LIVE_MAX_PIXELS',
    integer(16_384, 268_435_456),
    9_437_184,
    'Maximum frame size of a broadcast, as width times height in pixels; the default is 4096x2304. A publisher with larger frames is refused with that reason.',
  ),
  'live.maxEncoders': setting(
    'MILLRACE_LIVE_MAX_ENCODERS',
    integer(1, 10_000),
    null,
    'Maximum number of broadcasts that the server encodes at once: those with lower qualities, those that arrive as VP8, and all in the sandbox. Further publishers are refused with that reason. Unset: four per core.',
  ),
  'live.maxEncodersPerProject': setting(
    'MILLRACE_LIVE_MAX_ENCODERS_PER_PROJECT',
    integer(1, 10_000),
    10,
    'Maximum number of broadcasts of one project that the server encodes at once; the sandbox and production of an account are two projects. Further publishers are refused with that reason.',
  ),
  'live.encoderMemory': setting(
    'MILLRACE_LIVE_ENCODER_MEMORY',
    size(256 * 1024 ** 2, 256 * 1024 ** 3),
    '2GiB',
    'Maximum data memory of one ffmpeg that encodes a broadcast.',
  ),
  'pull.max': setting(
    'MILLRACE_PULL_MAX',
    integer(0, 10_000),
    50,
    'Maximum number of sources that the server pulls at once. Sources beyond that wait, and their live streams say so.',
  ),
  'pull.maxPerProject': setting(
    'MILLRACE_PULL_MAX_PER_PROJECT',
    integer(0, 10_000),
    20,
    'Maximum number of sources of one project that the server pulls at once; the sandbox and production of an account are two projects.',
  ),
  'recording.enabled': setting(
    'MILLRACE_RECORDING_ENABLED',
    boolean,
    true,
    'Records every broadcast as a video. A live stream can override it with `record`.',
  ),
  'recording.longest': setting(
    'MILLRACE_RECORDING_LONGEST',
    duration(10 * second, 23 * hour),
    '12h',
    'Maximum duration of a recording; a longer broadcast continues in the next one.',
  ),
  'recording.minFree': setting(
    'MILLRACE_RECORDING_MIN_FREE',
    size(0, 1024 ** 4),
    '1GiB',
    'Free disk space below which recordings stop, so that broadcasts continue.',
  ),
  'delivery.viewerStall': setting(
    'MILLRACE_DELIVERY_VIEWER_STALL',
    duration(second, hour),
    '10s',
    'Disconnects a viewer that reads nothing of a response for this long.',
  ),
} as const;

import { logLevels } from '../shared/logger.ts';
import {
  boolean,
  choice,
  days,
  duration,
  httpUrl,
  integer,
  networks,
  port,
  type SettingKind,
  secret,
  size,
  text,
} from './setting-kinds.ts';

/** One setting: where it can be given, what it is without being given, and what it is for. */
export interface Setting<Value, Default> {
  readonly env: string;
  readonly kind: SettingKind<Value>;
  /** As it would stand in the file; `null` means that the setting is off or chosen by the server. */
  readonly fallback: Default;
  /** For the reference: one or two sentences. */
  readonly prose: string;
}

function setting<Value, const Default extends string | number | boolean | null>(
  env: string,
  kind: SettingKind<Value>,
  fallback: Default,
  prose: string,
): Setting<Value, Default> {
  return { env, kind, fallback, prose };
}

const second = 1000;
const hour = 3600 * second;

/** Every setting. A key `a.b` stands in the file as `{"a": {"b": ...}}`. */
export const settings = {
  host: setting('MILLRACE_HOST', text, '0.0.0.0', 'Address that all listeners bind to.'),
  publicUrl: setting(
    'MILLRACE_PUBLIC_URL',
    httpUrl,
    null,
    'Base of every address that the API hands out. Unset: `http://localhost:<HTTP port>`, or `https://localhost:<HTTPS port>` with a certificate.',
  ),
  dataDir: setting(
    'MILLRACE_DATA_DIR',
    text,
    './media',
    'The one folder that is written to: database, uploads, videos, images of live streams.',
  ),
  'http.port': setting('MILLRACE_HTTP_PORT', port, 8080, 'Port of the API, the player pages and HLS.'),
  'https.port': setting(
    'MILLRACE_HTTPS_PORT',
    port,
    null,
    'Port of the same over TLS with HTTP/2 and HTTP/1.1; needs a certificate.',
  ),
  'http.requestTimeout': setting(
    'MILLRACE_HTTP_REQUEST_TIMEOUT',
    duration(second, 24 * hour),
    '60s',
    'How long a client may take to send the headers and body of an API request.',
  ),
  'http.trustedProxies': setting(
    'MILLRACE_HTTP_TRUSTED_PROXIES',
    networks,
    null,
    'Addresses and networks of reverse proxies, separated by commas, that are believed when `X-Forwarded-For` says who a client is, and `X-Forwarded-Proto` that it uses TLS. Unset: none.',
  ),
  'http.maxConnections': setting(
    'MILLRACE_HTTP_MAX_CONNECTIONS',
    integer(1, 1_000_000),
    20_000,
    'Maximum number of open connections on each of the HTTP and HTTPS ports; further ones are closed at once.',
  ),
  'http.maxConnectionsPerAddress': setting(
    'MILLRACE_HTTP_MAX_CONNECTIONS_PER_ADDRESS',
    integer(0, 1_000_000),
    1000,
    'Maximum number of open HTTP and HTTPS connections from one IPv4 address or IPv6 /64 network. Trusted proxies have no such limit; 0 is no limit.',
  ),
  'rtmp.port': setting('MILLRACE_RTMP_PORT', port, 1935, 'Port that encoders publish to.'),
  'rtmps.port': setting(
    'MILLRACE_RTMPS_PORT',
    port,
    null,
    'Port that encoders publish to over TLS; needs a certificate.',
  ),
  'rtmp.maxConnections': setting(
    'MILLRACE_RTMP_MAX_CONNECTIONS',
    integer(1, 100_000),
    20_000,
    'RTMP connections open at once; more are closed at once.',
  ),
  'rtmp.maxConnectionsPerAddress': setting(
    'MILLRACE_RTMP_MAX_CONNECTIONS_PER_ADDRESS',
    integer(0, 100_000),
    200,
    'Maximum number of open RTMP and RTMPS connections from one IPv4 address or IPv6 /64 network. Trusted proxies have no such limit; 0 is no limit.',
  ),
  'rtmp.handshakeTimeout': setting(
    'MILLRACE_RTMP_HANDSHAKE_TIMEOUT',
    duration(100, 600 * second),
    '10s',
    'How long a connection may take until it publishes.',
  ),
  'rtmp.idleTimeout': setting(
    'MILLRACE_RTMP_IDLE_TIMEOUT',
    duration(second, hour),
    '30s',
    'A publisher that sends nothing for this long is disconnected.',
  ),
  'rtmp.maxMessage': setting(
    'MILLRACE_RTMP_MAX_MESSAGE',
    size(64 * 1024, 16 * 1024 ** 2),
    '8MiB',
    'Largest RTMP message that is taken, that is, the largest video frame.',
  ),
  'rtmp.maxMessageRate': setting(
    'MILLRACE_RTMP_MAX_MESSAGE_RATE',
    integer(100, 1_000_000),
    2000,
    'Maximum RTMP messages per second from one connection, averaged over 10 seconds. An encoder sends one for each frame.',
  ),
  'tls.cert': setting(
    'MILLRACE_TLS_CERT',
    text,
    null,
    'PEM file with the certificate chain. Read again when it changes.',
  ),
  'tls.key': setting('MILLRACE_TLS_KEY', text, null, "PEM file with the certificate's private key."),
  'tls.hsts': setting(
    'MILLRACE_TLS_HSTS',
    duration(0, 730 * 24 * hour),
    '180d',
    'How long browsers use TLS alone for this host name after a request over TLS (`Strict-Transport-Security`). `0s` sends no such header.',
  ),
  'live.partTarget': setting(
    'MILLRACE_LIVE_PART_TARGET',
    duration(100, 2 * second),
    '200ms',
    'Length of a low-latency part. Viewers play about three parts behind the newest one.',
  ),
  'live.segmentTarget': setting(
    'MILLRACE_LIVE_SEGMENT_TARGET',
    duration(second, 10 * second),
    '2s',
    'A segment ends at the first keyframe after this.',
  ),
  'live.window': setting(
    'MILLRACE_LIVE_WINDOW',
    duration(6 * second, 600 * second),
    '12s',
    'How much of a broadcast is in memory; the playlist lists at least that, and at least six segments. What is older is on disk: see `live.rewind`.',
  ),
  'live.windowBytes': setting(
    'MILLRACE_LIVE_WINDOW_BYTES',
    size(1024 ** 2, 1024 ** 3),
    '64MiB',
    'Memory that the segments of one rendition of a broadcast may take; the window is shortened to fit.',
  ),
  'live.reconnectGrace': setting(
    'MILLRACE_LIVE_RECONNECT_GRACE',
    duration(0, hour),
    '60s',
    'A publisher that comes back this soon after its connection was lost continues the same broadcast; then the broadcast ends.',
  ),
  'live.stopGrace': setting(
    'MILLRACE_LIVE_STOP_GRACE',
    duration(0, hour),
    '5s',
    'A broadcast ends this long after its encoder stopped. A restart within this time continues the same broadcast.',
  ),
  'live.keyframeTimeout': setting(
    'MILLRACE_LIVE_KEYFRAME_TIMEOUT',
    duration(second, hour),
    '20s',
    'A broadcast without a keyframe for this long is ended.',
  ),
  'live.rewind': setting(
    'MILLRACE_LIVE_REWIND',
    duration(0, 24 * hour),
    '1h',
    'How far back viewers can go while a broadcast runs, from the disk, and the longest that it can still be played after its end (an hour at most); 0 is no further than `live.window`.',
  ),
  'live.qualities': setting(
    'MILLRACE_LIVE_QUALITIES',
    choice(['passthrough', 'ladder']),
    'passthrough',
    'Whether broadcasts are delivered as they come in only, or also encoded in every quality below. A live stream can choose for itself.',
  ),
  'live.slate': setting(
    'MILLRACE_LIVE_SLATE',
    choice(['still', 'last-frame', 'picture', 'off']),
    'still',
    'Media that viewers get while a publisher that dropped may come back. `still`: its last keyframe in silence, made without an encoder; every player that was tried goes on behind it. `last-frame` and `picture` (see `live.slatePicture`): encoded, and shown sooner. `off`: gaps.',
  ),
  'live.slatePicture': setting(
    'MILLRACE_LIVE_SLATE_PICTURE',
    text,
    null,
    'File with the JPEG or PNG image that `live.slate` shows; needed where that is `picture`.',
  ),
  'live.maxPixels': setting(
    'MILLRACE_LIVE_MAX_PIXELS',
    integer(16_384, 268_435_456),
    9_437_184,
    'Largest picture of a broadcast, as width times height in pixels: 4096x2304 unless set. A publisher that sends a larger one is refused with that reason.',
  ),
  'live.maxEncoders': setting(
    'MILLRACE_LIVE_MAX_ENCODERS',
    integer(1, 10_000),
    null,
    'Maximum number of broadcasts that the server encodes at once, that is, those with lower qualities and all of the sandbox. Further publishers are refused with that reason. Unset: four for every core.',
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
    'Memory that one ffmpeg may take for its data while it encodes a broadcast.',
  ),
  'recording.enabled': setting(
    'MILLRACE_RECORDING_ENABLED',
    boolean,
    true,
    'Whether every broadcast becomes a video. A live stream can choose for itself with `record`.',
  ),
  'recording.longest': setting(
    'MILLRACE_RECORDING_LONGEST',
    duration(10 * second, 23 * hour),
    '12h',
    'A recording that gets this long is closed, and the broadcast goes on in the next one.',
  ),
  'recording.minFree': setting(
    'MILLRACE_RECORDING_MIN_FREE',
    size(0, 1024 ** 4),
    '1GiB',
    'Room on the disk below which recordings stop, so that broadcasts go on.',
  ),
  'delivery.viewerStall': setting(
    'MILLRACE_DELIVERY_VIEWER_STALL',
    duration(second, hour),
    '10s',
    'A viewer who reads nothing of an answer for this long is disconnected.',
  ),
  'uploads.idleTimeout': setting(
    'MILLRACE_UPLOADS_IDLE_TIMEOUT',
    duration(second, hour),
    '60s',
    'An upload that sends nothing for this long is given up.',
  ),
  'uploads.minFree': setting(
    'MILLRACE_UPLOADS_MIN_FREE',
    size(0, 1024 ** 4),
    '2GiB',
    'Room on the disk that uploads and encodes leave free; what would go below is refused. It must be larger than `recording.minFree`, or uploads would stop recordings.',
  ),
  'uploads.maxPerProject': setting(
    'MILLRACE_UPLOADS_MAX_PER_PROJECT',
    integer(0, 1_000_000),
    1000,
    'Maximum number of uploads in progress in one project, that is, in the sandbox or production of an account; 0 is no limit.',
  ),
  'storage.maxPerProject': setting(
    'MILLRACE_STORAGE_MAX_PER_PROJECT',
    size(0, 1024 ** 5),
    null,
    'Maximum size of the files of all videos in one project, that is, in the sandbox or production of an account. Unset: no limit.',
  ),
  'uploads.sourceTimeout': setting(
    'MILLRACE_UPLOADS_SOURCE_TIMEOUT',
    duration(second, 168 * hour),
    '24h',
    'How long fetching a video from an address may take.',
  ),
  'imports.maxConcurrent': setting(
    'MILLRACE_IMPORTS_MAX_CONCURRENT',
    integer(1, 1000),
    16,
    'Maximum number of videos that are fetched from addresses at once, for all projects together. A free place goes to the project with the fewest running imports.',
  ),
  'imports.maxPerProject': setting(
    'MILLRACE_IMPORTS_MAX_PER_PROJECT',
    integer(1, 1000),
    4,
    'Maximum number of videos that are fetched from addresses at once for one project; more wait. Keep it well below `imports.maxConcurrent`.',
  ),
  'imports.minBytesPerSecond': setting(
    'MILLRACE_IMPORTS_MIN_BYTES_PER_SECOND',
    size(0, 1024 ** 3),
    '64KiB',
    'An import fails when the server of its source sends less than this, averaged over a minute; 0 is no minimum.',
  ),
  'uploads.maxPixels': setting(
    'MILLRACE_UPLOADS_MAX_PIXELS',
    integer(16_384, 268_435_456),
    35_389_440,
    'Largest picture of an uploaded video, as width times height in pixels: 8192x4320 unless set. A video with a larger one fails with that reason. A lower value than that of `live.maxPixels` has no effect, because recordings are videos too.',
  ),
  'videos.restore': setting(
    'MILLRACE_VIDEOS_RESTORE',
    days(3650),
    '7d',
    'How long deleted videos stay in the trash, from which they can be restored. `false` deletes them permanently at once; `true` is 90 days. Where the disk is full, the trash is emptied earlier, oldest videos first.',
  ),
  'encode.jobs': setting(
    'MILLRACE_ENCODE_JOBS',
    integer(1, 64),
    null,
    'Videos that are encoded at once. Unset: one for every four cores, at least one.',
  ),
  'encode.preset': setting(
    'MILLRACE_ENCODE_PRESET',
    choice(['ultrafast', 'superfast', 'veryfast', 'faster', 'fast', 'medium', 'slow', 'slower']),
    'veryfast',
    'Preset of x264: slower ones make smaller files.',
  ),
  'encode.memory': setting(
    'MILLRACE_ENCODE_MEMORY',
    size(256 * 1024 ** 2, 256 * 1024 ** 3),
    '8GiB',
    'Memory that one ffmpeg or ffprobe may take for its data while it works on an uploaded file.',
  ),
  'jobs.maxCrashes': setting(
    'MILLRACE_JOBS_MAX_CRASHES',
    integer(1, 100),
    2,
    'A job on a video is given up after the server died this many times while it ran, because its file may be the cause.',
  ),
  'parse.timeout': setting(
    'MILLRACE_PARSE_TIMEOUT',
    duration(second, hour),
    '60s',
    'How long reading the index of one uploaded file may take. A file that takes longer is encoded instead of being played as it is.',
  ),
  'parse.memory': setting(
    'MILLRACE_PARSE_MEMORY',
    size(32 * 1024 ** 2, 4 * 1024 ** 3),
    '128MiB',
    'Heap of the thread that reads the index of an uploaded file. The `moov` itself is not part of it: see `parse.maxMovie`.',
  ),
  'parse.maxMovie': setting(
    'MILLRACE_PARSE_MAX_MOVIE',
    size(1024 ** 2, 1024 ** 3),
    '128MiB',
    'Maximum size of the `moov` (the index of an MP4 or MOV file) that is read. A file with a larger one is encoded instead of being played as it is; 24 hours at 60 fps with audio need about 80 MiB.',
  ),
  'encode.maxDurationFactor': setting(
    'MILLRACE_ENCODE_MAX_DURATION_FACTOR',
    integer(1, 1000),
    30,
    'One run of ffmpeg over an uploaded file may take an hour and this many times the duration of the video; then it is stopped.',
  ),
  'images.maxRunning': setting(
    'MILLRACE_IMAGES_MAX_RUNNING',
    integer(2, 64),
    2,
    'Maximum number of images that are processed at once: uploaded watermarks and thumbnails, frames and previews of videos, frames of broadcasts.',
  ),
  'images.maxWaiting': setting(
    'MILLRACE_IMAGES_MAX_WAITING',
    integer(0, 10_000),
    100,
    'Maximum number of uploaded images that wait to be processed. More are answered with 503 and `Retry-After`.',
  ),
  'images.maxPixels': setting(
    'MILLRACE_IMAGES_MAX_PIXELS',
    integer(1_048_576, 67_108_864),
    50_331_648,
    'Largest uploaded image that is decoded, as width times height in pixels: 8192x6144 unless set. A larger one is refused by its header.',
  ),
  'rateLimit.uploads': setting(
    'MILLRACE_RATE_LIMIT_UPLOADS',
    integer(0, 10_000_000),
    6000,
    'Upload requests a minute and project; 0 is no limit.',
  ),
  'rateLimit.writes': setting(
    'MILLRACE_RATE_LIMIT_WRITES',
    integer(0, 10_000_000),
    6000,
    'Writing API requests a minute and project; 0 is no limit.',
  ),
  'rateLimit.reads': setting(
    'MILLRACE_RATE_LIMIT_READS',
    integer(0, 10_000_000),
    6000,
    'Reading API requests a minute and project; 0 is no limit.',
  ),
  'rateLimit.sandboxUploads': setting(
    'MILLRACE_RATE_LIMIT_SANDBOX_UPLOADS',
    integer(0, 10_000_000),
    null,
    'Upload requests a minute for a sandbox. Unset: as in production.',
  ),
  'rateLimit.sandboxWrites': setting(
    'MILLRACE_RATE_LIMIT_SANDBOX_WRITES',
    integer(0, 10_000_000),
    null,
    'Writing API requests a minute for a sandbox. Unset: as in production.',
  ),
  'rateLimit.sandboxReads': setting(
    'MILLRACE_RATE_LIMIT_SANDBOX_READS',
    integer(0, 10_000_000),
    null,
    'Reading API requests a minute for a sandbox. Unset: as in production.',
  ),
  'rateLimit.wrongKeys': setting(
    'MILLRACE_RATE_LIMIT_WRONG_KEYS',
    integer(0, 10_000_000),
    60,
    'Maximum number of wrong API keys from one IPv4 address or IPv6 /64 network in a minute. After that, keys that were not used from there before get 429 until the minute is over; 0 is no limit.',
  ),
  'analytics.reports': setting(
    'MILLRACE_ANALYTICS_REPORTS',
    integer(0, 10_000_000),
    6000,
    'Reports of players that are taken from one address in a minute; 0 is no limit.',
  ),
  'analytics.geoDatabase': setting(
    'MILLRACE_ANALYTICS_GEO_DATABASE',
    text,
    null,
    'File in the MaxMind DB form that tells countries by addresses. Unset: the one that comes with the server.',
  ),
  'metrics.token': setting(
    'MILLRACE_METRICS_TOKEN',
    secret,
    null,
    'Lets `/metrics` and the details of `/health/ready` be read from elsewhere than this machine, as `Authorization: Bearer <token>`.',
  ),
  'bootstrap.sandboxKey': setting(
    'MILLRACE_BOOTSTRAP_SANDBOX_KEY',
    secret,
    null,
    'First sandbox API key of at least 32 characters, used only when the database is new. Unset: random, printed once.',
  ),
  'bootstrap.productionKey': setting(
    'MILLRACE_BOOTSTRAP_PRODUCTION_KEY',
    secret,
    null,
    'First production API key of at least 32 characters, used only when the database is new. Unset: random, printed once.',
  ),
  'bootstrap.upgraded': setting(
    'MILLRACE_BOOTSTRAP_UPGRADED',
    boolean,
    true,
    'Whether the first account can use production, used only when the database is new. `false`: it starts in the sandbox, as all other accounts do, until it is upgraded.',
  ),
  'bootstrap.secretsFile': setting(
    'MILLRACE_BOOTSTRAP_SECRETS_FILE',
    text,
    null,
    'New file (JSON, mode 0600) that receives the first API keys and the first password, which are then not printed. Used only when the database is new.',
  ),
  'admin.email': setting(
    'MILLRACE_ADMIN_EMAIL',
    text,
    'admin@localhost',
    'E-mail address of the first dashboard sign-in, used only when the database is new.',
  ),
  'admin.password': setting(
    'MILLRACE_ADMIN_PASSWORD',
    secret,
    null,
    'Password of the first dashboard sign-in of at least 12 characters, used only when the database is new. Unset: random, printed once.',
  ),
  allowPrivateTargets: setting(
    'MILLRACE_ALLOW_PRIVATE_TARGETS',
    boolean,
    false,
    'Lets webhooks, restreams and source addresses reach loopback and private networks (link-local metadata addresses never).',
  ),
  'ffmpeg.path': setting(
    'MILLRACE_FFMPEG_PATH',
    text,
    null,
    'The ffmpeg to use. Unset: the first on PATH of version 6.1 or newer, else the first of version 5 or newer, else the newer of an older one there and the embedded one, which is of 2018.',
  ),
  'ffprobe.path': setting(
    'MILLRACE_FFPROBE_PATH',
    text,
    null,
    'The ffprobe to use. Unset: found in the same way as ffmpeg.',
  ),
  drainTimeout: setting(
    'MILLRACE_DRAIN_TIMEOUT',
    duration(0, hour),
    '10s',
    'How long a stop may take to let requests and broadcasts end in order.',
  ),
  'log.level': setting(
    'MILLRACE_LOG_LEVEL',
    choice(logLevels),
    'info',
    'Least severe log line that is written.',
  ),
} as const;

/** The dotted name of a setting. */
export type SettingKey = keyof typeof settings;

type ValueOf<Entry> =
  Entry extends Setting<infer Value, infer Default>
    ? Default extends null
      ? Value | undefined
      : Value
    : never;

/** All settings as values: durations in milliseconds, sizes in bytes, undefined where unset. */
export type Config = { readonly [Key in SettingKey]: ValueOf<(typeof settings)[Key]> };

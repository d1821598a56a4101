import { additionalCodecs } from '../shared/additional-codecs.ts';
import { logLevels } from '../shared/logger.ts';
import { nodeRoles } from '../shared/node-roles.ts';
import {
  boolean,
  choice,
  choices,
  days,
  duration,
  hosts,
  httpUrl,
  integer,
  issuerUrl,
  networks,
  passphrase,
  port,
  postgresUrl,
  publicAddress,
  type SettingKind,
  s3Url,
  secret,
  size,
  text,
} from './setting-kinds.ts';

interface Setting<Value, Default> {
  readonly env: string;
  readonly kind: SettingKind<Value>;
  /** Default as written in the file; `null` means unset, or chosen by the server. */
  readonly fallback: Default;
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
const minute = 60 * second;
const hour = 60 * minute;

/** A key `a.b` is `{"a": {"b": ...}}` in the file. */
export const settings = {
  host: setting('MILLRACE_HOST', text, '0.0.0.0', 'Address that the server listens on.'),
  publicUrl: setting(
    'MILLRACE_PUBLIC_URL',
    publicAddress,
    null,
    'Base URL of all addresses in API responses and pages. May have a path, such as `https://example.org/media`, which a reverse proxy removes or passes on. Unset: `http://localhost:<HTTP port>`, or `https://localhost:<HTTPS port>` with a certificate.',
  ),
  dataDir: setting(
    'MILLRACE_DATA_DIR',
    text,
    './media',
    'The only folder that the server writes to: uploads, videos, recordings, images, and the database unless it is PostgreSQL.',
  ),
  'database.url': setting(
    'MILLRACE_DATABASE_URL',
    postgresUrl,
    null,
    'PostgreSQL database, such as `postgres://USER:PASSWORD@HOST:5432/DATABASE`. Prefer the environment variable: other users of the machine can see flags. Unset: SQLite, in the data folder.',
  ),
  'node.roles': setting(
    'MILLRACE_NODE_ROLES',
    choices(nodeRoles),
    'api,ingest,delivery,worker',
    'Work of this server among those that share a PostgreSQL database, separated by commas: `api` (the API and the dashboard), `ingest` (publishers, and viewers of their broadcasts), `delivery` (viewers), `worker` (encodes and other jobs).',
  ),
  'node.url': setting(
    'MILLRACE_NODE_URL',
    httpUrl,
    null,
    'Base URL at which viewers and the other servers of the same database reach this one. Unset: the public URL.',
  ),
  'node.lease': setting(
    'MILLRACE_NODE_LEASE',
    duration(2 * second, 10 * minute),
    '15s',
    'Time after which the servers that share a PostgreSQL database take over the work of a server that has died. Each renews its lease three times in this time; one that cannot renew it for two thirds of the time stops its jobs and broadcasts. Use the same value on all servers.',
  ),
  mediaUrl: setting(
    'MILLRACE_MEDIA_URL',
    httpUrl,
    null,
    'Base URL of the media that this server packages, such as a CDN in front of it. Unset: the address of this server.',
  ),
  'storage.url': setting(
    'MILLRACE_STORAGE_URL',
    s3Url,
    null,
    'S3-compatible storage of finished media, such as `s3://KEY:SECRET@BUCKET/PREFIX?endpoint=https://HOST&region=REGION`; `pathStyle=true` or `false` says where the bucket goes. Without KEY and SECRET, the variables and files of the AWS SDK count (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`). Prefer the environment variable: other users of the machine can see flags. Unset: the data folder.',
  ),
  'storage.cacheSize': setting(
    'MILLRACE_STORAGE_CACHE_SIZE',
    size(0, 1024 ** 5),
    '10GiB',
    'Maximum disk space in the data folder for copies of files of the S3 storage. 0 keeps none.',
  ),
  'storage.redirectDownloads': setting(
    'MILLRACE_STORAGE_REDIRECT_DOWNLOADS',
    boolean,
    false,
    'Sends MP4 downloads to addresses on the S3 storage that are valid for a short time. Its endpoint must be reachable for viewers.',
  ),
  'http.port': setting('MILLRACE_HTTP_PORT', port, 8080, 'HTTP port for the API, player pages and HLS.'),
  'https.port': setting(
    'MILLRACE_HTTPS_PORT',
    port,
    null,
    'HTTPS port for the same, with HTTP/2 and HTTP/1.1. Requires a certificate.',
  ),
  'http.requestTimeout': setting(
    'MILLRACE_HTTP_REQUEST_TIMEOUT',
    duration(second, 24 * hour),
    '60s',
    'Maximum time that a client may take to send the headers and body of an API request.',
  ),
  'http.trustedProxies': setting(
    'MILLRACE_HTTP_TRUSTED_PROXIES',
    networks,
    null,
    'Addresses and networks of reverse proxies, separated by commas. Their `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted. Unset: none.',
  ),
  'http.maxConnections': setting(
    'MILLRACE_HTTP_MAX_CONNECTIONS',
    integer(1, 1_000_000),
    20_000,
    'Maximum number of open connections on each of the HTTP and HTTPS ports; further connections are closed at once.',
  ),
  'http.maxConnectionsPerAddress': setting(
    'MILLRACE_HTTP_MAX_CONNECTIONS_PER_ADDRESS',
    integer(0, 1_000_000),
    1000,
    'Maximum number of open HTTP and HTTPS connections from one IPv4 address or IPv6 /64 network. Trusted proxies are exempt. 0 means no limit.',
  ),
  'rtmp.port': setting('MILLRACE_RTMP_PORT', port, 1935, 'RTMP port for encoders.'),
  'rtmps.port': setting(
    'MILLRACE_RTMPS_PORT',
    port,
    null,
    'RTMPS port for encoders. Requires a certificate.',
  ),
  'webrtc.enabled': setting(
    'MILLRACE_WEBRTC_ENABLED',
    boolean,
    true,
    'Accepts publishers over WHIP, and viewers over WHEP.',
  ),
  'webrtc.port': setting(
    'MILLRACE_WEBRTC_PORT',
    port,
    8189,
    'WebRTC port, for UDP, and for TCP where a network blocks UDP. Publishers and viewers must reach it under the same number.',
  ),
  'webrtc.addresses': setting(
    'MILLRACE_WEBRTC_ADDRESSES',
    hosts,
    null,
    'Addresses or host names at which publishers and viewers reach the WebRTC port, separated by commas, such as the public address of a server behind NAT. Unset: that of the public URL, and those of this machine.',
  ),
  'whep.maxViewers': setting(
    'MILLRACE_WHEP_MAX_VIEWERS',
    integer(0, 100_000),
    50,
    'Maximum number of viewers over WebRTC (ultra low latency) on this server; further ones play HLS.',
  ),
  'rtmp.maxConnections': setting(
    'MILLRACE_RTMP_MAX_CONNECTIONS',
    integer(1, 100_000),
    20_000,
    'Maximum number of open RTMP and RTMPS connections; further connections are closed at once.',
  ),
  'rtmp.maxConnectionsPerAddress': setting(
    'MILLRACE_RTMP_MAX_CONNECTIONS_PER_ADDRESS',
    integer(0, 100_000),
    200,
    'Maximum number of open RTMP and RTMPS connections from one IPv4 address or IPv6 /64 network. Trusted proxies are exempt. 0 means no limit.',
  ),
  'rtmp.handshakeTimeout': setting(
    'MILLRACE_RTMP_HANDSHAKE_TIMEOUT',
    duration(100, 600 * second),
    '10s',
    'Maximum time for the handshake of a connection, and again until it publishes.',
  ),
  'rtmp.idleTimeout': setting(
    'MILLRACE_RTMP_IDLE_TIMEOUT',
    duration(second, hour),
    '30s',
    'Disconnects a publisher, over RTMP, SRT or WHIP, that sends no audio and no video for this long.',
  ),
  'rtmp.maxMessage': setting(
    'MILLRACE_RTMP_MAX_MESSAGE',
    size(64 * 1024, 16 * 1024 ** 2),
    '8MiB',
    'Maximum size of an RTMP message, and so of a video frame.',
  ),
  'rtmp.maxMessageRate': setting(
    'MILLRACE_RTMP_MAX_MESSAGE_RATE',
    integer(100, 1_000_000),
    2000,
    'Maximum RTMP messages per second from one connection, averaged over 10 seconds. An encoder sends one per frame.',
  ),
  'srt.enabled': setting('MILLRACE_SRT_ENABLED', boolean, true, 'Accepts encoders over SRT.'),
  'srt.port': setting('MILLRACE_SRT_PORT', port, 6200, 'SRT port (UDP) for encoders.'),
  'srt.latency': setting(
    'MILLRACE_SRT_LATENCY',
    duration(20, 10 * second),
    '200ms',
    'Time that lost SRT packets have to arrive again. About four times the round trip time of the encoder; an encoder that asks for more gets it.',
  ),
  'srt.passphrase': setting(
    'MILLRACE_SRT_PASSPHRASE',
    passphrase,
    null,
    'Passphrase that all SRT encoders must use, 10 to 79 characters. Media is then encrypted with AES. The stream key is still needed. Unset: not encrypted.',
  ),
  'srt.maxConnections': setting(
    'MILLRACE_SRT_MAX_CONNECTIONS',
    integer(1, 10_000),
    1_000,
    'Maximum number of SRT connections; further ones are refused.',
  ),
  'srt.maxConnectionsPerAddress': setting(
    'MILLRACE_SRT_MAX_CONNECTIONS_PER_ADDRESS',
    integer(0, 10_000),
    100,
    'Maximum number of SRT connections from one IPv4 address or IPv6 /64 network. Trusted proxies are exempt. 0 means no limit.',
  ),
  'tls.cert': setting(
    'MILLRACE_TLS_CERT',
    text,
    null,
    'PEM file with the certificate chain. Reloaded when it changes.',
  ),
  'tls.key': setting('MILLRACE_TLS_KEY', text, null, "PEM file with the certificate's private key."),
  'tls.hsts': setting(
    'MILLRACE_TLS_HSTS',
    duration(0, 730 * 24 * hour),
    '180d',
    'Time that browsers use only TLS for this host name after a request over TLS (`Strict-Transport-Security`). `0s` omits the header.',
  ),
  'live.packager': setting(
    'MILLRACE_LIVE_PACKAGER',
    choice(['auto', 'direct', 'ffmpeg']),
    'auto',
    'What packages the media of a broadcast. `auto`: the server itself, and one ffmpeg per broadcast only where audio must be converted to AAC. `direct`: always the server itself; audio that must be converted is refused. `ffmpeg`: one ffmpeg for each broadcast.',
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
    'Maximum number of broadcasts that the server encodes at once: those with lower qualities, and all in the sandbox. Further publishers are refused with that reason. Unset: four per core.',
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
  'uploads.idleTimeout': setting(
    'MILLRACE_UPLOADS_IDLE_TIMEOUT',
    duration(second, hour),
    '60s',
    'Ends an upload that sends nothing for this long.',
  ),
  'uploads.minFree': setting(
    'MILLRACE_UPLOADS_MIN_FREE',
    size(0, 1024 ** 4),
    '2GiB',
    'Disk space that uploads and encodes leave free; uploads that need more are refused. Must be larger than `recording.minFree`, or uploads would stop recordings.',
  ),
  'uploads.maxPerProject': setting(
    'MILLRACE_UPLOADS_MAX_PER_PROJECT',
    integer(0, 1_000_000),
    1000,
    'Maximum number of uploads in progress per project (the sandbox or production of an account). 0 means no limit.',
  ),
  'storage.maxPerProject': setting(
    'MILLRACE_STORAGE_MAX_PER_PROJECT',
    size(0, 1024 ** 5),
    null,
    'Maximum total size of all video files per project (the sandbox or production of an account). Unset: no limit.',
  ),
  'uploads.sourceTimeout': setting(
    'MILLRACE_UPLOADS_SOURCE_TIMEOUT',
    duration(second, 168 * hour),
    '24h',
    'Maximum time to import a video from a URL.',
  ),
  'imports.maxConcurrent': setting(
    'MILLRACE_IMPORTS_MAX_CONCURRENT',
    integer(1, 1000),
    16,
    'Maximum number of running imports from URLs, for all projects together. The next import is one of the project with the fewest running imports.',
  ),
  'imports.maxPerProject': setting(
    'MILLRACE_IMPORTS_MAX_PER_PROJECT',
    integer(1, 1000),
    4,
    'Maximum number of running imports per project; more wait. Keep it well below `imports.maxConcurrent`.',
  ),
  'imports.minBytesPerSecond': setting(
    'MILLRACE_IMPORTS_MIN_BYTES_PER_SECOND',
    size(0, 1024 ** 3),
    '64KiB',
    'Minimum bytes per second of an import, averaged over a minute; a slower import fails. 0 means no minimum.',
  ),
  'uploads.maxPixels': setting(
    'MILLRACE_UPLOADS_MAX_PIXELS',
    integer(16_384, 268_435_456),
    35_389_440,
    'Maximum frame size of an uploaded video, as width times height in pixels; the default is 8192x4320. A video with larger frames fails with that reason. Values below `live.maxPixels` have no effect, because recordings are videos too.',
  ),
  'videos.restore': setting(
    'MILLRACE_VIDEOS_RESTORE',
    days(3650),
    '7d',
    'Time that deleted videos stay in the trash and can be restored. `false` deletes them permanently at once; `true` means 90 days. When the disk is full, the trash is emptied earlier, oldest videos first.',
  ),
  'audit.keepDays': setting(
    'MILLRACE_AUDIT_KEEP_DAYS',
    integer(1, 3650),
    90,
    'Days that entries of the audit log are kept.',
  ),
  'encode.jobs': setting(
    'MILLRACE_ENCODE_JOBS',
    integer(1, 64),
    null,
    'Number of videos that are encoded at once. Unset: one per four cores, at least one.',
  ),
  'encode.codecs': setting(
    'MILLRACE_ENCODE_CODECS',
    choices(['h264', ...additionalCodecs]),
    'h264',
    'Codecs of videos, separated by commas. Every video is encoded to H.264 first. `hevc` and `av1` add a second set of renditions each, which is smaller and takes several times as long to encode. Applies to videos that are encoded from now on.',
  ),
  'encode.hardware': setting(
    'MILLRACE_ENCODE_HARDWARE',
    choice(['auto', 'off', 'nvenc', 'qsv', 'vaapi', 'videotoolbox']),
    'auto',
    'Hardware encoder for the renditions of live streams and videos: NVENC (NVIDIA), Quick Sync (Intel), VAAPI (Intel, AMD) or VideoToolbox (macOS). `auto`: the first that works. `off`: x264, x265 and SVT-AV1. A job whose hardware encoder fails continues with those.',
  ),
  'encode.hardwareDevice': setting(
    'MILLRACE_ENCODE_HARDWARE_DEVICE',
    text,
    '/dev/dri/renderD128',
    'Render device for VAAPI. `auto` tries Quick Sync and VAAPI where it exists.',
  ),
  'encode.preset': setting(
    'MILLRACE_ENCODE_PRESET',
    choice(['ultrafast', 'superfast', 'veryfast', 'faster', 'fast', 'medium', 'slow', 'slower']),
    'veryfast',
    'Preset of x264 and x265; SVT-AV1 uses its closest preset. Slower presets make smaller files.',
  ),
  'encode.memory': setting(
    'MILLRACE_ENCODE_MEMORY',
    size(256 * 1024 ** 2, 256 * 1024 ** 3),
    '8GiB',
    'Maximum data memory of one ffmpeg or ffprobe that processes an uploaded file.',
  ),
  'transcription.url': setting(
    'MILLRACE_TRANSCRIPTION_URL',
    httpUrl,
    null,
    'Base URL of an OpenAI-compatible API that transcribes speech, such as `http://localhost:8000/v1`. Audio is sent to `/audio/transcriptions` below it. Private addresses are allowed. Unset: no automatic captions.',
  ),
  'transcription.apiKey': setting(
    'MILLRACE_TRANSCRIPTION_API_KEY',
    secret,
    null,
    'Bearer token for `transcription.url`. Unset: none is sent.',
  ),
  'transcription.model': setting(
    'MILLRACE_TRANSCRIPTION_MODEL',
    text,
    'whisper-1',
    'Model for automatic captions. It must support `verbose_json`, which has the times of the text.',
  ),
  'transcription.concurrency': setting(
    'MILLRACE_TRANSCRIPTION_CONCURRENCY',
    integer(1, 64),
    1,
    'Number of videos that are transcribed or summarized at once.',
  ),
  'transcription.chunk': setting(
    'MILLRACE_TRANSCRIPTION_CHUNK',
    duration(10 * second, 600 * second),
    '10m',
    'Maximum audio per request, as FLAC with 16 kHz: 10 minutes are less than 20 MB. Chunks end at quiet moments.',
  ),
  'transcription.timeout': setting(
    'MILLRACE_TRANSCRIPTION_TIMEOUT',
    duration(second, 6 * hour),
    '30m',
    'Maximum time of one request to `transcription.url`.',
  ),
  'summary.model': setting(
    'MILLRACE_SUMMARY_MODEL',
    text,
    null,
    'Model that summarizes captions. Unset: no generated summaries.',
  ),
  'summary.url': setting(
    'MILLRACE_SUMMARY_URL',
    httpUrl,
    null,
    'Base URL of an OpenAI-compatible API whose `/chat/completions` summarizes captions. Unset: `transcription.url`.',
  ),
  'summary.apiKey': setting(
    'MILLRACE_SUMMARY_API_KEY',
    secret,
    null,
    'Bearer token for `summary.url`. Unset: that of `transcription.url`, when `summary.url` is unset too.',
  ),
  'summary.timeout': setting(
    'MILLRACE_SUMMARY_TIMEOUT',
    duration(second, hour),
    '10m',
    'Maximum time of one request for a summary.',
  ),
  'summary.maxCharacters': setting(
    'MILLRACE_SUMMARY_MAX_CHARACTERS',
    integer(1_000, 1_000_000),
    24_000,
    'Maximum text of the captions that the model gets. The middle of a longer text is left out.',
  ),
  'jobs.maxCrashes': setting(
    'MILLRACE_JOBS_MAX_CRASHES',
    integer(1, 100),
    2,
    'Number of server crashes in a row, while only one uploaded file is read, after which its video fails.',
  ),
  'jobs.lease': setting(
    'MILLRACE_JOBS_LEASE',
    duration(2 * second, hour),
    '60s',
    'Time after which the servers that share a PostgreSQL database restart a job that its server no longer renews. Each renews its jobs three times in this time. Use the same value on all servers.',
  ),
  'parse.timeout': setting(
    'MILLRACE_PARSE_TIMEOUT',
    duration(second, hour),
    '60s',
    'Maximum time to read the index of an uploaded file. A file that takes longer is encoded before it can be played.',
  ),
  'parse.memory': setting(
    'MILLRACE_PARSE_MEMORY',
    size(32 * 1024 ** 2, 4 * 1024 ** 3),
    '128MiB',
    'Maximum heap of the thread that reads the index of an uploaded file, without the `moov` itself: see `parse.maxMovie`.',
  ),
  'parse.maxMovie': setting(
    'MILLRACE_PARSE_MAX_MOVIE',
    size(1024 ** 2, 1024 ** 3),
    '128MiB',
    'Maximum size of the `moov` (the index of an MP4 or MOV file). A file with a larger one is encoded before it can be played; 24 hours at 60 fps with audio need about 80 MiB.',
  ),
  'encode.maxDurationFactor': setting(
    'MILLRACE_ENCODE_MAX_DURATION_FACTOR',
    integer(1, 1000),
    30,
    'Maximum time of one ffmpeg run on an uploaded file: an hour plus this many times the duration of the video.',
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
    'Maximum number of uploaded images that wait for processing. Further uploads get 503 with `Retry-After`.',
  ),
  'images.maxPixels': setting(
    'MILLRACE_IMAGES_MAX_PIXELS',
    integer(1_048_576, 67_108_864),
    50_331_648,
    'Maximum size of an uploaded image, as width times height in pixels; the default is 8192x6144. A larger image is refused after reading its header.',
  ),
  'rateLimit.uploads': setting(
    'MILLRACE_RATE_LIMIT_UPLOADS',
    integer(0, 10_000_000),
    6000,
    'Maximum upload requests per minute and project. 0 means no limit.',
  ),
  'rateLimit.writes': setting(
    'MILLRACE_RATE_LIMIT_WRITES',
    integer(0, 10_000_000),
    6000,
    'Maximum API requests per minute and project that change data. 0 means no limit.',
  ),
  'rateLimit.reads': setting(
    'MILLRACE_RATE_LIMIT_READS',
    integer(0, 10_000_000),
    6000,
    'Maximum API requests per minute and project that read data. 0 means no limit.',
  ),
  'rateLimit.sandboxUploads': setting(
    'MILLRACE_RATE_LIMIT_SANDBOX_UPLOADS',
    integer(0, 10_000_000),
    null,
    'Maximum upload requests per minute in a sandbox. Unset: as in production.',
  ),
  'rateLimit.sandboxWrites': setting(
    'MILLRACE_RATE_LIMIT_SANDBOX_WRITES',
    integer(0, 10_000_000),
    null,
    'Maximum API requests per minute in a sandbox that change data. Unset: as in production.',
  ),
  'rateLimit.sandboxReads': setting(
    'MILLRACE_RATE_LIMIT_SANDBOX_READS',
    integer(0, 10_000_000),
    null,
    'Maximum API requests per minute in a sandbox that read data. Unset: as in production.',
  ),
  'rateLimit.wrongKeys': setting(
    'MILLRACE_RATE_LIMIT_WRONG_KEYS',
    integer(0, 10_000_000),
    60,
    'Maximum number of wrong API keys per minute from one IPv4 address or IPv6 /64 network. Above it, keys that were not used from there before get 429 until the minute is over. 0 means no limit.',
  ),
  'analytics.reports': setting(
    'MILLRACE_ANALYTICS_REPORTS',
    integer(0, 10_000_000),
    6000,
    'Maximum player reports per minute from one address. 0 means no limit.',
  ),
  'analytics.geoDatabase': setting(
    'MILLRACE_ANALYTICS_GEO_DATABASE',
    text,
    null,
    'MaxMind DB file that maps addresses to countries. Unset: the one included with the server.',
  ),
  'oidc.issuer': setting(
    'MILLRACE_OIDC_ISSUER',
    issuerUrl,
    null,
    'Issuer of an OpenID Connect provider with which users sign in to the dashboard, such as `https://accounts.google.com`. Private addresses are allowed. Requires `oidc.clientId`. Unset: none.',
  ),
  'oidc.clientId': setting(
    'MILLRACE_OIDC_CLIENT_ID',
    text,
    null,
    'Client id of this server at the provider. The redirect address to allow there is `<public URL>/dashboard/sign-in/oidc`.',
  ),
  'oidc.clientSecret': setting(
    'MILLRACE_OIDC_CLIENT_SECRET',
    secret,
    null,
    'Client secret of this server at the provider. Unset: none, for a public client.',
  ),
  'oidc.name': setting(
    'MILLRACE_OIDC_NAME',
    text,
    'OpenID Connect',
    'Name of the provider on the sign-in page: “Continue with …”.',
  ),
  'oidc.createAccounts': setting(
    'MILLRACE_OIDC_CREATE_ACCOUNTS',
    boolean,
    false,
    'Creates an account for everybody whom the provider signs in with a confirmed email address. Off: only existing users can sign in.',
  ),
  'metrics.token': setting(
    'MILLRACE_METRICS_TOKEN',
    secret,
    null,
    'Allows reading `/metrics` and the details of `/health/ready` from other machines, with `Authorization: Bearer <token>`.',
  ),
  'bootstrap.sandboxKey': setting(
    'MILLRACE_BOOTSTRAP_SANDBOX_KEY',
    secret,
    null,
    'First sandbox API key, at least 32 characters. Used only for a new database. Unset: random, printed once.',
  ),
  'bootstrap.productionKey': setting(
    'MILLRACE_BOOTSTRAP_PRODUCTION_KEY',
    secret,
    null,
    'First production API key, at least 32 characters. Used only for a new database. Unset: random, printed once.',
  ),
  'bootstrap.upgraded': setting(
    'MILLRACE_BOOTSTRAP_UPGRADED',
    boolean,
    true,
    'Lets the first account use production. Used only for a new database. `false`: the account starts in the sandbox, like all others, until it is upgraded.',
  ),
  'bootstrap.secretsFile': setting(
    'MILLRACE_BOOTSTRAP_SECRETS_FILE',
    text,
    null,
    'New file (JSON, mode 0600) for the first API keys and password, which are then not printed. Used only for a new database.',
  ),
  'admin.email': setting(
    'MILLRACE_ADMIN_EMAIL',
    text,
    'admin@localhost',
    'Email address of the first dashboard sign-in. Used only for a new database.',
  ),
  'admin.password': setting(
    'MILLRACE_ADMIN_PASSWORD',
    secret,
    null,
    'Password of the first dashboard sign-in, at least 12 characters. Used only for a new database. Unset: random, printed once.',
  ),
  'smtp.host': setting(
    'MILLRACE_SMTP_HOST',
    text,
    null,
    'Mail server that sends invitations and links for new passwords. Unset: people send the links of invitations themselves, and the operator resets passwords.',
  ),
  'smtp.port': setting('MILLRACE_SMTP_PORT', integer(1, 65_535), 587, 'Port of `smtp.host`.'),
  'smtp.secure': setting(
    'MILLRACE_SMTP_SECURE',
    boolean,
    false,
    'TLS from the start, as on port 465. Otherwise STARTTLS is used if the mail server offers it, and required with `smtp.password`.',
  ),
  'smtp.user': setting('MILLRACE_SMTP_USER', text, null, 'User name for the mail server. Unset: no sign-in.'),
  'smtp.password': setting('MILLRACE_SMTP_PASSWORD', secret, null, 'Password of `smtp.user`.'),
  'smtp.from': setting(
    'MILLRACE_SMTP_FROM',
    text,
    null,
    'Sender of emails, such as `Millrace <millrace@example.org>`. Required with `smtp.host`.',
  ),
  allowPrivateTargets: setting(
    'MILLRACE_ALLOW_PRIVATE_TARGETS',
    boolean,
    false,
    'Allows webhooks, restreams, imports and sources of live streams to reach loopback and private networks, but never link-local metadata addresses.',
  ),
  'ffmpeg.path': setting(
    'MILLRACE_FFMPEG_PATH',
    text,
    null,
    'Path of ffmpeg, which is used for everything. Unset: the first on PATH of version 6.1 or newer, else a complete one there of version 5.1 or 6.0, else the embedded 7.0 (Linux on x64), else the first on PATH of version 5 or newer, else the newer of an older one there and the embedded one of 2018.',
  ),
  'ffprobe.path': setting(
    'MILLRACE_FFPROBE_PATH',
    text,
    null,
    'Path of ffprobe. Unset: the first on PATH of version 6.1 or newer, else the first of version 5 or newer, else the newer of an older one there and the embedded one of 2023.',
  ),
  'ffmpeg.isolation': setting(
    'MILLRACE_FFMPEG_ISOLATION',
    choice(['auto', 'required', 'off']),
    'auto',
    'Runs every ffmpeg and ffprobe in a sandbox of bubblewrap, without the network and with only the files of its job. `auto`: where that works. `required`: the server does not start where it does not work. `off`: never.',
  ),
  drainTimeout: setting(
    'MILLRACE_DRAIN_TIMEOUT',
    duration(0, hour),
    '10s',
    'Maximum time of a graceful stop, in which requests and broadcasts end.',
  ),
  'log.level': setting('MILLRACE_LOG_LEVEL', choice(logLevels), 'info', 'Minimum level of log lines.'),
} as const;

export type SettingKey = keyof typeof settings;

type ValueOf<Entry> =
  Entry extends Setting<infer Value, infer Default>
    ? Default extends null
      ? Value | undefined
      : Value
    : never;

/** Durations in milliseconds, sizes in bytes, undefined when unset. */
export type Config = { readonly [Key in SettingKey]: ValueOf<(typeof settings)[Key]> };

type ErrorKind = 'invalid' | 'denied' | 'not-found' | 'conflict' | 'unavailable' | 'internal';

type ErrorBlame = 'caller' | 'publisher' | 'destination' | 'server';

interface ErrorEntry {
  readonly kind: ErrorKind;
  readonly blame: ErrorBlame;
  readonly title: string;
  readonly status?: number;
  readonly logLevel?: 'info';
}

const invalid = (title: string): ErrorEntry => ({ kind: 'invalid', blame: 'caller', title });
const denied = (title: string, status?: number): ErrorEntry =>
  status === undefined
    ? { kind: 'denied', blame: 'caller', title }
    : { kind: 'denied', blame: 'caller', title, status };

/** All errors of the server. A code is also the last part of the `type` URI in API responses. */
export const errorRegister = {
  'invalid-attribute': invalid('Invalid attributes.'),
  'attribute-required': invalid('This attribute is required.'),
  'request-invalid-query-parameter': invalid('A query parameter is invalid.'),
  'invalid-payload': invalid('The payload is invalid.'),
  'payload-too-large': { kind: 'invalid', blame: 'caller', title: 'The payload is too large.', status: 413 },
  'webhook-limit-reached': invalid('Your account has reached the webhook urls limit.'),
  'storage-limit-reached': invalid('Your account has reached the storage limit.'),
  'upload-limit-reached': invalid('Your account has reached the uploads limit.'),
  'uploaded-file-no-file': invalid('There is no uploaded file in the request.'),
  'uploaded-file-multiple-files': invalid('There is more than one uploaded file in the request.'),
  'uploaded-file-empty': invalid('The uploaded file is empty.'),
  'uploaded-file-invalid-file': invalid('The uploaded file is invalid.'),
  'uploaded-file-too-large': invalid('The uploaded file is too large.'),
  'uploaded-file-extension-invalid': invalid('Only [jpeg, jpg, JPG, JPEG] extensions are supported.'),
  'video-source-already-uploaded': invalid('The source of the video is already uploaded.'),
  'video-source-already-downloaded': invalid(
    'This video source has already been downloaded when the video was created.',
  ),
  'video-source-already-copied': invalid(
    'This video source has already been copied from an existing video when the video was created.',
  ),
  'video-content-range-already-initiated': invalid(
    'This video source has already been initiated with a "Content-Range" upload.',
  ),
  'video-content-range-malformed': invalid(
    'The value of the "Content-Range" header is malformed, the expected format is "bytes <from_byte>-<to_byte>/<total_bytes>" or "part <part>/<total_parts>".',
  ),
  'video-content-range-started-with-part': invalid(
    'This "Content-Range" upload has been started with "part", you cannot continue it with "bytes".',
  ),
  'video-content-range-started-with-bytes': invalid(
    'This "Content-Range" upload has been started with "bytes", you cannot continue it with "part".',
  ),
  'video-content-range-by-bytes-total-bytes-zero': invalid(
    'The "total_bytes" value in the "Content-Range" header must be greater than 0.',
  ),
  'video-content-range-by-bytes-total-bytes-too-high': invalid(
    'The "total_bytes" value in the "Content-Range" header is higher than the maximum allowed limit.',
  ),
  'video-content-range-by-bytes-total-bytes-too-low': invalid(
    'The "total_bytes" value in the "Content-Range" header is lower than or equal to the upper bound of a range you already sent for this video.',
  ),
  'video-content-range-by-bytes-different-total-bytes': invalid(
    'The "total_bytes" value in the "Content-Range" header must be the same than the one you already set for this video.',
  ),
  'video-content-range-by-bytes-from-byte-too-high': invalid(
    'The "from_byte" value in the "Content-Range" header is higher than the "to_byte" value.',
  ),
  'video-content-range-by-bytes-to-byte-too-high-allowed': invalid(
    'The "to_byte" value in the "Content-Range" header is higher than the maximum upper bound allowed for a video.',
  ),
  'video-content-range-by-bytes-to-byte-too-high-total': invalid(
    'The "to_byte" value in the "Content-Range" header is higher than the "total_bytes" value you set for this video.',
  ),
  'video-content-range-by-bytes-range-too-small': invalid(
    'The range in the "Content-Range" header is too small.',
  ),
  'video-content-range-by-bytes-range-too-large': invalid(
    'The range in the "Content-Range" header is too large.',
  ),
  'video-content-range-by-bytes-range-mismatch': invalid(
    'The size of the file you sent is different than the range length you set in the "Content-Range" header.',
  ),
  'video-content-range-by-bytes-range-overlap': invalid(
    'The range in the "Content-Range" header overlaps with a previous one you already sent for this video.',
  ),
  'video-content-range-by-part-part-zero': invalid(
    'The "part" value in the "Content-Range" header must be greater than 0.',
  ),
  'video-content-range-by-part-total-parts-zero': invalid(
    'The "total_parts" value in the "Content-Range" header must be greater than 0.',
  ),
  'video-content-range-by-part-part-too-high-allowed': invalid(
    'The "part" value in the "Content-Range" header is higher than the maximum number of parts allowed for a video.',
  ),
  'video-content-range-by-part-total-parts-too-high': invalid(
    'The "total_parts" value in the "Content-Range" header is higher than the maximum number of parts allowed for a video.',
  ),
  'video-content-range-by-part-part-too-high-total': invalid(
    'The "part" value in the "Content-Range" header is higher than the "total_parts" value you set for this video.',
  ),
  'video-content-range-by-part-different-total-parts': invalid(
    'The "total_parts" value in the "Content-Range" header must be the same than the one you already set for this video.',
  ),
  'video-content-range-by-part-total-parts-too-low': invalid(
    'The "total_parts" value in the "Content-Range" header is lower than or equal to a part number you already sent for this video.',
  ),
  'video-content-range-by-part-part-already-sent': invalid(
    'The "part" value in the "Content-Range" header collides with a previous one you already sent for this video.',
  ),
  'video-content-range-by-part-uploaded-file-too-small': invalid('The uploaded file is too small.'),
  'authentication-missing-authorization-header': denied('The "Authorization" header is missing.'),
  'authentication-invalid-authorization-header-value': denied('The "Authorization" header value is invalid.'),
  'authentication-invalid-api-key': denied('The API key is invalid.'),
  'authentication-invalid-access-token': denied('The access token is invalid or expired.'),
  'authentication-invalid-user-credentials': invalid('The user credentials were incorrect.'),
  'authentication-missing-upload-token': denied('The upload token is missing.'),
  'authentication-invalid-upload-token': denied('The upload token is invalid or expired.'),
  'authentication-invalid-session': denied('You are not signed in.'),
  'authentication-wrong-password': denied('The email address or password is wrong.'),
  'authentication-second-factor-required': denied('Enter the code from your authenticator app.'),
  'authentication-wrong-code': denied('The code is wrong or was already used.'),
  'authentication-invalid-passkey': denied('The passkey was not accepted.'),
  'authentication-oidc-refused': denied('Sign-in failed.'),
  'authorization-suspended-account': denied('Suspended account', 403),
  'authorization-insufficient-scope': denied('The scopes of these credentials are insufficient.', 403),
  'authorization-loopback-only': denied('Only the server operator can use this endpoint.', 403),
  'authorization-account-not-upgraded': denied('The account is not upgraded.', 403),
  'authorization-unknown-project': denied('This project is not in your account.', 403),
  'authorization-operator-only': denied('Only the server operator can do this.', 403),
  'authorization-other-site': denied("Cross-site requests aren't allowed.", 403),
  'authorization-production-credential-required': denied('A production credential is required.', 403),
  'playback-refused': denied("Playback isn't allowed.", 403),
  'viewer-clips-off': denied('Viewer clips are turned off for this live stream.', 403),
  'invalid-viewer-clip': invalid('This part of the broadcast cannot be clipped.'),
  'signing-key-limit-reached': invalid('Your account has reached the signing keys limit.'),
  'hook-refused': denied('Your hook denied the request.', 403),
  'passkey-limit-reached': invalid('You have reached the passkeys limit.'),
  'passkeys-unavailable': {
    kind: 'conflict',
    blame: 'caller',
    title: "Passkeys don't work at this server's address.",
  },
  'oidc-not-configured': {
    kind: 'conflict',
    blame: 'caller',
    title: 'OpenID Connect is not configured on this server.',
  },
  'mail-not-configured': {
    kind: 'conflict',
    blame: 'caller',
    title: 'Email is not configured on this server.',
  },
  'oidc-provider-unavailable': {
    kind: 'unavailable',
    blame: 'server',
    title: 'The sign-in provider is temporarily unavailable.',
  },
  'two-factor-enabled': {
    kind: 'conflict',
    blame: 'caller',
    title: 'Two-factor sign-in is already on.',
  },
  'two-factor-not-enabled': {
    kind: 'conflict',
    blame: 'caller',
    title: 'Two-factor sign-in is off.',
  },
  'invitation-of-other-user': denied('This invitation is for somebody else.', 403),
  'email-unverified': denied('Your email address is not verified.', 403),
  'invitation-limit-reached': invalid('Your account has reached the invitations limit.'),
  'member-limit-reached': invalid('Your account has reached the members limit.'),
  'already-member': { kind: 'conflict', blame: 'caller', title: 'This person is already a member.' },
  'last-owner': { kind: 'conflict', blame: 'caller', title: 'This is the last owner of the account.' },
  'project-limit-reached': invalid('Your account has reached the projects limit.'),
  'last-project': { kind: 'conflict', blame: 'caller', title: 'This is the last project of the account.' },
  'project-not-empty': {
    kind: 'conflict',
    blame: 'caller',
    title: 'The project still has videos or live streams.',
  },
  'api-key-limit-reached': invalid('Your account has reached the API keys limit.'),
  'last-api-key': {
    kind: 'conflict',
    blame: 'caller',
    title: 'This is the last API key of the environment.',
  },
  'summary-already-exists': {
    kind: 'conflict',
    blame: 'caller',
    title: 'A summary already exists or is being created on this video.',
  },
  'nothing-to-retry': {
    kind: 'conflict',
    blame: 'caller',
    title: 'This video has nothing to retry. If its file did not arrive completely, upload it again.',
  },
  'resource-not-found': {
    kind: 'not-found',
    blame: 'caller',
    title: 'The requested resource could not be found.',
  },
  'unrecognized-request-url': { kind: 'not-found', blame: 'caller', title: 'Unrecognized request URL.' },
  'misdirected-request': {
    kind: 'not-found',
    blame: 'caller',
    title: 'Another server handles this request.',
    status: 421,
  },
  'method-not-allowed': {
    kind: 'invalid',
    blame: 'caller',
    title: 'Method is not allowed for this route.',
    status: 405,
  },
  'address-too-long': { kind: 'invalid', blame: 'caller', title: 'The URL is too long.', status: 414 },
  'range-not-satisfiable': {
    kind: 'invalid',
    blame: 'caller',
    title: 'The requested range is not satisfiable.',
    status: 416,
  },
  'media-unavailable': {
    kind: 'unavailable',
    blame: 'server',
    title: 'The media is temporarily unavailable.',
  },
  'upgrade-required': {
    kind: 'invalid',
    blame: 'caller',
    title: 'This endpoint requires a WebSocket.',
    status: 426,
  },
  'too-many-requests': { kind: 'unavailable', blame: 'caller', title: 'Too many requests.', status: 429 },
  'request-timeout': {
    kind: 'unavailable',
    blame: 'caller',
    title: 'The request took too long.',
    status: 408,
  },
  'server-draining': { kind: 'unavailable', blame: 'server', title: 'The server is shutting down.' },
  'disk-full': { kind: 'unavailable', blame: 'server', title: "The server's disk is full." },
  'out-of-resources': {
    kind: 'unavailable',
    blame: 'server',
    title: 'The server ran out of memory, file descriptors or processes.',
  },
  'process-killed': {
    kind: 'unavailable',
    blame: 'server',
    title: 'The server ran out of memory while processing this file.',
  },
  'storage-unavailable': {
    kind: 'unavailable',
    blame: 'server',
    title: 'The storage is temporarily unavailable.',
  },
  'storage-unusable': { kind: 'unavailable', blame: 'server', title: 'The storage cannot be used.' },
  'not-ready': {
    kind: 'unavailable',
    blame: 'server',
    title: 'The server is not ready.',
    logLevel: 'info',
  },
  'images-busy': { kind: 'unavailable', blame: 'server', title: 'Too many images are being processed.' },
  'server-error': { kind: 'internal', blame: 'server', title: 'Server error' },
  'config-invalid': { kind: 'unavailable', blame: 'server', title: 'The configuration is invalid.' },
  'listen-failed': { kind: 'unavailable', blame: 'server', title: 'The server cannot listen on a port.' },
  'data-dir-unusable': { kind: 'unavailable', blame: 'server', title: 'The data folder cannot be used.' },
  'ffmpeg-unusable': { kind: 'unavailable', blame: 'server', title: 'No usable ffmpeg was found.' },
  'isolation-unusable': {
    kind: 'unavailable',
    blame: 'server',
    title: 'The sandbox for ffmpeg does not work.',
  },
  'tls-unusable': { kind: 'unavailable', blame: 'server', title: 'The TLS certificate cannot be used.' },
  'database-unusable': { kind: 'unavailable', blame: 'server', title: 'The database cannot be used.' },
  'path-outside-root': { kind: 'internal', blame: 'server', title: 'A path leads outside its folder.' },
  'model-refused': { kind: 'invalid', blame: 'server', title: 'The model refused the request.' },
  'model-unavailable': {
    kind: 'unavailable',
    blame: 'server',
    title: 'The model is temporarily unavailable.',
  },
  'media-malformed': { kind: 'invalid', blame: 'publisher', title: 'The media cannot be read.' },
  'playlist-malformed': { kind: 'invalid', blame: 'caller', title: 'The playlist cannot be read.' },
  'source-unreachable': {
    kind: 'invalid',
    blame: 'caller',
    title: 'The source of the video cannot be fetched.',
  },
  'media-refused': { kind: 'invalid', blame: 'caller', title: 'The media cannot be used.' },
  'offer-invalid': invalid('The SDP offer is invalid.'),
  'offer-unsupported': {
    kind: 'invalid',
    blame: 'caller',
    title: 'The offered media is not supported.',
    status: 422,
  },
  'not-playable-over-webrtc': {
    kind: 'invalid',
    blame: 'caller',
    title: 'This broadcast is not available over WebRTC.',
    status: 406,
  },
  'unsupported-content-type': {
    kind: 'invalid',
    blame: 'caller',
    title: 'The content type is not supported.',
    status: 415,
  },
  'live-stream-not-broadcasting': {
    kind: 'conflict',
    blame: 'caller',
    title: 'There is no broadcast to clip.',
  },
  'stream-key-missing': denied('The stream key is missing.'),
  'stream-key-unknown': denied('The stream key is not known.'),
  'already-publishing': {
    kind: 'conflict',
    blame: 'caller',
    title: 'Another encoder is already publishing.',
  },
  'session-ended': {
    kind: 'not-found',
    blame: 'caller',
    title: 'The server ended this session.',
    status: 410,
  },
  'session-tag-required': {
    kind: 'invalid',
    blame: 'caller',
    title: 'The If-Match header is required.',
    status: 428,
  },
  'session-changed': {
    kind: 'conflict',
    blame: 'caller',
    title: 'The session has changed.',
    status: 412,
  },
  'process-failed': { kind: 'internal', blame: 'server', title: 'A child process failed.' },
  stopped: {
    kind: 'internal',
    blame: 'server',
    title: 'A part of the server was used after it was stopped.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorRegister;

const statusOfKind: Record<ErrorKind, number> = {
  invalid: 400,
  denied: 401,
  'not-found': 404,
  conflict: 409,
  unavailable: 503,
  internal: 500,
};

export interface Problem {
  readonly type?: ErrorCode;
  readonly title: string;
  /** Name such as `restreams[0][serverUrl]`. */
  readonly name: string;
  readonly detail?: string;
  readonly range?: { readonly min?: number; readonly max?: number };
}

interface ErrorDetails {
  /** The one field at fault; `''` where the contract wants an empty name. */
  readonly name?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly range?: { readonly min?: number; readonly max?: number };
  /** Problems of the request. The first is repeated at the top of the response. */
  readonly problems?: readonly Problem[];
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** `message` is for logs and operators. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message?: string, options: { cause?: unknown; details?: ErrorDetails } = {}) {
    super(
      message ?? errorRegister[code].title,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.details = options.details ?? {};
  }

  get kind(): ErrorKind {
    return errorRegister[this.code].kind;
  }

  get status(): number {
    const entry: ErrorEntry = errorRegister[this.code];
    return entry.status ?? statusOfKind[entry.kind];
  }

  /** `error` when an operator must act, `info` when a client was refused. */
  get logLevel(): 'error' | 'warn' | 'info' {
    const entry: ErrorEntry = errorRegister[this.code];
    if (entry.logLevel !== undefined) return entry.logLevel;
    if (entry.kind === 'internal') return 'error';
    return entry.blame === 'caller' ? 'info' : 'warn';
  }
}

export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/\s+/g, ' ').trim();
}

export function systemCodeOf(thrown: unknown): string | undefined {
  if (thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string') return thrown.code;
  return undefined;
}

/** The connection to the database was lost: a transaction may be committed nevertheless. */
export function mayBeCommitted(error: unknown): boolean {
  return error instanceof AppError && error.code === 'database-unusable';
}

import {
  conflict,
  denied,
  type ErrorEntry,
  internal,
  invalid,
  notFound,
  unavailable,
} from './error-entry.ts';
import { operatorCommand } from './installation.ts';
import { uploadErrors } from './upload-errors.ts';

const readDetail =
  'Look at `name`, `detail` and `problems` in the response, correct the request and send it again.';
const nothingChanged = 'Nothing was changed. ';

/**
 * All errors of the server: text for clients, and for the documentation what it means and what to do.
 * A code is also the last part of the `type` URI in API responses.
 */
export const errorRegister = {
  'invalid-attribute': invalid('Invalid attributes.', {
    meaning: 'A parameter or a field of the body is unknown or has an invalid value.',
    remedy: readDetail,
  }),
  'attribute-required': invalid('This attribute is required.', {
    meaning: 'A required field of the body is missing.',
    remedy: 'Add the fields that `problems` names.',
  }),
  'request-invalid-query-parameter': invalid('A query parameter is invalid.'),
  'invalid-payload': invalid('The payload is invalid.', {
    meaning: 'The body is not a JSON object, not a multipart form, or not valid HTTP.',
    remedy: 'Check that the body is complete, encoded in UTF-8, and of the type that the reference names.',
  }),
  'payload-too-large': invalid('The payload is too large.', {
    status: 413,
    meaning: 'A JSON body can have 1 MiB, a body of `/auth/*` 16 KiB, and all headers together 16 KiB.',
    remedy: 'Send less. Upload files as multipart forms to the upload endpoints.',
  }),
  'webhook-limit-reached': invalid('Your account has reached the webhook urls limit.'),
  'storage-limit-reached': invalid('Your account has reached the storage limit.', {
    meaning:
      'The files of your videos have reached the storage limit of this environment, or the new file does not fit.',
    remedy: 'Delete videos permanently, or ask the operator for more. `GET /usage` shows what is used.',
  }),
  'upload-limit-reached': invalid('Your account has reached the uploads limit.', {
    meaning: 'This environment has its maximum number of uploads in progress.',
    remedy: 'Complete uploads, or delete their videos. `GET /usage` shows how many there are.',
  }),
  ...uploadErrors,
  'authentication-missing-authorization-header': denied('The "Authorization" header is missing.', {
    meaning: 'The request has no credentials.',
    remedy:
      'Send `Authorization: Basic` with your API key as the user name and an empty password, or `Bearer` with an access token.',
  }),
  'authentication-invalid-authorization-header-value': denied(
    'The "Authorization" header value is invalid.',
    {
      meaning: 'The `Authorization` header is neither valid `Basic` nor valid `Bearer`.',
      remedy: 'For `Basic`, encode the key followed by a colon in Base64.',
    },
  ),
  'authentication-invalid-api-key': denied('The API key is invalid.', {
    meaning:
      'The API key is not known. It may be mistyped, deleted, or a production key of an account that is not upgraded.',
    remedy: 'Check the key, and that the Base64 text includes the colon after it.',
  }),
  'authentication-invalid-access-token': denied('The access token is invalid or expired.', {
    meaning: 'The access token is not known, or is older than an hour.',
    remedy: 'Get a new one with `POST /auth/refresh` or `POST /auth/api-key`.',
  }),
  'authentication-invalid-user-credentials': invalid('The user credentials were incorrect.', {
    meaning: 'The API key or the refresh token is not known, or the refresh token was used before.',
    remedy: 'Get new tokens with `POST /auth/api-key`. A refresh token works once.',
  }),
  'authentication-missing-upload-token': denied('The upload token is missing.', {
    meaning: 'Uploads to `/upload` need an upload token.',
    remedy: 'Add `?token=` with a token from `POST /upload-tokens`.',
  }),
  'authentication-invalid-upload-token': denied('The upload token is invalid or expired.', {
    meaning: 'The upload token is not known, was deleted, or has expired.',
    remedy: 'Create a new one with `POST /upload-tokens`.',
  }),
  'authentication-invalid-session': denied('You are not signed in.', {
    meaning:
      'The request has no session cookie, or its session has ended: after 30 days without use, by signing out, or with a new password.',
    remedy: 'Sign in with `POST /auth/session`. In your own apps, use an API key.',
  }),
  'authentication-wrong-password': denied('The email address or password is wrong.', {
    meaning: 'The email address or password is wrong.',
    remedy: 'Try again, or request a new password on the sign-in page. After ten attempts you have to wait.',
  }),
  'authentication-second-factor-required': denied('Enter the code from your authenticator app.', {
    meaning: 'The password is correct, and the user has two-factor sign-in turned on.',
    remedy:
      'Send the email address and the password again, with a code from the authenticator app or a recovery code as `code`.',
  }),
  'authentication-wrong-code': denied('The code is wrong or was already used.', {
    meaning:
      'The code from the authenticator app or the recovery code is wrong, expired or already used. Each works once.',
    remedy:
      'Wait for the next code and check the time of your device. Without the device, use a recovery code, or ask the operator.',
  }),
  'authentication-invalid-passkey': denied('The passkey was not accepted.', {
    meaning:
      'The passkey is not registered, was deleted, or signed a challenge that is wrong, already used or older than 5 minutes.',
    remedy: 'Try again, or sign in with your password.',
  }),
  'authentication-oidc-refused': denied('Sign-in failed.', {
    meaning:
      'Sign-in with the OpenID Connect provider failed. `detail` says why: it took longer than 10 minutes, was already used, was started in another browser, or no user has this email address.',
    remedy: 'Start again from the sign-in page. A person without a user needs an invitation.',
  }),
  'authorization-suspended-account': denied('Suspended account', {
    status: 403,
    meaning: 'The server operator has suspended the account.',
    remedy: 'Contact the operator. Nothing was deleted.',
  }),
  'authorization-insufficient-scope': denied('The scopes of these credentials are insufficient.', {
    status: 403,
    meaning:
      'The API key does not have the scope that this call needs, or your role in the account does not.',
    remedy: '`detail` names the scope. Use another key, or ask an owner of the account.',
  }),
  'authorization-loopback-only': denied('Only the server operator can use this endpoint.', {
    status: 403,
    meaning: 'Only the server operator can use this address.',
    remedy: "Send the request from the server's own machine, or with the operator's token.",
  }),
  'authorization-account-not-upgraded': denied('The account is not upgraded.', {
    status: 403,
    meaning: 'Only accounts that the server operator has upgraded can use production.',
    remedy: 'Use the sandbox, or ask the operator.',
  }),
  'authorization-unknown-project': denied('This project is not in your account.', {
    status: 403,
    meaning: 'The header `Millrace-Project` names no project of your account. It may have been deleted.',
    remedy: 'Use a `projectId` of `GET /account/projects`, or leave the header out for the first project.',
  }),
  'authorization-operator-only': denied('Only the server operator can do this.', {
    status: 403,
    meaning: 'Only the account of the server operator can do this.',
    remedy: 'Ask the operator.',
  }),
  'authorization-other-site': denied("Cross-site requests aren't allowed.", {
    status: 403,
    meaning: 'A page on another site made the browser send this request with a session cookie.',
    remedy:
      'Send an access token from your own pages. Behind a proxy, forward the `Host` header or set the public URL of the server.',
  }),
  'authorization-production-credential-required': denied('A production credential is required.', {
    status: 403,
  }),
  'playback-refused': denied("Playback isn't allowed.", {
    status: 403,
    meaning: 'The token of the viewer is not valid, or the playback policy excludes the site or the country.',
    remedy: 'Read `detail`. Sign a new token, or change the playback policy.',
  }),
  'viewer-clips-off': denied('Viewer clips are turned off for this live stream.', {
    status: 403,
    meaning: 'The live stream does not let its viewers create clips.',
    remedy: 'Set `viewerClips` of the live stream to true, or create the clip with an API key.',
  }),
  'invalid-viewer-clip': invalid('This part of the broadcast cannot be clipped.', {
    meaning: 'The body is wrong, or the part of the broadcast is older than what viewers can rewind to.',
    remedy: 'Read `detail`. Send `lastSeconds` from 5 to 60, and a smaller `behindSeconds`.',
  }),
  'signing-key-limit-reached': invalid('Your account has reached the signing keys limit.'),
  'hook-refused': denied('Your hook denied the request.', {
    status: 403,
    meaning: 'The project has a hook that decides who can publish or play, and it denied this request.',
    remedy: '`detail` is the message of the hook. The dashboard shows its latest responses under Webhooks.',
  }),
  'passkey-limit-reached': invalid('You have reached the passkeys limit.', {
    meaning: 'A user can have 20 passkeys.',
    remedy: 'Delete one that you no longer use with `DELETE /account/passkeys/{passkeyId}`.',
  }),
  'passkeys-unavailable': conflict("Passkeys don't work at this server's address.", {
    meaning:
      'Browsers allow passkeys only over HTTPS with a host name, or on `localhost`. The public URL of the server is neither.',
    remedy:
      'Ask the operator to set the public URL of the server (`MILLRACE_PUBLIC_URL`) to an `https:` address with a host name.',
  }),
  'setting-not-changeable': conflict("This setting can't be changed here.", {
    remedy: 'Change it where it is set, and restart the server.',
  }),
  'setting-contradicts-another': invalid('This value contradicts another setting.', {
    meaning: 'The value is valid, but not together with that of the setting that `detail` names.',
    remedy: 'Choose another value, or change the other setting first.',
  }),
  'oidc-not-configured': conflict('OpenID Connect is not configured on this server.', {
    meaning: 'The server has no OpenID Connect provider, so nobody can sign in with one.',
    remedy: 'Sign in with your password or a passkey, or ask the operator to set `MILLRACE_OIDC_ISSUER`.',
  }),
  'mail-not-configured': conflict('Email is not configured on this server.', {
    meaning: 'The server has no mail server, so it cannot send a link for a new password.',
    remedy: `Ask the operator for a new password (\`${operatorCommand('account', 'password EMAIL')}\`), or to set \`MILLRACE_SMTP_HOST\`.`,
  }),
  'oidc-provider-unavailable': unavailable('The sign-in provider is temporarily unavailable.', {
    meaning:
      'The OpenID Connect provider did not respond, or it refused this server. `detail` and the server log say why.',
    remedy: 'Try again later, or sign in with your password or a passkey.',
  }),
  'two-factor-enabled': conflict('Two-factor sign-in is already on.', {
    meaning: 'Two-factor sign-in is on, so it cannot be set up again.',
    remedy: 'To move to another device, turn it off first.',
  }),
  'two-factor-not-enabled': conflict('Two-factor sign-in is off.', {
    meaning: 'Two-factor sign-in is off, or its setup was not started.',
    remedy: 'Start with `POST /account/two-factor`.',
  }),
  'invitation-of-other-user': denied('This invitation is for someone else.', {
    status: 403,
    meaning:
      'The invitation is for an email address that has a user, and you are not signed in with it, or the OpenID Connect provider signed you in with another address.',
    remedy: 'Sign in with the address that `detail` names, and accept the invitation again.',
  }),
  'email-unverified': denied('Your email address is not verified.', {
    status: 403,
    meaning:
      'Joining another account, and inviting others, removing them or changing their roles, needs a verified email address. Without it, someone else could have created your user.',
    remedy:
      'Open the link of the invitation that was mailed to you, or request a new password. Without a mail server, ask the operator to verify you.',
  }),
  'invitation-limit-reached': invalid('Your account has reached the invitations limit.'),
  'member-limit-reached': invalid('Your account has reached the members limit.'),
  'already-member': conflict('This person is already a member.', {
    meaning: 'Someone with this email address is a member of the account.',
    remedy: 'Change the role of the member instead.',
  }),
  'last-owner': conflict('This is the last owner of the account.', {
    meaning: 'Without this owner, nobody could manage the account.',
    remedy: 'Make another member an owner first.',
  }),
  'project-limit-reached': invalid('Your account has reached the projects limit.', {
    meaning: 'An account can have a limited number of projects.',
    remedy: 'Delete a project that you no longer use.',
  }),
  'last-project': conflict('This is the last project of the account.', {
    meaning: 'An account needs at least one project.',
    remedy: 'Rename the project, or create another one first.',
  }),
  'project-not-empty': conflict('The project still has videos or live streams.', {
    meaning: 'Only a project without videos and live streams can be deleted. Videos in the trash count.',
    remedy: 'Delete its live streams and its videos in both environments, and empty the trash.',
  }),
  'api-key-limit-reached': invalid('Your account has reached the API keys limit.'),
  'last-api-key': conflict('This is the last API key of the environment.'),
  'summary-already-exists': conflict('A summary already exists or is being created on this video.'),
  'nothing-to-retry': conflict(
    'This video has nothing to retry. If its file did not arrive completely, upload it again.',
    {
      meaning: 'No processing step of this video has failed, or its file did not arrive completely.',
      remedy: 'Look at the status of the video. Upload the file if it is missing.',
    },
  ),
  'resource-not-found': notFound('The requested resource could not be found.', {
    meaning: 'Nothing in the environment of your key has this id. Resources of other accounts look the same.',
    remedy: 'Check the id, and whether it belongs to the sandbox or to production.',
  }),
  'unrecognized-request-url': notFound('Unrecognized request URL.', {
    meaning: 'No endpoint has this path.',
    remedy: 'Compare it with the reference. Paths are case-sensitive and have no trailing slash.',
  }),
  'misdirected-request': notFound('Another server handles this request.', { status: 421 }),
  'method-not-allowed': invalid('Method is not allowed for this route.', {
    status: 405,
    meaning: 'The path exists, but does not support this method.',
    remedy: 'Use a method that the `Allow` header names.',
  }),
  'address-too-long': invalid('The URL is too long.', { status: 414 }),
  'range-not-satisfiable': invalid('The requested range is not satisfiable.', { status: 416 }),
  'media-unavailable': unavailable('The media is temporarily unavailable.'),
  'upgrade-required': invalid('This endpoint requires a WebSocket.', { status: 426 }),
  'too-many-requests': unavailable('Too many requests.', {
    status: 429,
    blame: 'caller',
    meaning: 'Your environment has sent more requests in this minute than its limit allows.',
    remedy:
      'Wait for the seconds in `Retry-After`. `X-RateLimit-Remaining` shows how many requests are left.',
  }),
  'request-timeout': unavailable('The request took too long.', {
    status: 408,
    blame: 'caller',
    meaning: 'The body stopped arriving, or arrived too slowly.',
    remedy: 'Send it again. On slow connections, send large files in chunks with `Content-Range`.',
  }),
  'server-draining': unavailable('The server is shutting down.'),
  'disk-full': unavailable("The server's disk is full.", {
    meaning: 'The server has no space for the file.',
    remedy: 'Try again later. The operator has to free up space.',
  }),
  'out-of-resources': unavailable('The server ran out of memory, file descriptors or processes.', {
    meaning: 'The server ran out of memory, file descriptors or processes.',
    remedy: 'Try again later. The operator has to raise the limits of the server.',
  }),
  'process-killed': unavailable('The server ran out of memory while processing this file.', {
    meaning: 'The system ended ffmpeg, which it does when memory runs out.',
    remedy: 'Try again later. The operator has to give the server more memory.',
  }),
  'storage-unavailable': unavailable('The storage is temporarily unavailable.'),
  'storage-unusable': unavailable('The storage cannot be used.'),
  'server-busy': unavailable('The server is busy.', {
    meaning: 'So many reports of players wait that this one was left out.',
    remedy: 'Nothing is lost but this report: send the next one as usual. The operator has to add servers.',
  }),
  'not-ready': unavailable('The server is not ready.', { logLevel: 'info' }),
  'images-busy': unavailable('Too many images are being processed.', {
    meaning:
      'The server is processing as many images as it can, and the queue is full, or it did not finish in time.',
    remedy: 'Send the image again after the seconds in `Retry-After`.',
  }),
  'server-error': internal('Server error'),
  'config-invalid': unavailable('The configuration is invalid.'),
  'listen-failed': unavailable('The server cannot listen on a port.'),
  'data-dir-unusable': unavailable('The data folder cannot be used.', {
    meaning: 'A folder of the server was deleted or replaced, or its disk was unmounted.',
    remedy: 'Try again later. The operator finds the reason at `/health/ready`.',
  }),
  'ffmpeg-unusable': unavailable('No usable ffmpeg was found.'),
  'isolation-unusable': unavailable('The sandbox for ffmpeg does not work.'),
  'tls-unusable': unavailable('The TLS certificate cannot be used.'),
  'database-unusable': unavailable('The database cannot be used.', {
    meaning: 'The server cannot reach its database.',
    remedy: 'Try again later. Everything that earlier responses confirmed is kept.',
  }),
  'path-outside-root': internal('A path leads outside its folder.'),
  'model-refused': invalid('The model refused the request.', { blame: 'server' }),
  'model-unavailable': unavailable('The model is temporarily unavailable.'),
  'media-malformed': invalid('The media cannot be read.', { blame: 'publisher' }),
  'playlist-malformed': invalid('The playlist cannot be read.'),
  'source-unreachable': invalid('The source of the video cannot be fetched.', {
    meaning: 'The file at `source` could not be fetched: the address does not respond, or is not allowed.',
    remedy: 'Check that the address can be fetched from elsewhere without signing in.',
  }),
  'media-refused': invalid('The media cannot be used.'),
  'offer-invalid': invalid('The SDP offer is invalid.', {
    meaning:
      'The SDP offer of a WHIP or WHEP request cannot be read, or lacks what a WebRTC connection needs.',
    remedy: 'Look at `detail`. Browsers and encoders write such offers themselves; send theirs unchanged.',
  }),
  'offer-unsupported': invalid('The offered media is not supported.', {
    status: 422,
    meaning: 'The offer has no video or audio in a format that can be published, or watched.',
    remedy: 'Offer H.264 and Opus, which all browsers have.',
  }),
  'not-playable-over-webrtc': invalid('This broadcast is not available over WebRTC.', {
    status: 406,
    meaning:
      'The broadcast is not delivered over WHEP, or has a codec that browsers do not play over WebRTC.',
    remedy: 'Play the HLS stream. `detail` says what to change in the encoder or the live stream.',
  }),
  'unsupported-content-type': invalid('The content type is not supported.', {
    status: 415,
    meaning: 'The endpoint does not accept this content type.',
    remedy: 'Send the `Content-Type` that `detail` names.',
  }),
  'live-stream-not-broadcasting': conflict('There is no broadcast to clip.', {
    meaning:
      'A clip of a live stream was requested that is not broadcasting, has only just begun, or is moving to another server.',
    remedy: 'Clip the recording of the broadcast, or try again in a few seconds, as `detail` says.',
  }),
  'stream-key-missing': denied('The stream key is missing.', {
    meaning: 'The request does not say which live stream to publish to.',
    remedy: 'Send `Authorization: Bearer` with the stream key, or append the key to `/whip/`.',
  }),
  'stream-key-unknown': denied('The stream key is not known.', {
    meaning: 'No live stream has this stream key.',
    remedy:
      'Copy the key of the live stream again, whole and without spaces. It may have been replaced or deleted.',
  }),
  'already-publishing': conflict('Another encoder is already publishing.', {
    meaning: 'Another encoder is publishing to this live stream.',
    remedy: 'Stop the other encoder first. One that lost its connection is disconnected after a few seconds.',
  }),
  'session-ended': notFound('The server ended this session.', {
    status: 410,
    meaning:
      'The request is for a WHIP session that the server ended, for example because someone ended the broadcast.',
    remedy: 'Do not reconnect automatically. Show `detail` to the broadcaster.',
  }),
  'session-tag-required': invalid('The If-Match header is required.', {
    status: 428,
    meaning: 'A `PATCH` to a WHIP or WHEP session lacks `If-Match`.',
    remedy: 'Send the `ETag` of the newest response as `If-Match`, or `*` to restart ICE.',
  }),
  'session-changed': conflict('The session has changed.', {
    status: 412,
    meaning: 'The ETag in `If-Match` is not that of the current ICE session.',
    remedy: 'Use the ETag of the newest response.',
  }),
  'process-failed': internal('A child process failed.'),
  stopped: internal('A part of the server was used after it was stopped.'),
} satisfies Record<string, ErrorEntry>;

/** Descriptions of statuses in the OpenAPI document. */
export const statusDescriptions: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'Credentials are missing or wrong.',
  403: 'Not allowed.',
  404: 'The resource does not exist, or belongs to another account.',
  408: 'The body arrived too slowly.',
  409: 'The resource is in a state that does not allow this.',
  413: 'The body is too large.',
  416: 'The requested range is outside the file.',
  426: 'The endpoint requires a WebSocket.',
  429: 'Too many requests.',
  500: 'An error of the server.',
  503: 'The server is temporarily unavailable.',
};

export type ErrorCode = keyof typeof errorRegister;

interface ErrorAdvice {
  readonly meaning: string;
  readonly remedy: string;
}

export function adviceOf(code: ErrorCode): ErrorAdvice {
  const { kind, status, title, meaning, remedy }: ErrorEntry = errorRegister[code];
  if (meaning !== undefined && remedy !== undefined) return { meaning, remedy };
  if (kind === 'internal') {
    return {
      meaning: 'Something went wrong on the server.',
      remedy:
        'Try again. If the error persists, send the operator the `X-Request-Id` of the response, which is in the log.',
    };
  }
  if (kind === 'unavailable' && status === 503) {
    return { meaning: title, remedy: 'Try again later. If the error persists, contact the operator.' };
  }
  if (kind === 'conflict') {
    return { meaning: title, remedy: `${nothingChanged}Check the state of the resource first.` };
  }
  return { meaning: title, remedy: `${nothingChanged}${readDetail}` };
}

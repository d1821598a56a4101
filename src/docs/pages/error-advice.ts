import { AppError, type ErrorCode, errorRegister } from '../../shared/errors.ts';

interface ErrorAdvice {
  readonly meaning: string;
  readonly remedy: string;
}

const readDetail =
  'Look at `name`, `detail` and `problems` in the response, correct the request and send it again.';
const nothingChanged = 'Nothing was changed. ';

const adviceByCode: Partial<Record<ErrorCode, ErrorAdvice>> = {
  'invalid-attribute': {
    meaning: 'A parameter or a field of the body is unknown or has an invalid value.',
    remedy: readDetail,
  },
  'attribute-required': {
    meaning: 'A required field of the body is missing.',
    remedy: 'Add the fields that `problems` names.',
  },
  'invalid-payload': {
    meaning: 'The body is not a JSON object, not a multipart form, or not valid HTTP.',
    remedy: 'Check that the body is complete, encoded in UTF-8, and of the type that the reference names.',
  },
  'payload-too-large': {
    meaning: 'A JSON body can have 1 MiB, a body of `/auth/*` 16 KiB, and all headers together 16 KiB.',
    remedy: 'Send less. Upload files as multipart forms to the upload endpoints.',
  },
  'video-source-already-uploaded': {
    meaning: 'This video already has its file. A file cannot be replaced.',
    remedy: 'Create another video for another file.',
  },
  'authentication-missing-authorization-header': {
    meaning: 'The request has no credentials.',
    remedy:
      'Send `Authorization: Basic` with your API key as the user name and an empty password, or `Bearer` with an access token.',
  },
  'authentication-invalid-authorization-header-value': {
    meaning: 'The `Authorization` header is neither valid `Basic` nor valid `Bearer`.',
    remedy: 'For `Basic`, encode the key followed by a colon in Base64.',
  },
  'authentication-invalid-api-key': {
    meaning:
      'The API key is not known. It may be mistyped, deleted, or a production key of an account that is not upgraded.',
    remedy: 'Check the key, and that the Base64 text includes the colon after it.',
  },
  'authentication-invalid-access-token': {
    meaning: 'The access token is not known, or is older than an hour.',
    remedy: 'Get a new one with `POST /auth/refresh` or `POST /auth/api-key`.',
  },
  'authentication-invalid-user-credentials': {
    meaning: 'The API key or the refresh token is not known, or the refresh token was used before.',
    remedy: 'Get new tokens with `POST /auth/api-key`. A refresh token works once.',
  },
  'authentication-missing-upload-token': {
    meaning: 'Uploads to `/upload` need an upload token.',
    remedy: 'Add `?token=` with a token from `POST /upload-tokens`.',
  },
  'authentication-invalid-upload-token': {
    meaning: 'The upload token is not known, was deleted, or has expired.',
    remedy: 'Create a new one with `POST /upload-tokens`.',
  },
  'authentication-invalid-session': {
    meaning:
      'The request has no session cookie, or its session has ended: after 30 days without use, by signing out, or with a new password.',
    remedy: 'Sign in with `POST /auth/session`. In your own apps, use an API key.',
  },
  'authentication-wrong-password': {
    meaning: 'The email address or password is wrong.',
    remedy: 'Try again, or request a new password on the sign-in page. After ten attempts you have to wait.',
  },
  'authentication-second-factor-required': {
    meaning: 'The password is correct, and the user has two-factor sign-in turned on.',
    remedy:
      'Send the email address and the password again, with a code from the authenticator app or a recovery code as `code`.',
  },
  'authentication-wrong-code': {
    meaning:
      'The code from the authenticator app or the recovery code is wrong, expired or already used. Each works once.',
    remedy:
      'Wait for the next code and check the time of your device. Without the device, use a recovery code, or ask the operator.',
  },
  'authentication-invalid-passkey': {
    meaning:
      'The passkey is not registered, was deleted, or signed a challenge that is wrong, already used or older than 5 minutes.',
    remedy: 'Try again, or sign in with your password.',
  },
  'passkey-limit-reached': {
    meaning: 'A user can have 20 passkeys.',
    remedy: 'Delete one that you no longer use with `DELETE /account/passkeys/{passkeyId}`.',
  },
  'passkeys-unavailable': {
    meaning:
      'Browsers allow passkeys only over HTTPS with a host name, or on `localhost`. The public URL of the server is neither.',
    remedy:
      'Ask the operator to set the public URL of the server (`MILLRACE_PUBLIC_URL`) to an `https:` address with a host name.',
  },
  'authentication-oidc-refused': {
    meaning:
      'Sign-in with the OpenID Connect provider failed. `detail` says why: it took longer than 10 minutes, was already used, was started in another browser, or no user has this email address.',
    remedy: 'Start again from the sign-in page. A person without a user needs an invitation.',
  },
  'oidc-not-configured': {
    meaning: 'The server has no OpenID Connect provider, so nobody can sign in with one.',
    remedy: 'Sign in with your password or a passkey, or ask the operator to set `MILLRACE_OIDC_ISSUER`.',
  },
  'mail-not-configured': {
    meaning: 'The server has no mail server, so it cannot send a link for a new password.',
    remedy:
      'Ask the operator for a new password (`npm run account -- password EMAIL`), or to set `MILLRACE_SMTP_HOST`.',
  },
  'oidc-provider-unavailable': {
    meaning:
      'The OpenID Connect provider did not respond, or it refused this server. `detail` and the server log say why.',
    remedy: 'Try again later, or sign in with your password or a passkey.',
  },
  'two-factor-enabled': {
    meaning: 'Two-factor sign-in is on, so it cannot be set up again.',
    remedy: 'To move to another device, turn it off first.',
  },
  'two-factor-not-enabled': {
    meaning: 'Two-factor sign-in is off, or its setup was not started.',
    remedy: 'Start with `POST /account/two-factor`.',
  },
  'authorization-account-not-upgraded': {
    meaning: 'Only accounts that the server operator has upgraded can use production.',
    remedy: 'Use the sandbox, or ask the operator.',
  },
  'authorization-insufficient-scope': {
    meaning:
      'The API key does not have the scope that this call needs, or your role in the account does not.',
    remedy: '`detail` names the scope. Use another key, or ask an owner of the account.',
  },
  'invitation-of-other-user': {
    meaning:
      'The invitation is for an email address that has a user, and you are not signed in with it, or the OpenID Connect provider signed you in with another address.',
    remedy: 'Sign in with the address that `detail` names, and accept the invitation again.',
  },
  'email-unverified': {
    meaning:
      'Joining another account, and inviting others, removing them or changing their roles, needs a verified email address. Without it, somebody else could have created your user.',
    remedy:
      'Open the link of the invitation that was mailed to you, or request a new password. Without a mail server, ask the operator to verify you.',
  },
  'already-member': {
    meaning: 'Somebody with this email address is a member of the account.',
    remedy: 'Change the role of the member instead.',
  },
  'last-owner': {
    meaning: 'Without this owner, nobody could manage the account.',
    remedy: 'Make another member an owner first.',
  },
  'authorization-unknown-project': {
    meaning: 'The header `Millrace-Project` names no project of your account. It may have been deleted.',
    remedy: 'Use a `projectId` of `GET /account/projects`, or leave the header out for the first project.',
  },
  'project-limit-reached': {
    meaning: 'An account can have a limited number of projects.',
    remedy: 'Delete a project that you no longer use.',
  },
  'last-project': {
    meaning: 'An account needs at least one project.',
    remedy: 'Rename the project, or create another one first.',
  },
  'project-not-empty': {
    meaning: 'Only a project without videos and live streams can be deleted. Videos in the trash count.',
    remedy: 'Delete its live streams and its videos in both environments, and empty the trash.',
  },
  'authorization-operator-only': {
    meaning: 'Only the account of the server operator can do this.',
    remedy: 'Ask the operator.',
  },
  'authorization-other-site': {
    meaning: 'A page on another site made the browser send this request with a session cookie.',
    remedy:
      'Send an access token from your own pages. Behind a proxy, forward the `Host` header or set the public URL of the server.',
  },
  'authorization-suspended-account': {
    meaning: 'The server operator has suspended the account.',
    remedy: 'Contact the operator. Nothing was deleted.',
  },
  'authorization-loopback-only': {
    meaning: 'Only the server operator can use this address.',
    remedy: "Send the request from the server's own machine, or with the operator's token.",
  },
  'resource-not-found': {
    meaning: 'Nothing in the environment of your key has this id. Resources of other accounts look the same.',
    remedy: 'Check the id, and whether it belongs to the sandbox or to production.',
  },
  'unrecognized-request-url': {
    meaning: 'No endpoint has this path.',
    remedy: 'Compare it with the reference. Paths are case-sensitive and have no trailing slash.',
  },
  'method-not-allowed': {
    meaning: 'The path exists, but does not support this method.',
    remedy: 'Use a method that the `Allow` header names.',
  },
  'offer-invalid': {
    meaning:
      'The SDP offer of a WHIP or WHEP request cannot be read, or lacks what a WebRTC connection needs.',
    remedy: 'Look at `detail`. Browsers and encoders write such offers themselves; send theirs unchanged.',
  },
  'offer-unsupported': {
    meaning: 'The offer has no video or audio in a format that can be published, or watched.',
    remedy: 'Offer H.264 and Opus, which all browsers have.',
  },
  'not-playable-over-webrtc': {
    meaning:
      'The broadcast is not delivered over WHEP, or has a codec that browsers do not play over WebRTC.',
    remedy: 'Play the HLS stream. `detail` says what to change in the encoder or the live stream.',
  },
  'unsupported-content-type': {
    meaning: 'The endpoint does not accept this content type.',
    remedy: 'Send the `Content-Type` that `detail` names.',
  },
  'playback-refused': {
    meaning: 'The token of the viewer is not valid, or the playback policy excludes the site or the country.',
    remedy: 'Read `detail`. Sign a new token, or change the playback policy.',
  },
  'viewer-clips-off': {
    meaning: 'The live stream does not let its viewers create clips.',
    remedy: 'Set `viewerClips` of the live stream to true, or create the clip with an API key.',
  },
  'invalid-viewer-clip': {
    meaning: 'The body is wrong, or the part of the broadcast is older than what viewers can rewind to.',
    remedy: 'Read `detail`. Send `lastSeconds` from 5 to 60, and a smaller `behindSeconds`.',
  },
  'stream-key-missing': {
    meaning: 'The request does not say which live stream to publish to.',
    remedy: 'Send `Authorization: Bearer` with the stream key, or append the key to `/whip/`.',
  },
  'stream-key-unknown': {
    meaning: 'No live stream has this stream key.',
    remedy:
      'Copy the key of the live stream again, whole and without spaces. It may have been replaced or deleted.',
  },
  'hook-refused': {
    meaning: 'The project has a hook that decides who can publish or play, and it denied this request.',
    remedy: '`detail` is the message of the hook. The dashboard shows its latest responses under Webhooks.',
  },
  'already-publishing': {
    meaning: 'Another encoder is publishing to this live stream.',
    remedy: 'Stop the other encoder first. One that lost its connection is disconnected after a few seconds.',
  },
  'live-stream-not-broadcasting': {
    meaning:
      'A clip of a live stream was requested that is not broadcasting, has only just begun, or is moving to another server.',
    remedy: 'Clip the recording of the broadcast, or try again in a few seconds, as `detail` says.',
  },
  'session-ended': {
    meaning:
      'The request is for a WHIP session that the server ended, for example because somebody ended the broadcast.',
    remedy: 'Do not reconnect automatically. Show `detail` to the broadcaster.',
  },
  'session-tag-required': {
    meaning: 'A `PATCH` to a WHIP or WHEP session lacks `If-Match`.',
    remedy: 'Send the `ETag` of the newest response as `If-Match`, or `*` to restart ICE.',
  },
  'session-changed': {
    meaning: 'The ETag in `If-Match` is not that of the current ICE session.',
    remedy: 'Use the ETag of the newest response.',
  },
  'too-many-requests': {
    meaning: 'Your environment has sent more requests in this minute than its limit allows.',
    remedy:
      'Wait for the seconds in `Retry-After`. `X-RateLimit-Remaining` shows how many requests are left.',
  },
  'request-timeout': {
    meaning: 'The body stopped arriving, or arrived too slowly.',
    remedy: 'Send it again. On slow connections, send large files in chunks with `Content-Range`.',
  },
  'images-busy': {
    meaning: 'The server is processing as many images as it can, and the queue is full.',
    remedy: 'Send the image again after the seconds in `Retry-After`.',
  },
  'disk-full': {
    meaning: 'The server has no space for the file.',
    remedy: 'Try again later. The operator has to free up space.',
  },
  'out-of-resources': {
    meaning: 'The server ran out of memory, file descriptors or processes.',
    remedy: 'Try again later. The operator has to raise the limits of the server.',
  },
  'process-killed': {
    meaning: 'The system ended ffmpeg, which it does when memory runs out.',
    remedy: 'Try again later. The operator has to give the server more memory.',
  },
  'nothing-to-retry': {
    meaning: 'No processing step of this video has failed, or its file did not arrive completely.',
    remedy: 'Look at the status of the video. Upload the file if it is missing.',
  },
  'database-unusable': {
    meaning: 'The server cannot reach its database.',
    remedy: 'Try again later. Everything that earlier responses confirmed is kept.',
  },
  'storage-limit-reached': {
    meaning:
      'The files of your videos have reached the storage limit of this environment, or the new file does not fit.',
    remedy: 'Delete videos permanently, or ask the operator for more. `GET /usage` shows what is used.',
  },
  'upload-limit-reached': {
    meaning: 'This environment has its maximum number of uploads in progress.',
    remedy: 'Complete uploads, or delete their videos. `GET /usage` shows how many there are.',
  },
  'source-unreachable': {
    meaning: 'The file at `source` could not be fetched: the address does not respond, or is not allowed.',
    remedy: 'Check that the address can be fetched from elsewhere without signing in.',
  },
};

const adviceByPrefix: readonly (readonly [prefix: string, advice: ErrorAdvice])[] = [
  [
    'video-content-range-',
    {
      meaning: 'The `Content-Range` of a chunk is invalid, or does not fit the chunks sent before.',
      remedy:
        'Number parts from 1 and bytes from 0, send the same total each time, use one form only, and send chunks of 5 to 200 MiB. ' +
        'Only the last one can be smaller. `GET /videos/{videoId}/status` shows what has arrived.',
    },
  ],
  [
    'video-source-',
    {
      meaning: 'This video was created from a `source` and cannot have another file.',
      remedy: 'Create a video without `source` to upload a file.',
    },
  ],
  [
    'uploaded-file-',
    {
      meaning: 'The file in the form is not allowed here.',
      remedy: 'Send one part with a file name, of a type and size that the reference allows.',
    },
  ],
];

export function adviceOf(code: ErrorCode): ErrorAdvice {
  return (
    adviceByCode[code] ??
    adviceByPrefix.find(([prefix]) => code.startsWith(prefix))?.[1] ??
    adviceOfKind(code)
  );
}

function adviceOfKind(code: ErrorCode): ErrorAdvice {
  const { kind, title } = errorRegister[code];
  const { status } = new AppError(code);
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

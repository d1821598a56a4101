import { AppError, type ErrorCode, errorRegister } from '../../shared/errors.ts';

/** What a person is told about an error. */
export interface ErrorAdvice {
  readonly meaning: string;
  readonly remedy: string;
}

const readDetail =
  'Look at `name`, `detail` and `problems` in the answer, and send the request again with that put right.';
const nothingChanged = 'Nothing was changed. ';

const adviceByCode: Partial<Record<ErrorCode, ErrorAdvice>> = {
  'invalid-attribute': {
    meaning: 'A parameter or a field of the body has a value that it cannot have, or is not known here.',
    remedy: readDetail,
  },
  'attribute-required': {
    meaning: 'A field that must be in the body is not there.',
    remedy: 'Add what `problems` names.',
  },
  'invalid-payload': {
    meaning: 'The body cannot be read: it is no JSON object, no multipart form, or not valid HTTP.',
    remedy: 'Check that the body is complete, in UTF-8, and of the kind that the reference names.',
  },
  'payload-too-large': {
    meaning: 'A JSON body may have 1 MiB, one of `/auth/*` 16 KiB, and all headers together 16 KiB.',
    remedy: 'Send less. Files go to the endpoints for uploads, as multipart forms.',
  },
  'video-source-already-uploaded': {
    meaning: 'This video has its file already. A file cannot be replaced.',
    remedy: 'Make another video for another file.',
  },
  'authentication-missing-authorization-header': {
    meaning: 'The request says nothing of who sends it.',
    remedy:
      'Send `Authorization: Basic` with your API key as the user name and an empty password, or `Bearer` with an access token.',
  },
  'authentication-invalid-authorization-header-value': {
    meaning: 'The `Authorization` header is there, but is neither `Basic` nor `Bearer` in the right form.',
    remedy: 'For `Basic`, encode the key and a colon after it in Base64.',
  },
  'authentication-invalid-api-key': {
    meaning:
      'No key is like this one. It may be mistyped, deleted, or a production key of an account that is not upgraded.',
    remedy: 'Check the key, and that the colon after it is part of what you encode.',
  },
  'authentication-invalid-access-token': {
    meaning: 'The access token is not known, or older than an hour.',
    remedy: 'Get a new one with `POST /auth/refresh` or `POST /auth/api-key`.',
  },
  'authentication-invalid-user-credentials': {
    meaning: 'The API key or the refresh token is not known, or was used up.',
    remedy: 'Get new tokens with `POST /auth/api-key`. A refresh token is good for one use.',
  },
  'authentication-missing-upload-token': {
    meaning: 'An upload to `/upload` needs an upload token.',
    remedy: 'Add `?token=` with a token from `POST /upload-tokens`.',
  },
  'authentication-invalid-upload-token': {
    meaning: 'The upload token is not known, was deleted, or has expired.',
    remedy: 'Make a new one with `POST /upload-tokens`.',
  },
  'authentication-invalid-session': {
    meaning:
      'No session is named by a cookie, or the one that is has ended: by itself after 30 days, by signing out, or with a new password.',
    remedy: 'Sign in with `POST /auth/session`. Programs use an API key instead.',
  },
  'authentication-wrong-password': {
    meaning: 'Nobody signs in with this address and this password.',
    remedy: 'Try again; after ten times there is a pause. The operator can make a new password.',
  },
  'authorization-account-not-upgraded': {
    meaning: 'Production is for accounts that the operator of this server has upgraded.',
    remedy: 'Use the sandbox, or ask the operator.',
  },
  'authorization-operator-only': {
    meaning: 'This is for the account of whoever runs the server.',
    remedy: 'Ask the operator.',
  },
  'authorization-other-site': {
    meaning: 'A page of another site made the browser send this request, where a cookie tells who asks.',
    remedy:
      'Pages of your own send an access token. Behind a proxy, pass the `Host` header on or set the public address of the server.',
  },
  'authorization-suspended-account': {
    meaning: 'The operator of this server has suspended the account.',
    remedy: 'Talk to the operator. Nothing of yours was deleted.',
  },
  'authorization-loopback-only': {
    meaning: 'This address is for whoever runs the server.',
    remedy: "Ask from the server's own machine, or with the operator's token.",
  },
  'resource-not-found': {
    meaning:
      'There is nothing with this id in the environment of your key. What belongs to others looks the same.',
    remedy: 'Check the id, and whether it was made with the sandbox or the production key.',
  },
  'unrecognized-request-url': {
    meaning: 'No endpoint has this path.',
    remedy: 'Compare it with the reference: paths are case sensitive and have no slash at their end.',
  },
  'method-not-allowed': {
    meaning: 'The path is right, but does not know this method.',
    remedy: 'Use one that the `Allow` header names.',
  },
  'too-many-requests': {
    meaning: 'More requests came in this minute than your environment may send.',
    remedy:
      'Wait as many seconds as `Retry-After` says. `X-RateLimit-Remaining` tells beforehand how many are left.',
  },
  'request-timeout': {
    meaning: 'The body stopped coming, or came too slowly.',
    remedy: 'Send it again. Over slow connections, send large files in pieces with `Content-Range`.',
  },
  'images-busy': {
    meaning: 'The server processes only a few images at once, and as many as may wait do so already.',
    remedy: 'Send the image again after the seconds in `Retry-After`.',
  },
  'disk-full': {
    meaning: 'The server has no room for the file.',
    remedy: 'Try again later. The operator has to make room.',
  },
  'storage-limit-reached': {
    meaning:
      'The files of your videos take as many bytes as this environment of your account may store, or the new file does not fit beside them.',
    remedy: 'Delete videos permanently, or ask the operator for more. `GET /usage` tells what is used.',
  },
  'upload-limit-reached': {
    meaning: 'This environment of your account has its maximum number of uploads in progress.',
    remedy: 'Complete uploads, or delete their videos. `GET /usage` tells how many there are.',
  },
  'source-unreachable': {
    meaning: 'What `source` names could not be fetched: the address does not answer, or may not be asked.',
    remedy: 'Check that the address can be fetched from elsewhere without signing in.',
  },
};

const adviceByPrefix: readonly (readonly [prefix: string, advice: ErrorAdvice])[] = [
  [
    'video-content-range-',
    {
      meaning:
        'A piece of a file was announced by a `Content-Range` that cannot be right, or does not fit those sent before.',
      remedy:
        'Number parts from 1 and bytes from 0, name the same total each time, keep to one form, and send pieces of 5 to 200 MiB; ' +
        'only the last may be smaller. `GET /videos/{videoId}/status` tells what has arrived.',
    },
  ],
  [
    'video-source-',
    {
      meaning: 'This video was made from a `source`, which is all that it can have.',
      remedy: 'Make a video without `source` to upload a file.',
    },
  ],
  [
    'uploaded-file-',
    {
      meaning: 'The file in the form is not one that can be taken here.',
      remedy: 'Send one part with a file name, of a kind and size that the reference allows.',
    },
  ],
];

/** What an error means and what to do about it. */
export function adviceOf(code: ErrorCode): ErrorAdvice {
  return (
    adviceByCode[code] ??
    adviceByPrefix.find(([prefix]) => code.startsWith(prefix))?.[1] ??
    adviceOfKind(code)
  );
}

/** What holds for all errors of a kind. */
function adviceOfKind(code: ErrorCode): ErrorAdvice {
  const { kind, title } = errorRegister[code];
  const { status } = new AppError(code);
  if (kind === 'internal') {
    return {
      meaning: 'Something went wrong in the server.',
      remedy: 'Try again. If it stays, tell the operator the `X-Request-Id` of the answer: it is in the log.',
    };
  }
  if (kind === 'unavailable' && status === 503) {
    return { meaning: title, remedy: 'Try again later. If it stays, the operator has to act.' };
  }
  if (kind === 'conflict') {
    return { meaning: title, remedy: `${nothingChanged}Look at the state of the resource first.` };
  }
  return { meaning: title, remedy: `${nothingChanged}${readDetail}` };
}

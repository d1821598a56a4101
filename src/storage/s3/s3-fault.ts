import { AppError, messageOf, systemCodeOf } from '../../shared/errors.ts';

export type S3FaultKind =
  | 'missing'
  | 'changed'
  | 'range'
  | 'bucket'
  | 'denied'
  | 'clock'
  | 'full'
  | 'busy'
  | 'timeout'
  | 'network'
  | 'server'
  | 'invalid';

const retriedKinds: ReadonlySet<S3FaultKind> = new Set(['clock', 'busy', 'timeout', 'network', 'server']);

/** A failed request to the S3 server. */
export class S3Fault extends Error {
  override readonly name = 'S3Fault';
  readonly kind: S3FaultKind;
  readonly canRetry: boolean;

  constructor(kind: S3FaultKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.canRetry = retriedKinds.has(kind);
  }

  /** Returns the error for callers of the storage. */
  toAppError(): AppError {
    const code = this.kind === 'full' ? 'disk-full' : 'storage-unavailable';
    return new AppError(code, `${this.message}${adviceOf[this.kind] ?? ''}`, { cause: this });
  }
}

const adviceOf: Partial<Record<S3FaultKind, string>> = {
  bucket: '. Create the bucket, or correct its name in MILLRACE_STORAGE_URL.',
  denied:
    '. Check the key, its secret and its permissions: it must list the bucket, and read, write and delete objects.',
  clock: '. Set the clock of this machine, or that of the S3 server.',
  network: '. Check that the S3 server runs, and its address in MILLRACE_STORAGE_URL.',
};

/** Kinds by the code of answers to GET, PUT, DELETE and LIST; those to HEAD have only a status. */
const kindOfCode: Readonly<Record<string, S3FaultKind>> = {
  NoSuchKey: 'missing',
  NotFound: 'missing',
  AccessDenied: 'denied',
  NoSuchBucket: 'bucket',
  NotImplemented: 'invalid',
  MethodNotAllowed: 'invalid',
  InvalidBucketName: 'bucket',
  PreconditionFailed: 'changed',
  InvalidRange: 'range',
  RequestTimeTooSkewed: 'clock',
  SlowDown: 'busy',
  ServiceUnavailable: 'busy',
  RequestTimeout: 'timeout',
  InternalError: 'server',
  InsufficientStorage: 'full',
  QuotaExceeded: 'full',
  XMinioStorageFull: 'full',
  CredentialsProviderError: 'denied',
};

interface ServiceError {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly clockSkewCorrected?: boolean };
}

/** @param error of the SDK, or of the connection */
export function s3FaultOf(error: unknown, hasTimedOut: boolean): S3Fault {
  if (error instanceof S3Fault) return error;
  const { name = '', $metadata = {} } = error as ServiceError;
  const status = $metadata.httpStatusCode;
  if (hasTimedOut) return new S3Fault('timeout', 'The S3 server did not answer in time', error);
  const isDenied = status === 400 || status === 403;
  const kind =
    isDenied && $metadata.clockSkewCorrected === true ? 'clock' : (kindOfCode[name] ?? kindOfStatus(status));
  const code = systemCodeOf(error);
  const said = [name === 'Error' ? undefined : name, code, messageOf(error)].filter(
    (part, index, all) => part !== undefined && part !== '' && all.indexOf(part) === index,
  );
  return new S3Fault(kind, `The S3 server: ${said.join(', ')}`, error);
}

function kindOfStatus(status: number | undefined): S3FaultKind {
  // The connection failed, or the answer was no HTTP.
  if (status === undefined || status < 300) return 'network';
  if (status === 404) return 'missing';
  if (status === 401 || status === 403) return 'denied';
  if (status === 408) return 'timeout';
  if (status === 409 || status === 412) return 'changed';
  if (status === 416) return 'range';
  if (status === 429 || status === 503) return 'busy';
  if (status === 507) return 'full';
  return status >= 500 && status !== 501 ? 'server' : 'invalid';
}

/** Creates the error of the file system for a missing file. */
export function notFoundError(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT', path });
}

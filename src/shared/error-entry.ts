type ErrorKind = 'invalid' | 'denied' | 'not-found' | 'conflict' | 'unavailable' | 'internal';

type ErrorBlame = 'caller' | 'publisher' | 'destination' | 'server';

export interface ErrorEntry {
  readonly kind: ErrorKind;
  readonly blame: ErrorBlame;
  readonly title: string;
  /** HTTP status. */
  readonly status: number;
  readonly logLevel?: 'info';
  /** Explanation in the documentation, beside the title. */
  readonly meaning?: string;
  /** Advice for the client or the operator, in the documentation. */
  readonly remedy?: string;
}

type Rest = Partial<Omit<ErrorEntry, 'kind' | 'title'>>;

function entryOf(kind: ErrorKind, blame: ErrorBlame, status: number) {
  return (title: string, rest: Rest = {}): ErrorEntry => ({ kind, blame, status, title, ...rest });
}

export const invalid = entryOf('invalid', 'caller', 400);
export const denied = entryOf('denied', 'caller', 401);
export const notFound = entryOf('not-found', 'caller', 404);
export const conflict = entryOf('conflict', 'caller', 409);
export const unavailable = entryOf('unavailable', 'server', 503);
export const internal = entryOf('internal', 'server', 500);

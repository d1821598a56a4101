/** What follows from an upload's request that did not work. */
export type FailureAction =
  /** The way to the server is interrupted: tried for as long as it takes. */
  | 'wait'
  /** It may work at another try; not for ever. */
  | 'try-again'
  /** A person has to decide. */
  | 'give-up';

/** Judges an error of the API by its status and its code. @param status 0 when the server was not reached */
export function classifyFailure(status: number, code: string): FailureAction {
  if (status === 0 || status === 429 || code === 'server-draining') return 'wait';
  if (code === 'disk-full') return 'give-up';
  // The server knows more than this page does: its state is asked for before the next try.
  if (code === 'video-content-range-by-bytes-range-overlap' || code === 'video-source-already-uploaded')
    return 'try-again';
  return status >= 500 || status === 408 ? 'try-again' : 'give-up';
}

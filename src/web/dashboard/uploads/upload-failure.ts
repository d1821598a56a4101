type FailureAction =
  /** The connection is lost: retried without limit. */
  | 'wait'
  /** Retried a limited number of times. */
  | 'try-again'
  | 'give-up';

/** The video, or its project, was deleted. */
export function isVideoGone({ status, code }: { readonly status: number; readonly code: string }): boolean {
  return status === 404 || code === 'authorization-unknown-project';
}

/** `status` is 0 if the server was not reached. */
export function classifyFailure(status: number, code: string): FailureAction {
  if (status === 0 || status === 429 || code === 'server-draining') return 'wait';
  if (code === 'disk-full') return 'give-up';
  // The server is ahead: its state is loaded before the next attempt.
  if (code === 'video-content-range-by-bytes-range-overlap' || code === 'video-source-already-uploaded')
    return 'try-again';
  return status >= 500 || status === 408 ? 'try-again' : 'give-up';
}

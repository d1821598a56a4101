import { AppError } from '../../shared/errors.ts';
import type { AnyCaller, FollowAccess } from './caller.ts';

interface ValidCredentials {
  /** Aborted with the error of the check. */
  readonly signal: AbortSignal;
  release(): void;
}

/**
 * Checks the credentials of a request again when they may have changed, since a file may arrive for hours. An upload that
 * has begun with an upload token may outlast the token, but not the suspension of its account.
 */
export function followCredentials(
  caller: AnyCaller | undefined,
  check: () => Promise<unknown>,
  follow: FollowAccess,
): ValidCredentials {
  const invalid = new AbortController();
  const accountId = caller !== undefined && 'accountId' in caller ? caller.accountId : undefined;
  const endsUpload = (error: AppError) =>
    error.code === 'authorization-suspended-account' || (accountId !== undefined && error.kind === 'denied');
  const release = follow(accountId, () => {
    check().catch((error: unknown) => {
      if (error instanceof AppError && endsUpload(error)) invalid.abort(error);
    });
  });
  return { signal: invalid.signal, release };
}

import { withoutBasePath } from '../../shared/base-path.ts';

/** The token of the link that was opened. */
export function passwordResetToken(): string | undefined {
  return /^\/dashboard\/password-reset\/(\w+)$/.exec(withoutBasePath(location.pathname))?.[1];
}

import type { PrivateAccess } from '../private-sessions.ts';

/** Shared caches ask again after this time, so that what is deleted or made private leaves them. */
const maxSharedSeconds = 300;

/** For edges that check the access of each viewer to what they cache. Browsers ask every time. */
export const accessCaching = 'max-age=0, s-maxage=5';

/** For all viewers who ask an edge at about the same time. Browsers ask every time. */
export const briefCaching = 'max-age=0, s-maxage=1';

/** Restricts responses to a session to the viewer's own browser cache. */
export function cacheControlFor(access: PrivateAccess | undefined, caching: string): string {
  return access === undefined ? caching : `private, ${caching}`;
}

/** Lets browsers keep a response longer than shared caches. */
export function maxAge(access: PrivateAccess | undefined, seconds: number): string {
  const isCapped = access === undefined && seconds > maxSharedSeconds;
  return isCapped ? `max-age=${seconds}, s-maxage=${maxSharedSeconds}` : `max-age=${seconds}`;
}

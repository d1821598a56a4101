import type { PlaybackAdmission } from '../playback-gate.ts';

type Admission = Pick<PlaybackAdmission, 'access' | 'policies' | 'isDecidedByHook'>;

/** Shared caches ask again after this time, so that what is deleted or made private leaves them. */
const maxSharedSeconds = 300;

/** Caching by edges that check the access of each viewer to what they cache. Browsers ask every time. */
export const accessCaching = 'max-age=0, s-maxage=5';

/** Caching by edges that all viewers ask at about the same time. Browsers ask every time. */
export const briefCaching = 'max-age=0, s-maxage=1';

/** Everybody may have the response, so that shared caches may serve it. */
export function isForEverybody({ access, policies, isDecidedByHook }: Admission): boolean {
  return access === undefined && policies.length === 0 && !isDecidedByHook;
}

/** Restricts responses that not everybody may have to the viewer's own browser cache. */
export function cacheControlFor(admission: Admission, caching: string): string {
  return isForEverybody(admission) ? caching : `private, ${caching}`;
}

/** Lets browsers keep a response longer than shared caches. */
export function maxAge(admission: Admission, seconds: number): string {
  const isCapped = isForEverybody(admission) && seconds > maxSharedSeconds;
  return isCapped ? `max-age=${seconds}, s-maxage=${maxSharedSeconds}` : `max-age=${seconds}`;
}

import { call } from '../../api/client.ts';
import { type Loaded, useLoad } from '../hooks/use-load.ts';

/** For how many days deleted videos are kept; 0 where they are gone at once. */
export function useRestoreDays(): Loaded<number> {
  return useLoad('restore-days', async signal => {
    const { limits } = await call('GET /account', { signal });
    return limits.videoRestoreDays ?? 0;
  });
}

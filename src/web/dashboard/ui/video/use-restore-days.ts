import { call } from '../../api/client.ts';
import { type Loaded, useLoad } from '../hooks/use-load.ts';

/** Days until deleted videos are removed; 0 if trash is turned off. */
export function useRestoreDays(): Loaded<number> {
  return useLoad('restore-days', async signal => {
    const { limits } = await call('GET /account', { signal });
    return limits.videoRestoreDays ?? 0;
  });
}

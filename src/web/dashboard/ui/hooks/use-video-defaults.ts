import type { VideoDefaults } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectKey } from '../../state/session.ts';
import { type Loaded, useLoad } from './use-load.ts';

/** Loads the defaults of the chosen environment, with what this server can generate. */
export function useVideoDefaults(): Loaded<VideoDefaults> {
  return useLoad(projectKey.value, signal => call('GET /account/video-defaults', { signal }));
}

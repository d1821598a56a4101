import type { Channel } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectKey } from '../../state/session.ts';
import { type Loaded, useLoad } from './use-load.ts';

/** Loads the channel of the chosen environment; the sandbox never shows one. */
export function useChannel(): Loaded<Channel> {
  return useLoad(projectKey.value, signal => call('GET /account/channel', { signal }));
}

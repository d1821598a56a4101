import { type Answer, call } from '../../api/client.ts';
import { type Loaded, useLoad } from './use-load.ts';

export function useSignInMethods(): Loaded<Answer<'GET /auth/methods'>> {
  return useLoad('sign-in-methods', signal => call('GET /auth/methods', { signal }));
}

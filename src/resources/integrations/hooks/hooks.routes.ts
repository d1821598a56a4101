import { type HookKind, hookKinds } from '../../../events/hooks/hook.ts';
import type { Caller } from '../../../http/routing/caller.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { hookResultSchema, hookSchema, hookSettingsSchema, hooksSchema } from './hooks.schema.ts';
import type { HooksService } from './hooks.service.ts';

interface HookRequest {
  readonly params: { readonly hook: string };
  readonly caller: Caller;
}

export function hookRoutes(hooks: HooksService): Route[] {
  const ofKind = {
    path: '/hooks/{hook}',
    tag: 'Hooks',
    auth: 'key',
    params: { hook: { description: 'What the hook decides.', pattern: hookKinds.join('|') } },
  } as const;
  const one = {
    ...ofKind,
    find: async ({ params, caller }: HookRequest) => {
      const kind = kindOf(params.hook);
      return kind && hooks.find(caller.projectId, kind);
    },
  } as const;
  const success = { status: 200, description: 'The hook.', schema: hookSchema } as const;
  return [
    defineRoute({
      method: 'GET',
      scope: 'admin',
      path: '/hooks',
      tag: 'Hooks',
      auth: 'key',
      summary: 'Get all hooks',
      success: { status: 200, description: 'The hooks of the environment.', schema: hooksSchema },
      handle: ({ caller }) => hooks.all(caller.projectId),
    }),
    defineRoute({
      method: 'GET',
      scope: 'admin',
      ...one,
      summary: 'Get a hook',
      description: 'Includes its latest responses.',
      success,
      handle: ({ found }) => hooks.view(found),
    }),
    defineRoute({
      method: 'PUT',
      scope: 'admin',
      ...ofKind,
      summary: 'Create or replace a hook',
      description:
        'From now on, its URL receives a POST request for each encoder that wants to publish with a stream key of the environment, or for each viewer who begins to play, and decides. A hook that is replaced keeps its id, secret and latest responses; attributes that you do not send get their defaults.',
      find: ({ params }) => kindOf(params.hook),
      body: jsonBody(hookSettingsSchema),
      success,
      isAtomic: true,
      handle: ({ caller, found, body }) => hooks.put(caller.projectId, found, body),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'admin',
      ...one,
      summary: 'Delete a hook',
      description: 'The hook is no longer called. Its latest responses are deleted too.',
      success: { status: 204, description: 'The hook is deleted.' },
      isAtomic: true,
      handle: ({ found }) => hooks.remove(found),
    }),
    defineRoute({
      method: 'POST',
      scope: 'admin',
      ...one,
      path: '/hooks/{hook}/test',
      summary: 'Send a test to a hook',
      description:
        'Sends a request like a real one, with `test: true` and the id of a live stream that does not exist, and waits for the response. Nobody is allowed or refused. A project can send 10 a minute.',
      success: { status: 200, description: 'The response of the hook.', schema: hookResultSchema },
      handle: ({ found, caller }) => hooks.test(found, caller),
    }),
  ];
}

function kindOf(text: string): HookKind | undefined {
  return hookKinds.find(kind => kind === text);
}

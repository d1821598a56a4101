import { afterEach, expect, test, vi } from 'vitest';
import { call } from '../../../../src/web/dashboard/api/client.ts';
import { loadSession, signIn, signOut } from '../../../../src/web/dashboard/api/sessions.ts';
import { session } from '../../../../src/web/dashboard/state/session.ts';

const of = (sessionId: string) => Response.json({ sessionId, environments: ['sandbox'], allProjects: [] });
const refusal = () => Response.json({ title: 'Nobody is signed in.' }, { status: 401 });

/** Answers to what was asked, in that order, when the test wants them. */
function holdAnswers(): ((answer: Response) => void)[] {
  const held: ((answer: Response) => void)[] = [];
  vi.stubGlobal('fetch', () => new Promise<Response>(resolve => held.push(resolve)));
  return held;
}

afterEach(() => {
  vi.unstubAllGlobals();
  session.value = undefined;
});

test('an answer that was asked for before somebody signed in does not sign them out', async () => {
  const held = holdAnswers();
  const who = loadSession();
  const list = call('GET /tags').catch(() => {});
  const entry = signIn({ email: 'admin@localhost', password: 'secret' });
  held[2]?.(of('new'));
  await entry;
  held[0]?.(refusal());
  held[1]?.(refusal());
  await Promise.all([who, list]);
  expect(session.value?.sessionId).toBe('new');
});

test('an answer that was asked for before somebody signed out does not bring them back', async () => {
  const held = holdAnswers();
  const who = loadSession();
  const exit = signOut();
  held[1]?.(new Response(null, { status: 204 }));
  await exit;
  held[0]?.(of('old'));
  await who;
  expect(session.value).toBeNull();
});

test('a refusal of what was asked in this session ends it', async () => {
  const held = holdAnswers();
  const who = loadSession();
  held[0]?.(of('old'));
  await who;
  const list = call('GET /tags').catch(() => {});
  held[1]?.(refusal());
  await list;
  expect(session.value).toBeNull();
});

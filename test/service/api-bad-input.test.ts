import { readdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';

const cases = 600;
const atOnce = 40;

let server: TestApi;
let liveStreamId: string;
const agent = new Agent({ keepAlive: false });
const unhandled: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);

beforeAll(async () => {
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  server = await startApi({ rateLimits: { uploads: 0, writes: 0, reads: 0 }, bodyTimeoutMs: 300 });
  liveStreamId = (await server.call('POST', '/live-streams', { body: { name: 'a' } })).json.liveStreamId;
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  process.off('uncaughtException', note);
  await server.stop();
});

/** The same numbers at every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The status of the answer, or 0 when the connection was ended. */
function send(method: string, path: string, headers: Record<string, string>, body: Buffer): Promise<number> {
  return new Promise(resolve => {
    const outgoing = request({
      port: server.listener.httpPort,
      agent,
      method,
      path,
      headers: { authorization: basic(sandboxKey), 'content-length': String(body.length), ...headers },
    });
    outgoing.on('response', response => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    outgoing.on('error', () => resolve(0));
    outgoing.end(body);
  });
}

async function runCases(one: (random: () => number) => Promise<number>): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let done = 0; done < cases; done += atOnce) {
    const batch = Array.from({ length: atOnce }, (_, index) => one(seeded(done + index)));
    for (const status of await Promise.all(batch)) statuses.add(status);
  }
  return statuses;
}

function mutate(bytes: Buffer, random: () => number): Buffer {
  let changed = Buffer.from(bytes);
  for (let times = 0; times <= random() * 4; times += 1) {
    const at = Math.floor(random() * changed.length);
    const choice = random();
    if (choice < 0.4) changed[at] = Math.floor(random() * 256);
    else if (choice < 0.6)
      changed = Buffer.concat([changed.subarray(0, at), changed.subarray(at + 1 + random() * 20)]);
    else if (choice < 0.8) changed = Buffer.concat([changed.subarray(0, at), changed.subarray(at / 2)]);
    else changed = Buffer.concat([changed.subarray(0, at)]);
  }
  return changed;
}

describe('hundreds of broken requests', () => {
  it('with multipart bodies end in a refusal, and leave no file', async () => {
    const parts = [
      '--bound\r\nContent-Disposition: form-data; name="link"\r\nContent-Transfer-Encoding: 7bit\r\n\r\nvalue\r\n',
      '--bound\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\nContent-Type: text/plain\r\n\r\ndmFsdWU=\r\n',
      '--bound\r\nContent-Disposition: form-data; name="f"; filename*=UTF-8\'\'x.png\r\n\r\n\x89PNG\r\n\x1a\n\0\0\0\rIHDR\r\n',
      '--bound\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\nvalue\r\n--bound--\r\n',
    ];
    const whole = Buffer.from(parts.join(''), 'latin1');
    const types = [
      'multipart/form-data; boundary=bound',
      'multipart/form-data; boundary=bound',
      'multipart/form-data; boundary="bound"',
      'multipart/form-data',
      'multipart/form-data; boundary=application/octet-stream',
      'multipart/form-data; boundary=json',
      'multipart/related; boundary=urlencoded',
    ];
    const statuses = await runCases(random =>
      send(
        'POST',
        `/live-streams/${liveStreamId}/thumbnail`,
        { 'content-type': types[Math.floor(random() * types.length)]! },
        mutate(whole, random),
      ),
    );
    for (const status of statuses) expect([0, 400, 408]).toContain(status);
    expect(unhandled).toEqual([]);
    await waitUntil(async () => (await readdir(join(server.dataDir, 'incoming'))).length === 0);
  });

  it('with JSON bodies are taken or refused', async () => {
    const whole = Buffer.from(
      JSON.stringify({
        name: 'Pier ✓',
        public: false,
        restreams: [{ name: 'a', serverUrl: 'rtmp://h/a', streamKey: 'k' }],
      }),
    );
    const statuses = await runCases(random => send('POST', '/live-streams', {}, mutate(whole, random)));
    for (const status of statuses) expect([200, 400]).toContain(status);
    expect(unhandled).toEqual([]);
  });

  it('with odd paths and queries are answered', async () => {
    const alphabet = [
      'name',
      'sortBy',
      '=',
      '&',
      '[',
      ']',
      '%',
      '%5B',
      '%00',
      '__proto__',
      'currentPage',
      '1',
      '-',
      '+',
      'a/b',
      '?',
      '..',
      '/live-streams',
      '%zz',
      '%E4',
    ];
    const statuses = await runCases(random => {
      const tail = Array.from(
        { length: random() * 8 },
        () => alphabet[Math.floor(random() * alphabet.length)],
      ).join('');
      return send('GET', `/live-streams${random() < 0.7 ? '?' : '/'}${tail}`, {}, Buffer.alloc(0));
    });
    for (const status of statuses) expect([200, 400, 404]).toContain(status);
    expect(unhandled).toEqual([]);
  });

  it('leave the server in order', async () => {
    const answer = await server.call('GET', `/live-streams/${liveStreamId}`);
    expect(answer.status).toBe(200);
    await waitUntil(() => server.listener.openRequests === 0);
  });
});

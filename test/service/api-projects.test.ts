import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Compilable } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProjectPairsStore } from '../../src/resources/identity/projects/project-pairs.store.ts';
import type { Connection } from '../../src/store/connection.ts';
import { formWith, pngImage } from '../support/images.ts';
import { addUser, admin, signIn } from '../support/sign-in.ts';
import { rowsOf, runSql, singleValue } from '../support/sql.ts';
import { type ApiReply, productionKey, startApi, type TestApi } from '../support/start-api.ts';
import { usualKind } from '../support/test-database.ts';

let server: TestApi;
let owner: string;
beforeAll(async () => {
  server = await startApi({ isUpgraded: true, videos: { restoreDays: () => 90 } });
  owner = await signIn(server);
});
afterAll(() => server.stop());

const path = '/account/projects';

interface Project {
  readonly projectId: string;
  readonly name: string;
  readonly environmentIds: Readonly<Record<'sandbox' | 'production', string>>;
}

/** Calls as the dashboard does. */
function as(
  cookie: string,
  method: string,
  target: string,
  {
    body,
    project,
    environment = 'production',
  }: { body?: unknown; project?: string; environment?: string } = {},
): Promise<ApiReply> {
  const headers = {
    cookie,
    'millrace-environment': environment,
    ...(project === undefined ? {} : { 'millrace-project': project }),
  };
  return server.call(method, target, { key: null, headers, ...(body === undefined ? {} : { body }) });
}

const codeOf = ({ status, json }: ApiReply) => [status, json?.type?.split('/').at(-1)];

async function create(name: string, cookie = owner): Promise<Project> {
  const { status, json } = await as(cookie, 'POST', path, { body: { name } });
  expect(status).toBe(201);
  return json;
}

async function newKeys({ projectId: project }: Project): Promise<Record<'sandbox' | 'production', string>> {
  const { json } = await as(owner, 'POST', '/account/api-keys', { body: {}, project });
  return { sandbox: json.sandbox.apiKey, production: json.production.apiKey };
}

async function newOwner(): Promise<string> {
  const { accountId } = await server.addAccount({ isUpgraded: true });
  const who = { email: `${accountId.toLowerCase()}@example.org`, password: admin.password };
  await addUser(server, accountId, who);
  return signIn(server, who);
}

describe('projects of an account', () => {
  it('are created, listed in the order of their creation, and renamed', async () => {
    const cookie = await newOwner();
    const created = await create(' Web shop ', cookie);
    expect(created).toMatchObject({ projectId: expect.stringMatching(/^pp/), name: 'Web shop' });
    const listed = async (query = '') => (await as(cookie, 'GET', `${path}${query}`)).json;
    const { data, pagination } = await listed('?sortBy=createdAt');
    expect(data.map(({ name }: Project) => name)).toEqual(['Default', 'Web shop']);
    expect(pagination.itemsTotal).toBe(2);
    expect((await listed('?pageSize=1')).data).toEqual([created]);
    const one = `${path}/${created.projectId}`;
    expect((await as(cookie, 'GET', one)).json).toEqual(created);
    const renamed = await as(cookie, 'PATCH', one, { body: { name: 'Festival' } });
    expect([renamed.status, renamed.json]).toEqual([200, { ...created, name: 'Festival' }]);
    const { json } = await as(cookie, 'GET', '/auth/session');
    expect(json.allProjects.map(({ name }: Project) => name)).toEqual(['Default', 'Festival']);
    expect(json.projects).toEqual(json.allProjects[0].environmentIds);
  });

  it('show no production before the account is upgraded', async () => {
    const { accountId } = await server.addAccount();
    const who = { email: 'sandbox@example.org', password: admin.password };
    await addUser(server, accountId, who);
    const { environmentIds } = await create('Only sandbox', await signIn(server, who));
    expect(environmentIds).toEqual({ sandbox: expect.stringMatching(/^pr/) });
  });

  it('are at most 20', async () => {
    const cookie = await newOwner();
    for (let count = 2; count <= 20; count += 1) await create(`${count}`, cookie);
    const refused = await as(cookie, 'POST', path, { body: { name: 'One more' } });
    expect(codeOf(refused)).toEqual([400, 'project-limit-reached']);
  });

  it('have a name', async () => {
    for (const name of ['', '  ', 'x'.repeat(101), 7]) {
      expect([name, (await as(owner, 'POST', path, { body: { name } })).status]).toEqual([name, 400]);
    }
  });

  it('are managed by owners, and seen by all members', async () => {
    const { accountId } = (await server.call('GET', '/account')).json;
    const who = { email: 'viewer@example.org', password: admin.password };
    await addUser(server, accountId, who);
    const cookie = await signIn(server, who);
    const { projectId } = await create('For everybody');
    const { data } = (await as(owner, 'GET', '/account/members?pageSize=100')).json;
    const { userId } = data.find(({ email }: { email: string }) => email === who.email);
    await as(owner, 'PATCH', `/account/members/${userId}`, { body: { role: 'viewer' } });
    expect((await as(cookie, 'GET', `${path}/${projectId}`)).status).toBe(200);
    expect((await as(cookie, 'GET', '/videos', { project: projectId })).status).toBe(200);
    for (const [method, target, body] of [
      ['POST', path, { name: 'x' }],
      ['PATCH', `${path}/${projectId}`, { name: 'x' }],
      ['DELETE', `${path}/${projectId}`, undefined],
    ] as const) {
      const refused = await as(cookie, method, target, { body });
      expect([method, ...codeOf(refused)]).toEqual([method, 403, 'authorization-insufficient-scope']);
    }
  });

  it('leave entries in the audit log, with the environment that was changed', async () => {
    const { projectId, environmentIds } = await create('Audited');
    await as(owner, 'PATCH', `${path}/${projectId}`, { body: { name: 'Renamed' } });
    await as(owner, 'POST', '/videos', { body: { title: 'a' }, project: projectId });
    const { data } = (await as(owner, 'GET', '/account/audit-log?sortOrder=desc&pageSize=3')).json;
    expect(data).toMatchObject([
      { action: 'video.create', projectId: environmentIds.production, environment: 'production' },
      { action: 'project.update', target: { kind: 'project', id: projectId, name: 'Renamed' } },
      { action: 'project.create', target: { kind: 'project', id: projectId, name: 'Audited' } },
    ]);
  });
});

describe('the project of a request', () => {
  it('is the first one, or the one that the header names', async () => {
    const { projectId, environmentIds } = await create('Named');
    for (const environment of ['sandbox', 'production'] as const) {
      const { json } = await as(owner, 'GET', '/account', { project: projectId, environment });
      expect(json).toMatchObject({
        projectId: environmentIds[environment],
        projectName: 'Named',
        environment,
      });
    }
    expect((await as(owner, 'GET', '/account')).json.projectName).toBe('Default');
  });

  it('is refused when the account has no such project', async () => {
    const strangers = await create('Of a stranger', await newOwner());
    for (const project of ['', 'pp', strangers.projectId, strangers.environmentIds.production]) {
      const refused = await as(owner, 'GET', '/videos', { project });
      expect([project, ...codeOf(refused)]).toEqual([project, 403, 'authorization-unknown-project']);
    }
  });

  it('of an API key is its own, whatever the header says', async () => {
    const project = await create('With keys');
    const keys = await newKeys(project);
    const headers = { 'millrace-project': (await create('Another')).projectId };
    const { json } = await server.call('GET', '/account', { key: keys.production, headers });
    expect(json).toMatchObject({ projectId: project.environmentIds.production, projectName: 'With keys' });
  });
});

it.runIf(usualKind === 'SQLite')(
  'is found by one of its environments without a look at all projects',
  async () => {
    let plan = '';
    const { queries, dialect } = server.database;
    const explaining = {
      queries,
      dialect,
      first: async (query: Compilable) => {
        const { sql, parameters } = query.compile();
        const steps = await rowsOf<{ detail: string }>(
          server.database,
          `EXPLAIN QUERY PLAN ${sql}`,
          ...parameters,
        );
        plan = steps.map(({ detail }) => detail).join('; ');
      },
    } as unknown as Connection;
    await new ProjectPairsStore(explaining).findByProject('pr1');
    expect(plan).toContain('SEARCH pp');
    expect(plan).not.toContain('SCAN');
  },
);

describe('API keys of a project', () => {
  it('are counted, listed and created for that project', async () => {
    const project = await create('Own keys');
    const keys = await newKeys(project);
    const listed = await server.call('GET', '/account/api-keys', { key: keys.production });
    expect(listed.json.data).toHaveLength(1);
    const { json: added } = await server.call('POST', '/account/api-keys', {
      key: keys.production,
      body: {},
    });
    for (const environment of ['sandbox', 'production'] as const) {
      const { json } = await server.call('GET', '/account', { key: added[environment].apiKey });
      expect(json.projectId).toBe(project.environmentIds[environment]);
    }
    const target = `/account/api-keys/${added.keyPairId}`;
    expect((await server.call('GET', target, { key: productionKey })).status).toBe(404);
    expect((await server.call('DELETE', target, { key: keys.production })).status).toBe(204);
  });

  it('show entries of their project and of the account in the audit log, but none of other projects', async () => {
    const keys = await newKeys(await create('Log'));
    await server.call('POST', '/tags', { key: keys.production });
    const { videoId } = (await server.call('POST', '/videos', { key: keys.sandbox, body: { title: 'a' } }))
      .json;
    await server.call('POST', '/videos', { key: productionKey, body: { title: 'of the first project' } });
    const first = (await server.call('GET', '/account', { key: productionKey })).json.projectId;
    const { data } = (await server.call('GET', '/account/audit-log?pageSize=100', { key: keys.production }))
      .json;
    expect(data.some(({ target }: { target?: { id: string } }) => target?.id === videoId)).toBe(true);
    expect(data.some(({ action }: { action: string }) => action === 'session.create')).toBe(true);
    expect(data.filter(({ projectId }: { projectId?: string }) => projectId === first)).toEqual([]);
  });

  it('show none of deleted projects, also when theirs is the only one left', async () => {
    const cookie = await newOwner();
    const deleted = await create('Deleted', cookie);
    const headers = { project: deleted.projectId };
    const { videoId } = (await as(cookie, 'POST', '/videos', { body: { title: 'secret' }, ...headers })).json;
    await as(cookie, 'DELETE', `/videos/${videoId}?permanently=true`, headers);
    const { production } = (await as(cookie, 'POST', '/account/api-keys', { body: {} })).json;
    expect((await as(cookie, 'DELETE', `${path}/${deleted.projectId}`)).status).toBe(204);
    const { json } = await server.call('GET', '/account/audit-log?pageSize=100', { key: production.apiKey });
    const actions = json.data.map(({ action }: { action: string }) => action);
    expect(actions).toContain('api-key.create');
    expect(actions).toContain('project.delete');
    expect(actions).not.toContain('video.create');
  });
});

describe('deleting a project', () => {
  it('is refused while it has videos, also in the trash, or live streams', async () => {
    const { projectId: project } = await create('Full');
    const target = `${path}/${project}`;
    const refused = async () => codeOf(await as(owner, 'DELETE', target));
    const { videoId } = (await as(owner, 'POST', '/videos', { body: { title: 'a' }, project })).json;
    expect(await refused()).toEqual([409, 'project-not-empty']);
    await as(owner, 'DELETE', `/videos/${videoId}`, { project });
    expect(await refused()).toEqual([409, 'project-not-empty']);
    await as(owner, 'DELETE', `/videos/${videoId}?permanently=true`, { project });
    const stream = { body: { name: 'a' }, project, environment: 'sandbox' };
    const { liveStreamId } = (await as(owner, 'POST', '/live-streams', stream)).json;
    expect(await refused()).toEqual([409, 'project-not-empty']);
    await as(owner, 'DELETE', `/live-streams/${liveStreamId}`, { project, environment: 'sandbox' });
    expect((await as(owner, 'DELETE', target)).status).toBe(204);
    expect((await as(owner, 'GET', target)).status).toBe(404);
  });

  it('is refused for the last one', async () => {
    const cookie = await newOwner();
    const [{ projectId }] = (await as(cookie, 'GET', path)).json.data;
    expect(codeOf(await as(cookie, 'DELETE', `${path}/${projectId}`))).toEqual([409, 'last-project']);
    await create('Instead', cookie);
    expect((await as(cookie, 'DELETE', `${path}/${projectId}`)).status).toBe(204);
    expect((await as(cookie, 'GET', '/account')).json.projectName).toBe('Instead');
  });

  it('ends its keys and removes all that it had', async () => {
    const project = await create('Removed');
    const keys = await newKeys(project);
    await server.call('POST', '/players', { key: keys.sandbox, body: { name: 'theme' } });
    await server.call('POST', '/upload-tokens', { key: keys.sandbox, body: {} });
    expect((await as(owner, 'DELETE', `${path}/${project.projectId}`)).status).toBe(204);
    for (const key of Object.values(keys)) {
      expect((await server.call('GET', '/account', { key })).status).toBe(401);
    }
    const gone = await as(owner, 'GET', '/videos', { project: project.projectId });
    expect(codeOf(gone)).toEqual([403, 'authorization-unknown-project']);
    const ids = Object.values(project.environmentIds).map(id => `'${id}'`);
    for (const table of ['projects', 'players', 'upload_tokens', 'api_keys']) {
      const column = table === 'projects' ? 'id' : 'project_id';
      const count = `SELECT CAST(count(*) AS INTEGER) FROM ${table} WHERE ${column} IN (${ids})`;
      expect([table, Number(await singleValue(server.database, count))]).toEqual([table, 0]);
    }
    const pairs = 'SELECT count(*) FROM key_pairs WHERE id NOT IN (SELECT pair_id FROM api_keys)';
    expect(Number(await singleValue(server.database, pairs))).toBe(0);
  });

  it('deletes the images of its player themes and watermarks', async () => {
    const project = await create('Images');
    const { production: key } = await newKeys(project);
    const { playerId } = (await server.call('POST', '/players', { key, body: {} })).json;
    const body = formWith(['file', pngImage(100, 50), 'logo.png']);
    expect((await server.call('POST', `/players/${playerId}/logo`, { key, body })).status).toBe(201);
    const { watermarkId } = (await server.call('POST', '/watermarks', { key, body })).json;
    const paths = [join('players', playerId), join('watermarks', watermarkId)];
    const present = () => paths.filter(name => existsSync(join(server.dataDir, name)));
    expect(present()).toEqual(paths);
    expect((await as(owner, 'DELETE', `${path}/${project.projectId}`)).status).toBe(204);
    expect(present()).toEqual([]);
  });

  it('is refused while a recording of it has not become a video', async () => {
    const project = await create('Recording');
    const id = project.environmentIds.production;
    await runSql(
      server.database,
      `INSERT INTO recordings (video_id, project_id, live_stream_id, broadcast_id, started_at_ms, title, is_public)
        VALUES ('vi-recorded', '${id}', 'li-deleted', 'br', 1, 'x', 1)`,
    );
    const target = `${path}/${project.projectId}`;
    expect(codeOf(await as(owner, 'DELETE', target))).toEqual([409, 'project-not-empty']);
    await runSql(server.database, `DELETE FROM recordings WHERE project_id = '${id}'`);
    expect((await as(owner, 'DELETE', target)).status).toBe(204);
  });

  it('deletes its analytics, which no other project gets', async () => {
    const { analytics } = server.api;
    const deleted = await create('Watched');
    const videoId = await watchVideoOf(deleted);
    await analytics.tracker.flush();
    expect(await playsOf(deleted)).toBe(1);
    await removeWithVideo(deleted, videoId);

    const next = await create('Next');
    await watchVideoOf(next);
    await analytics.tracker.flush();
    expect(await playsOf(next)).toBe(1);
    await analytics.cleanup.run();
    expect(await playsOf(next)).toBe(1);
    // Repeats the cleanup: a report from just before the deletion may be written after the first run.
    await analytics.cleanup.run();
    const counted = ['minutes', 'hours', 'sums', 'totals', 'project_totals', 'stays', 'tuples'].map(
      async name => {
        const orphaned = `SELECT CAST(count(*) AS INTEGER) FROM analytics_${name}
          WHERE project NOT IN (SELECT number FROM analytics_projects WHERE project_id IS NOT NULL)`;
        return [name, Number(await singleValue(server.database, orphaned))];
      },
    );
    expect((await Promise.all(counted)).filter(([, rows]) => rows !== 0)).toEqual([]);
    expect(
      await singleValue(server.database, 'SELECT 1 FROM analytics_projects WHERE project_id IS NULL'),
    ).toBe(undefined);
  });

  it('loses no reports of other projects that are written together with its own', async () => {
    const [deleted, kept] = [await create('Reported'), await create('Kept')];
    const videoId = await watchVideoOf(deleted);
    await watchVideoOf(kept);
    await removeWithVideo(deleted, videoId);
    await server.api.analytics.tracker.flush();
    expect(await playsOf(kept)).toBe(1);
  });

  it('refuses live streams that are created at the same time, or is refused because of them', async () => {
    for (let round = 0; round < 5; round += 1) {
      const project = await create(`Busy ${round}`);
      const keys = await newKeys(project);
      const add = async (name: string) => {
        const { status } = await server.call('POST', '/live-streams', { key: keys.sandbox, body: { name } });
        return status;
      };
      expect(await add('before')).toBe(200);
      const { data } = (await server.call('GET', '/live-streams', { key: keys.sandbox })).json;
      await server.call('DELETE', `/live-streams/${data[0].liveStreamId}`, { key: keys.sandbox });
      const [deletion, ...added] = await Promise.all([
        as(owner, 'DELETE', `${path}/${project.projectId}`).then(({ status }) => status),
        ...Array.from({ length: 20 }, (_, index) => add(`${index}`)),
      ]);
      expect(added.filter(status => status !== 200 && status !== 401)).toEqual([]);
      expect(deletion).toBe(added.includes(200) ? 409 : 204);
    }
  });
});

/** Creates a video, and reports that it is played. */
async function watchVideoOf({ projectId: project }: Project): Promise<string> {
  const { videoId } = (await as(owner, 'POST', '/videos', { body: { title: 'a' }, project })).json;
  const eve = [1, 2, 4].map(typ => ({ eat: 1, typ, vti: 0 }));
  const report = { sat: 1, sid: 's', mid: videoId, pid: randomUUID(), ref: '', ver: '1', eve };
  const headers = { 'content-type': 'text/plain' };
  expect((await server.call('POST', '/watch', { key: null, headers, body: report })).status).toBe(202);
  return videoId;
}

async function playsOf({ projectId: project }: Project): Promise<number> {
  return (await as(owner, 'GET', '/data/metrics/play/total', { project })).json.data;
}

async function removeWithVideo({ projectId: project }: Project, videoId: string): Promise<void> {
  await as(owner, 'DELETE', `/videos/${videoId}?permanently=true`, { project });
  expect((await as(owner, 'DELETE', `${path}/${project}`)).status).toBe(204);
}

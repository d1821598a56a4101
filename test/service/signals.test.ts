import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect as dial, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { connectPostgres } from '../../src/store/postgres/postgres-database.ts';
import type { SignalName } from '../../src/store/signals.ts';
import { atEnd, clusterUrl, openClusterDatabase } from '../support/cluster-fixture.ts';
import { createPostgresDatabase, findPostgres, startPostgres } from '../support/postgres.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { databaseKinds, openTestDatabase } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

const hasPostgres = findPostgres() !== undefined;

/** Waits until the server receives what others send. */
async function receiving(database: Database): Promise<Database> {
  if (database.dialect === 'sqlite') return database;
  let isReceiving = false;
  const stop = database.signals.listen('nodes', () => {
    isReceiving = true;
  });
  await waitUntil(() => isReceiving);
  stop();
  return database;
}

function follow(database: Database, name: SignalName): (string | undefined)[] {
  const received: (string | undefined)[] = [];
  database.signals.listen(name, payload => received.push(payload));
  return received;
}

async function startTwo(): Promise<readonly [Database, Database]> {
  const url = await clusterUrl();
  return [await receiving(await openClusterDatabase(url)), await receiving(await openClusterDatabase(url))];
}

describe.each(databaseKinds)('signals of %s', kind => {
  it('arrive after the commit, and not after a rollback', async () => {
    const database = await openTestDatabase(await testTempDir(), kind);
    atEnd(() => database.stop());
    await receiving(database);
    for (const name of ['jobs', 'access'] as const) {
      const received = follow(database, name);
      await database.signals.send(name, 'at once');
      expect(received).toEqual(['at once']);
      await database.transaction(async transaction => {
        await database.signals.send(name, 'committed', transaction);
        expect(received).toEqual(['at once']);
      });
      expect(received).toEqual(['at once', 'committed']);
      const failed = database.transaction(async transaction => {
        await database.signals.send(name, 'rolled back', transaction);
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
      await database.signals.send(name, 'later');
      expect(received).toEqual(['at once', 'committed', 'later']);
    }
  });

  it('go to those who still listen', async () => {
    const database = await openTestDatabase(await testTempDir(), kind);
    atEnd(() => database.stop());
    const received: (string | undefined)[] = [];
    const stop = database.signals.listen('live', payload => received.push(payload));
    await database.signals.send('live', 'first');
    stop();
    await database.signals.send('live', 'second');
    expect(received.filter(payload => payload !== undefined)).toEqual(['first']);
  });
});

describe.skipIf(!hasPostgres)('signals between servers', () => {
  it('that a listener cannot read are left out, and end no server', async () => {
    const [one, two] = await startTwo();
    const read: unknown[] = [];
    two.signals.listen('leader-leases', payload => payload !== undefined && read.push(JSON.parse(payload)));
    await one.signals.send('leader-leases', '{');
    await waitUntil(async () => {
      await one.signals.send('leader-leases', '"good"');
      return read.length > 0;
    });
    expect(new Set(read)).toEqual(new Set(['good']));
  });

  it('arrive once, with any text, and only of what was committed', async () => {
    const [one, two] = await startTwo();
    for (const name of ['events', 'access'] as const) {
      const [own, others] = [follow(one, name), follow(two, name)];
      const failed = one.transaction(async transaction => {
        await one.signals.send(name, 'rolled back', transaction);
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
      const texts = ['', 'two words\nand a line', "ünd 'quotes'", 'x'.repeat(7_000)];
      for (const text of texts) {
        await one.transaction(transaction => one.signals.send(name, text, transaction));
      }
      await waitUntil(() => others.length >= texts.length);
      await one.signals.send(name, 'last');
      await waitUntil(() => others.includes('last'));
      expect(others).toEqual([...texts, 'last']);
      expect(own).toEqual([...texts, 'last']);
    }
  });

  it('of a burst are sent once', async () => {
    const [one, two] = await startTwo();
    const received = follow(two, 'jobs');
    await Promise.all(Array.from({ length: 200 }, () => one.signals.send('jobs', 'encode')));
    await one.signals.send('jobs', 'last');
    await waitUntil(() => received.includes('last'));
    expect(received).toEqual(['encode', 'last']);
  });

  it('that may be lost while PostgreSQL restarts make listeners read everything again', async () => {
    const server = await startPostgres();
    atEnd(() => server.stop());
    const url = await createPostgresDatabase(server.url, 'signals');
    const one = await openClusterDatabase(url);
    const two = await receiving(await openClusterDatabase(url));
    const received = follow(two, 'events');
    await server.kill();
    await one.signals.send('events', 'lost');
    await server.start();
    await waitUntil(() => received.includes(undefined));
    await waitUntil(async () => {
      await one.signals.send('events', 'after');
      return received.includes('after');
    });
  });

  it('are read again after a connection that answered nothing', async () => {
    const url = await clusterUrl();
    const proxy = await startProxy(new URL(url).searchParams.get('host')!);
    const database = await connectPostgres({ url: replaceHost(url, proxy.folder) });
    atEnd(() => database.stop());
    await receiving(database);
    const received = follow(database, 'events');
    const other = await openClusterDatabase(url);
    proxy.stall();
    await other.signals.send('events', 'lost');
    await waitUntil(() => received.includes(undefined));
    await other.signals.send('events', 'after');
    await waitUntil(() => received.includes('after'));
    expect(received).not.toContain('lost');
  });
});

function replaceHost(url: string, folder: string): string {
  const replaced = new URL(url);
  replaced.searchParams.set('host', folder);
  return replaced.href;
}

/** Forwards a socket of PostgreSQL. `stall` keeps open connections open, but forwards nothing more. */
async function startProxy(target: string) {
  const folder = await mkdtemp(join(tmpdir(), 'pgp-'));
  const name = '.s.PGSQL.5432';
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer(client => {
    const upstream = dial(join(target, name));
    pairs.add([client, upstream]);
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>(resolve => server.listen(join(folder, name), resolve));
  atEnd(async () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    folder,
    stall: () => {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream);
        upstream.unpipe(client);
      }
    },
  };
}

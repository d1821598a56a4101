import { describe, expect, it, onTestFinished } from 'vitest';
import { AccountAdmin } from '../../src/resources/identity/accounts/account-admin.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { Secret } from '../../src/shared/secret.ts';
import { openDatabaseWithoutLock } from '../../src/store/open-database.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { findPostgres } from '../support/postgres.ts';
import { s3Missing, startS3 } from '../support/s3.ts';
import { singleValue } from '../support/sql.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { startTsSource } from '../support/ts-source.ts';
import { waitUntil } from '../support/wait-until.ts';

const missing = findPostgres() === undefined ? 'PostgreSQL is not installed' : s3Missing;
if (missing !== undefined) console.log(`Skipped: ${missing}`);

interface PulledStream {
  readonly source?: { readonly state: string };
}

describe.skipIf(missing !== undefined)('servers on one PostgreSQL database', () => {
  it('pull a source at one of them, hand it over, and end it and other broadcasts of a suspended account', async () => {
    const url = await postgresUrlOf(await testTempDir());
    const s3 = await startS3();
    onTestFinished(() => s3.stop());
    await s3.makeBucket('media');
    const flags = {
      'database.url': url,
      'storage.url': s3.url('media'),
      allowPrivateTargets: 'true',
    };
    const servers = [await startServer(flags), await startServer(flags), await startServer(flags)];
    onTestFinished(async () => void (await Promise.all(servers.map(server => server.stop()))));
    const database = await openDatabaseWithoutLock({ dataDir: await testTempDir(), url: new Secret(url) });
    onTestFinished(() => database.stop());

    await using camera = await startTsSource();
    const pulled = await servers[0]!.createStream('A camera');
    const path = `/live-streams/${pulled.liveStreamId}`;
    await servers[0]!.api('PATCH', path, { source: { url: camera.url } });
    const untilPulledBy = (others: readonly TestServer[], count: number) =>
      waitUntil(
        async () => {
          const { source } = (await (await others[0]!.api('GET', path)).json()) as PulledStream;
          return source?.state === 'live' && camera.connections === count;
        },
        { what: () => `connection ${count}, but there are ${camera.connections}` },
      );
    await untilPulledBy(servers, 1);
    const pullerUrl = await singleValue<string>(
      database,
      `SELECT node.url FROM broadcasts JOIN nodes node ON node.id = broadcasts.node_id
       WHERE live_stream_id = ?`,
      pulled.liveStreamId,
    );
    const puller = servers.find(({ baseUrl }) => new URL(baseUrl).port === new URL(pullerUrl!).port);
    const [first, second] = servers.filter(server => server !== puller) as [TestServer, TestServer];
    await puller!.stop();
    await untilPulledBy([first, second], 2);
    expect(camera.open).toBe(1);

    const { streamKey, liveStreamId } = await first.createStream();
    await using publisher = publishTestPicture({ url: second.rtmpUrl(streamKey), size: '160x90' });
    const broadcast = (column: 'state' | 'end_reason') =>
      singleValue<string>(
        database,
        `SELECT ${column} FROM broadcasts WHERE live_stream_id = ?`,
        liveStreamId,
      );
    await waitUntil(async () => (await broadcast('state')) === 'live');
    const accountId = await singleValue<string>(database, 'SELECT id FROM accounts');
    await new AccountAdmin(database, systemClock).setStanding(accountId!, { isSuspended: true });
    await publisher.exited;
    await waitUntil(async () => (await broadcast('end_reason')) === 'account-suspended');
    await waitUntil(() => camera.open === 0, { what: 'the end of the pull' });
    expect((await second.api('GET', '/live-streams')).status).toBe(403);
    expect(camera.connections).toBe(2);
  });
});

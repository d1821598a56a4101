import { describe, expect, it, onTestFinished } from 'vitest';
import { AccountAdmin } from '../../src/resources/accounts/account-admin.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { Secret } from '../../src/shared/secret.ts';
import { openDatabaseWithoutLock } from '../../src/store/open-database.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { findPostgres } from '../support/postgres.ts';
import { s3Missing, startS3 } from '../support/s3.ts';
import { singleValue } from '../support/sql.ts';
import { startServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

const missing = findPostgres() === undefined ? 'PostgreSQL is not installed' : s3Missing;
if (missing !== undefined) console.log(`Skipped: ${missing}`);

describe.skipIf(missing !== undefined)('two servers on one PostgreSQL database', () => {
  it('end the broadcasts of a suspended account, whichever packages them', async () => {
    const url = await postgresUrlOf(await testTempDir());
    const s3 = await startS3();
    onTestFinished(() => s3.stop());
    await s3.makeBucket('media');
    const flags = { 'database.url': url, 'storage.url': s3.url('media') };
    await using first = await startServer(flags);
    await using second = await startServer(flags);
    const { streamKey, liveStreamId } = await first.createStream();
    await using publisher = publishTestPicture({ url: second.rtmpUrl(streamKey), size: '160x90' });
    const database = await openDatabaseWithoutLock({ dataDir: await testTempDir(), url: new Secret(url) });
    onTestFinished(() => database.stop());
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
    expect((await second.api('GET', '/live-streams')).status).toBe(403);
  });
});

import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ChallengeType } from '../../src/certificates/acme.store.ts';
import { freePort } from '../support/free-port.ts';
import { clusterMissing } from '../support/live-cluster.ts';
import { pebbleMissing, startPebble } from '../support/pebble.ts';
import { type S3Server, startS3 } from '../support/s3.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

const domain = 'video.localhost';
const hosts = { first: '127.0.0.1', second: '127.0.0.2' };

let s3: S3Server;

/** The certificate that a server shows; undefined while it refuses connections, or has none yet. */
async function shownAt(host: string, port: number): Promise<string | undefined> {
  const socket = connect({
    host,
    port,
    servername: domain,
    rejectUnauthorized: false,
    ALPNProtocols: ['h2'],
  });
  try {
    await once(socket, 'secureConnect');
    const { subject, raw } = socket.getPeerCertificate();
    return subject.CN === 'no-certificate-yet.invalid' ? undefined : raw.toString('base64');
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

describe.skipIf((clusterMissing ?? pebbleMissing) !== undefined)('two servers of a database', () => {
  beforeAll(async () => {
    s3 = await startS3();
    await s3.makeBucket('certificates');
  });
  afterAll(() => s3?.stop());

  it.each<ChallengeType>(['http-01', 'tls-alpn-01'])(
    'use one certificate, whose challenges over %s each of them answers',
    async challengeType => {
      const [http, https, closed] = await Promise.all([freePort(), freePort(), freePort()]);
      const httpPort = challengeType === 'http-01' ? http : closed;
      const pebble = await startPebble({ httpPort, tlsPort: https, validitySeconds: 20 });
      onTestFinished(() => pebble.stop());
      await pebble.setAddress(domain, hosts.first);
      const databaseDir = await testTempDir();
      const start = async (host: string): Promise<TestServer> => {
        const server = await startServer(
          {
            host,
            'http.port': String(http),
            'https.port': String(https),
            'tls.domains': domain,
            'tls.acmeDirectory': pebble.directory,
            'tls.acmeCa': pebble.caPath,
            'database.url': await postgresUrlOf(databaseDir),
            'storage.url': s3.url('certificates'),
            'node.lease': '6s',
          },
          {
            dataDir: await testTempDir(),
            certificateRetries: { delaysMs: [200], jitter: { min: 1, max: 1 } },
          },
        );
        onTestFinished(() => server.stop());
        return server;
      };
      const first = await start(hosts.first);
      await waitUntil(() => shownAt(hosts.first, https), { what: 'the first certificate' });
      await start(hosts.second);
      // On a slow machine, it may be renewed meanwhile.
      const shown = await waitUntil(async () => {
        const [one, other] = await Promise.all(Object.values(hosts).map(host => shownAt(host, https)));
        return one === other && one;
      });
      expect(await pebble.countAccounts()).toBe(1);

      // The first server orders, and only the second one is asked.
      await pebble.setAddress(domain, hosts.second);
      const renewed = await waitUntil(async () => {
        const next = await shownAt(hosts.first, https);
        return next !== shown && next;
      });
      await waitUntil(async () => (await shownAt(hosts.second, https)) === renewed, {
        what: 'the renewed certificate on the other server',
      });

      // The second one goes on with the same account.
      await first.stop();
      await waitUntil(async () => {
        const next = await shownAt(hosts.second, https);
        return next !== undefined && next !== renewed;
      });
      expect(await pebble.countAccounts()).toBe(1);
    },
  );
});

import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { basicAuthorization, newestServers, startServerProcess } from '../../scripts/server-process.ts';
import { freePort } from '../support/free-port.ts';
import { pebbleMissing, startPebble } from '../support/pebble.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Requests of an order to the certificate authority, one after the other. */
const requests = ['sign-me-up', 'authZ', 'chalZ', 'finalize-order', 'certZ'];

it.skipIf(pebbleMissing !== undefined)(
  'a server that is killed during its order continues it, with the same account',
  async () => {
    const [http, https] = await Promise.all([freePort(), freePort()]);
    // An order that is validated while no server runs would fail.
    const pebble = await startPebble({
      httpPort: http,
      tlsPort: https,
      variables: { PEBBLE_VA_ALWAYS_VALID: '1' },
    });
    onTestFinished(() => pebble.stop());
    const dataDir = await testTempDir();
    const env = {
      MILLRACE_HTTP_PORT: String(http),
      MILLRACE_HTTPS_PORT: String(https),
      MILLRACE_TLS_DOMAINS: 'video.localhost',
      MILLRACE_TLS_EMAIL: 'admin@example.org',
      MILLRACE_TLS_ACME_DIRECTORY: pebble.directory,
      MILLRACE_TLS_ACME_CA: pebble.caPath,
      MILLRACE_FFMPEG_ISOLATION: 'off',
    };
    const hasLogged = (event: string) =>
      newestServers.at(-1)!.lines.some(line => line.includes(`"event":"${event}"`));
    const ordersAt: number[] = [];
    for (const request of requests) {
      const skipped = (await pebble.log()).length;
      const starting = startServerProcess({ dataDir, env }).catch(() => undefined);
      const { child } = newestServers.at(-1)!;
      const isRequested = async () => (await pebble.log()).slice(skipped).includes(`POST /${request}`);
      await waitUntil(async () => hasLogged('certificate-issued') || (await isRequested()), {
        everyMs: 1,
        what: request,
      });
      child.kill('SIGKILL');
      await once(child, 'exit');
      await starting;
      ordersAt.push(await pebble.countOrders());
    }
    const server = await startServerProcess({ dataDir, env });
    onTestFinished(async () => void (await server.stop()));
    await waitUntil(
      async () => {
        const headers = { authorization: basicAuthorization(server.productionKey) };
        const answer = await fetch(`${server.baseUrl}/server`, { headers });
        return ((await answer.json()) as { certificate: { state: string } }).certificate.state === 'valid';
      },
      { what: 'the certificate' },
    );
    expect(await pebble.countAccounts()).toBe(1);
    // An order is stored before its authorizations are asked for.
    expect(await pebble.countOrders()).toBe(ordersAt[1]);
  },
);

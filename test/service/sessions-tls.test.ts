import { writeFile } from 'node:fs/promises';
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { CertificateFiles } from '../../src/http/listener/certificate-files.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { admin } from '../support/sign-in.ts';
import { startApi } from '../support/start-api.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

it('a session over HTTP/2 has a cookie for TLS only, which no page without TLS may use', async () => {
  const folder = await makeTempDir();
  onTestFinished(() => removeDir(folder));
  const { cert, key } = makeSelfSigned('localhost');
  const files = { certPath: join(folder, 'cert.pem'), keyPath: join(folder, 'key.pem') };
  await writeFile(files.certPath, cert);
  await writeFile(files.keyPath, key);
  const certificate = new CertificateFiles({ ...files, log: silentLogger });
  await certificate.start();
  onTestFinished(() => certificate.stop());
  const server = await startApi({ https: { port: 0, certificate } });
  onTestFinished(() => server.stop());
  const origin = `https://localhost:${server.listener.httpsPort}`;
  const client = connect(origin, { rejectUnauthorized: false });
  onTestFinished(() => client.destroy());

  const ask = async (headers: OutgoingHttpHeaders, body?: string): Promise<IncomingHttpHeaders> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>();
    const stream = client.request(headers);
    stream.once('response', resolve).once('error', reject).resume();
    stream.end(body);
    return promise;
  };
  const signIn = { ':method': 'POST', ':path': '/auth/session', origin };
  const answer = await ask(signIn, JSON.stringify(admin));
  expect(answer[':status']).toBe(201);
  const [told = ''] = answer['set-cookie'] ?? [];
  expect(told).toMatch(/^__Host-millrace_session=.*; SameSite=Strict; Max-Age=2592000; Secure$/);

  const list = {
    ':path': '/videos',
    // Browsers send cookies one by one.
    cookie: ['theme=dark', told.split(';')[0]!],
    'millrace-environment': 'sandbox',
  };
  expect((await ask({ ...list, origin }))[':status']).toBe(200);
  expect((await ask({ ...list, origin: origin.replace('https', 'http') }))[':status']).toBe(403);
});

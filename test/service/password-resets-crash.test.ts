import { expect, onTestFinished, test } from 'vitest';
import { startServerProcess } from '../../scripts/server-process.ts';
import { startMailServer } from '../support/mail-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const email = 'admin@localhost';
const oldPassword = 'nine boats leave at dawn';
const newPassword = 'nine boats come home at dusk';

test('a link outlives a server that is killed, and so does the password that it sets', async () => {
  const { port, mails } = await startMailServer();
  const dataDir = await testTempDir();
  const start = async () => {
    const server = await startServerProcess({
      dataDir,
      env: {
        MILLRACE_SMTP_HOST: '127.0.0.1',
        MILLRACE_SMTP_PORT: String(port),
        MILLRACE_SMTP_FROM: 'millrace@example.org',
        MILLRACE_ADMIN_PASSWORD: oldPassword,
      },
    });
    onTestFinished(() => void server.child.kill('SIGKILL'));
    const send = async (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
      return (await fetch(`${server.baseUrl}${path}`, { method, ...sent })).status;
    };
    const kill = async () => {
      server.child.kill('SIGKILL');
      await server.exited;
    };
    return { send, kill };
  };
  const signIn = (password: string) => ['POST', '/auth/session', { email, password }] as const;

  const first = await start();
  expect(await first.send('POST', '/auth/password-resets', { email })).toBe(204);
  const { content } = await waitUntil(() => mails[0]);
  await first.kill();

  const path = `/auth/password-resets/${/password-reset\/(\w{43})/.exec(content)![1]}`;
  const second = await start();
  expect(await second.send(...signIn(oldPassword))).toBe(201);
  expect(await second.send('POST', `${path}/complete`, { password: newPassword })).toBe(204);
  await second.kill();

  const third = await start();
  expect(await third.send('GET', path)).toBe(404);
  expect(await third.send(...signIn(oldPassword))).toBe(401);
  expect(await third.send(...signIn(newPassword))).toBe(201);
  await third.kill();
});

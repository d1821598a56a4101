import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startMailServer } from '../support/mail-server.ts';
import { signIn } from '../support/sign-in.ts';
import { startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';

const email = 'anna@example.org';

async function start(port: number) {
  const smtp = { host: '127.0.0.1', port, isSecure: false, from: 'Millrace <millrace@example.org>' };
  const server = await startApi({ smtp });
  onTestFinished(() => server.stop());
  const headers = { cookie: await signIn(server) };
  const invite = async (to = email) => {
    const body = { email: to, role: 'editor' };
    const answer = await server.call('POST', '/account/invitations', { key: null, headers, body });
    expect(answer.status).toBe(201);
    return answer.json as { url: string; mail: object };
  };
  const rename = (name: string) => server.call('PATCH', '/account', { key: null, headers, body: { name } });
  return { server, headers, invite, rename };
}

async function mailState({ server, headers }: { server: TestApi; headers: Record<string, string> }) {
  const { json } = await server.call('GET', '/account/invitations', { key: null, headers });
  return json.data[0].mail as { status: string; failure?: string };
}

async function outcome(running: { server: TestApi; headers: Record<string, string> }) {
  return waitUntil(async () => {
    const state = await mailState(running);
    return state.status === 'sending' ? undefined : state;
  });
}

it('an invitation is mailed with its link, as text and as HTML', async () => {
  const { port, mails } = await startMailServer();
  const running = await start(port);
  const { url, mail } = await running.invite();
  expect(mail).toEqual({ status: 'sending' });
  expect(await outcome(running)).toEqual({ status: 'sent' });
  const [sent] = mails;
  expect([mails.length, sent!.to]).toEqual([1, [email]]);
  expect(sent!.content).toContain('From: Millrace <millrace@example.org>');
  // The inviter sees another one.
  const mailed = /\n(http:\S+\/dashboard\/invitations\/\w{43})\s/.exec(sent!.content)![1]!;
  expect([mailed === url, sent!.content.includes(url)]).toEqual([false, false]);
  expect(sent!.content).toContain(`<a href="${mailed}">`);
});

it('a temporary refusal is followed by another attempt, a permanent one is not', async () => {
  let attempts = 0;
  let code = 451;
  const { port, mails } = await startMailServer({
    onRcptTo: (_, __, done) => {
      attempts += 1;
      const refusal = Object.assign(new Error('not now'), { responseCode: code });
      done(attempts === 1 || code === 550 ? refusal : undefined);
    },
  });
  const running = await start(port);
  await running.invite();
  expect(await outcome(running)).toEqual({ status: 'sent' });
  expect([attempts, mails.length]).toEqual([2, 1]);
  code = 550;
  await running.invite();
  expect(await outcome(running)).toEqual({
    status: 'failed',
    failure: 'The mail server refused the email: 550 not now',
  });
  expect(attempts).toBe(3);
});

it('a silent mail server delays no answer, and a server that stops says that nothing was sent', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const connected = once(silent, 'connection');
  const running = await start((silent.address() as AddressInfo).port);
  const { url } = await running.invite();
  await connected;
  const token = url.split('/').at(-1);
  expect((await running.server.call('GET', `/invitations/${token}`, { key: null })).json.email).toBe(email);
  expect(await mailState(running)).toEqual({ status: 'sending' });
  await running.server.api.mails!.stop();
  expect(await mailState(running)).toEqual({
    status: 'failed',
    failure: 'The server stopped before the email was sent.',
  });
});

it('an account mails a limited number of invitations, and fewer to one address', async () => {
  const { port } = await startMailServer();
  const running = await start(port);
  const settled = async () => {
    await outcome(running);
    return mailState(running);
  };
  for (let count = 0; count < 3; count += 1) {
    await running.invite();
    expect(await settled()).toEqual({ status: 'sent' });
  }
  await running.invite();
  expect((await settled()).failure).toBe(
    'Several invitations were sent to this address within a day. Send the link yourself. Send the link yourself.',
  );
  for (let count = 3; count < 30; count += 1) await running.invite(`person-${count}@example.org`);
  const states = () =>
    running.server
      .call('GET', '/account/invitations?pageSize=100', { key: null, headers: running.headers })
      .then(({ json }) => json.data.map(({ mail }: { mail: { status: string } }) => mail.status));
  await waitUntil(async () => !(await states()).includes('sending'));
  await running.invite('last@example.org');
  await waitUntil(async () => !(await states()).includes('sending'));
  expect((await states()).filter((status: string) => status === 'failed')).toHaveLength(2);
});

it('a mail shows the name of the account as what it is, and nothing in it as a link', async () => {
  const { port, mails } = await startMailServer();
  const running = await start(port);
  const name = 'Bank — pay at https://evil.example/login\u200b or mail@evil.example now, without any delay';
  expect((await running.rename(name)).status).toBe(200);
  await running.invite();
  await outcome(running);
  const content = mails[0]!.content.replaceAll('\r\n', ' ');
  expect(content).toContain('Subject: Invitation to an account on Millrace');
  for (const part of ['evil.example', 'https://evil', 'mail@evil', 'without any']) {
    expect(content).not.toContain(part);
  }
  expect(content).toContain('This server does not check such names.');
});

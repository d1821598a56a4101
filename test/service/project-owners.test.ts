import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressReader, secureReader } from '../../src/http/listener/client-address.ts';
import { AuditLog } from '../../src/resources/identity/audit/audit-log.ts';
import { createSessions } from '../../src/resources/identity/sessions/create-sessions.ts';
import { ProjectOwners } from '../../src/resources/identity/sessions/project-owners.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { addUser, signIn } from '../support/sign-in.ts';
import { sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
let owners: ProjectOwners;
let projectId: string;
let cookie: string;
beforeAll(async () => {
  server = await startApi({ isUpgraded: true });
  const { database } = server;
  const peers = { addressOf: addressReader([]), isSecure: secureReader([]) };
  const shared = { database, clock: systemClock, log: silentLogger };
  const { gate } = createSessions({
    oidc: undefined,
    smtp: undefined,
    ...shared,
    accounts: server.api.accounts,
    audit: new AuditLog({ ...shared, addressOf: peers.addressOf }),
    publicUrl: () => '',
    peers,
  });
  owners = new ProjectOwners({ gate, database, clock: systemClock });
  projectId = await sandboxProjectOf(database);
  cookie = await signIn(server);
});
afterAll(() => server.stop());

function isOwner(headers: Record<string, string>, project = projectId): Promise<boolean> | false {
  const host = new URL(server.baseUrl).host;
  return owners.isOwner({ headers: { host, ...headers }, socket: {} }, project);
}

it('is somebody who is signed in to the account of the project', async () => {
  expect(await isOwner({ cookie })).toBe(true);
  expect(isOwner({})).toBe(false);
  expect(await isOwner({ cookie: `millrace_session=${'a'.repeat(43)}` })).toBe(false);
  const other = await server.addAccount();
  const stranger = { email: 'stranger@example.org', password: 'another password' };
  await addUser(server, other.accountId, stranger);
  const theirs = await signIn(server, stranger);
  expect(await isOwner({ cookie: theirs })).toBe(false);
  expect(await isOwner({ cookie: theirs }, other.projectIds.production)).toBe(true);
});

it('is nobody on the page of another site', async () => {
  const { origin } = new URL(server.baseUrl);
  expect(await isOwner({ cookie, 'sec-fetch-site': 'same-origin', referer: `${origin}/dashboard` })).toBe(
    true,
  );
  const requests: Record<string, string>[] = [
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://shop.example' },
    { referer: 'https://shop.example/page' },
  ];
  for (const headers of requests) {
    expect([headers, await isOwner({ cookie, ...headers })]).toEqual([headers, false]);
  }
});

it('is nobody after signing out', async () => {
  const short = await signIn(server);
  expect(await isOwner({ cookie: short })).toBe(true);
  await server.call('DELETE', '/auth/session', { key: null, headers: { cookie: short } });
  expect(await isOwner({ cookie: short })).toBe(false);
});

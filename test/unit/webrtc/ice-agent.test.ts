import { expect, test } from 'vitest';
import { IceAgent, transactionOf } from '../../../src/webrtc/ice/ice-agent.ts';
import { IcePath } from '../../../src/webrtc/ice/ice-path.ts';
import {
  parseStun,
  STUN_ATTRIBUTE,
  STUN_TYPE,
  type StunMessage,
  writeStun,
} from '../../../src/webrtc/ice/stun-message.ts';

const remote = { usernameFragment: 'clie', password: 'p'.repeat(24) };

function startAgent() {
  const agent = new IceAgent(remote);
  let transaction = 0;
  const request = (nominates = true) => {
    const username = `${agent.local.usernameFragment}:${remote.usernameFragment}`;
    const attributes = [
      { type: STUN_ATTRIBUTE.username, value: Buffer.from(username) },
      ...(nominates ? [{ type: STUN_ATTRIBUTE.useCandidate, value: Buffer.alloc(0) }] : []),
    ];
    return parseStun(
      writeStun(STUN_TYPE.request, Buffer.alloc(12, ++transaction), attributes, agent.local.password),
    )!;
  };
  /** A client at a port. */
  const startClient = (port: number) => {
    const sent: Buffer[] = [];
    const path = new IcePath({
      protocol: 'udp',
      address: '192.0.2.1',
      port,
      isCongested: false,
      close: () => {},
      send: packet => void sent.push(...[packet].flat()),
    });
    let receivedBytes = 0;
    return {
      path,
      received: () => receivedBytes,
      sentBytes: () => sent.reduce((sum, { length }) => sum + length, 0),
      request: (nowMs: number, nominates = true) => {
        const message = request(nominates);
        receivedBytes += message.bytes.length;
        path.received(message.bytes.length, nowMs);
        agent.receiveRequest(message, path, nowMs);
      },
      /** The newest check that was sent there. */
      check: (): StunMessage =>
        sent.map(bytes => parseStun(bytes)!).findLast(({ type }) => type === STUN_TYPE.request)!,
    };
  };
  /** Returns false for an answer that is not to a check on this path. */
  const answer = (check: StunMessage, path: IcePath, nowMs: number): boolean => {
    const bytes = writeStun(STUN_TYPE.success, check.transactionId, [], remote.password);
    const message = parseStun(bytes)!;
    expect(agent.isAuthentic(message)).toBe(true);
    path.received(bytes.length, nowMs);
    if (!path.hasOpenCheck(transactionOf(message))) return false;
    agent.receiveAnswer(message, path, nowMs);
    return true;
  };
  return { agent, startClient, answer };
}

test('an address that does not answer gets three times what it sent at most, however long it is asked', () => {
  const { agent, startClient } = startAgent();
  const client = startClient(1);
  for (let nowMs = 0; nowMs < 120_000; nowMs += 25) {
    if (nowMs % 1_000 === 0) client.request(nowMs, nowMs % 2_000 === 0);
    agent.tick(nowMs);
    expect(client.sentBytes()).toBeLessThanOrEqual(3 * client.received());
  }
  expect(agent.selected).toBeUndefined();
  // Nothing more without requests.
  const before = client.sentBytes();
  for (let nowMs = 121_000; nowMs < 300_000; nowMs += 25) agent.tick(nowMs);
  expect(client.sentBytes()).toBeLessThanOrEqual(before + 200);
});

test('a path ends without answers from there, whatever is sent from elsewhere', () => {
  const { agent, startClient, answer } = startAgent();
  const [client, other] = [startClient(1), startClient(2)];
  client.request(0);
  expect(agent.selected).toBeUndefined();
  expect(answer(client.check(), client.path, 20)).toBe(true);
  expect([agent.selected === client.path, agent.roundTripMs]).toEqual([true, 20]);
  for (let nowMs = 25; nowMs < 29_000; nowMs += 25) {
    agent.tick(nowMs);
    client.request(nowMs);
    other.request(nowMs, false);
    // Answers from elsewhere are ignored.
    expect(answer(client.check(), other.path, nowMs)).toBe(false);
    expect(agent.selected).toBe(client.path);
  }
  agent.tick(30_000);
  expect(agent.selected).toBeUndefined();
});

test('an answer counts from the check on, so that late ones extend nothing', () => {
  const { agent, startClient, answer } = startAgent();
  const client = startClient(1);
  client.request(0);
  expect(answer(client.check(), client.path, 29_000)).toBe(true);
  agent.tick(29_000);
  expect(agent.selected).toBe(client.path);
  agent.tick(30_000);
  expect(agent.selected).toBeUndefined();
});

test('a nominated path takes over when it has answered, and one that fell silent gives way', () => {
  const { agent, startClient, answer } = startAgent();
  const [first, second, third] = [startClient(1), startClient(2), startClient(3)];
  first.request(0);
  answer(first.check(), first.path, 0);
  second.request(1_000);
  expect(agent.selected).toBe(first.path);
  answer(second.check(), second.path, 1_100);
  expect(agent.selected).toBe(second.path);
  first.request(1_200);
  expect(agent.selected).toBe(first.path);
  // A new port of the client's router: it does not know, and nominates nothing.
  third.request(3_000, false);
  agent.use(third.path, 3_000);
  answer(third.check(), third.path, 3_100);
  expect(agent.selected).toBe(first.path);
  agent.use(third.path, 6_100);
  expect(agent.selected).toBe(third.path);
});

test('few and small packets are kept until the client has answered a check', () => {
  const { path } = startAgent().startClient(1);
  for (let size = 1; size < 10; size++) {
    path.keepEarlyPacket(Buffer.alloc(60_000));
    path.keepEarlyPacket(Buffer.alloc(size));
  }
  expect(path.takeEarlyPackets().map(({ length }) => length)).toEqual([1, 2, 3, 4]);
  expect(path.takeEarlyPackets()).toEqual([]);
});

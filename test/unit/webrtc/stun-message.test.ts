import { expect, test } from 'vitest';
import {
  hasIntegrity,
  parseStun,
  STUN_ATTRIBUTE,
  STUN_TYPE,
  writeStun,
  xorMappedAddress,
} from '../../../src/webrtc/ice/stun-message.ts';
import { Random } from '../../support/random.ts';

/** RFC 5769, 2.1 to 2.3. */
const password = 'VOkJxbRl1RmTxUk/WvJxBt';
const request = Buffer.from(
  '000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e0001ff80290008932ff9b151263b36000600096576746a3a68367659202020000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf',
  'hex',
);
const responses = [
  [
    '192.0.2.1',
    '0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000080001a147e112a643000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96',
  ],
  [
    '2001:db8:1234:5678:11:2233:4455:6677',
    '010100482112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d900080014a382954e4be67bf11784c97c8292c275bfe3ed4180280004c8fb0b4c',
  ],
] as const;

test('the request of RFC 5769 is read, and authentic with its password only', () => {
  const message = parseStun(request)!;
  expect(message.type).toBe(STUN_TYPE.request);
  expect(message.attributes.get(STUN_ATTRIBUTE.username)?.toString()).toBe('evtj:h6vY');
  expect(hasIntegrity(message, password)).toBe(true);
  expect(hasIntegrity(message, 'another password of a client')).toBe(false);
});

test.each(responses)(
  'the response of RFC 5769 to %s is read, and our own value is the same',
  (address, hex) => {
    const message = parseStun(Buffer.from(hex, 'hex'))!;
    expect(hasIntegrity(message, password)).toBe(true);
    const value = xorMappedAddress({ address, port: 32_853 }, message.transactionId);
    expect(message.attributes.get(STUN_ATTRIBUTE.xorMappedAddress)).toEqual(value);
  },
);

test('a message that we write is authentic for us', () => {
  const attributes = [{ type: STUN_ATTRIBUTE.username, value: Buffer.from('a:b') }];
  const message = parseStun(writeStun(STUN_TYPE.request, Buffer.alloc(12, 7), attributes, 'secret'))!;
  expect(hasIntegrity(message, 'secret')).toBe(true);
  expect(message.attributes.get(STUN_ATTRIBUTE.username)?.toString()).toBe('a:b');
});

test('a message that was changed is refused', () => {
  // The fingerprint comes last, and does not protect itself.
  for (let at = 0; at < request.length - 8; at++) {
    const changed = Buffer.from(request);
    changed[at]! ^= 0x10;
    const message = parseStun(changed);
    expect(message === undefined || !hasIntegrity(message, password)).toBe(true);
  }
});

test('attributes after the integrity are not read', () => {
  const without = writeStun(STUN_TYPE.request, Buffer.alloc(12), [], 'secret').subarray(0, -8);
  const forged = Buffer.concat([without, Buffer.from([0, 0x25, 0, 0])]);
  forged.writeUInt16BE(forged.length - 20, 2);
  const message = parseStun(forged)!;
  expect(message.attributes.has(STUN_ATTRIBUTE.useCandidate)).toBe(false);
});

test('random and truncated messages do no harm', () => {
  const random = new Random(5);
  for (let round = 0; round < 3_000; round++) {
    const bytes = round % 2 === 0 ? random.bytes(random.below(120)) : Buffer.from(request);
    if (round % 2 === 1)
      for (let each = 0; each < 4; each++) bytes[random.below(bytes.length)] = random.below(256);
    parseStun(bytes.subarray(0, random.below(bytes.length + 1)));
  }
});

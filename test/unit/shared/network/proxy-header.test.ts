import { describe, expect, it } from 'vitest';
import { beginsProxyHeader, readProxyHeader } from '../../../../src/shared/network/proxy-header.ts';

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n');

/** @param declared length field, where it differs from the length of `content` */
function binary(command: number, kind: number, content: Buffer, declared = content.length): Buffer {
  const fixed = Buffer.from([command, kind, declared >> 8, declared & 0xff]);
  return Buffer.concat([signature, fixed, content]);
}

const ipv4 = Buffer.from('c6336407cb0071011234 1f90'.replace(' ', ''), 'hex');
const ipv6 = Buffer.concat([
  Buffer.from('20010db8000000000000000000000007', 'hex'),
  Buffer.from('20010db8000000000000000000000001', 'hex'),
  Buffer.from('12341f90', 'hex'),
]);
const extension = (type: number, content: Buffer) =>
  Buffer.concat([Buffer.from([type, content.length >> 8, content.length & 0xff]), content]);
const rest = Buffer.from('GET / HTTP/1.1\r\n\r\n');

const fromIpv4 = { client: { address: '198.51.100.7', port: 0x1234 }, isLocal: false, isTls: false };
const fromIpv6 = { client: { address: '2001:db8::7', port: 0x1234 }, isLocal: false, isTls: false };
const unknown = { client: undefined, isLocal: false, isTls: false };

const valid: readonly (readonly [string, Buffer, object])[] = [
  ['IPv4, version 1', Buffer.from('PROXY TCP4 198.51.100.7 203.0.113.1 4660 8080\r\n'), fromIpv4],
  ['IPv6, version 1', Buffer.from('PROXY TCP6 2001:DB8:0:0:0:0:0:7 2001:db8::1 4660 8080\r\n'), fromIpv6],
  ['an unknown client, version 1', Buffer.from('PROXY UNKNOWN\r\n'), unknown],
  [
    'the longest line',
    Buffer.from(
      `PROXY UNKNOWN ${'f'.repeat(4)}${':ffff'.repeat(7)} ${'f'.repeat(4)}${':ffff'.repeat(7)} 65535 65535\r\n`,
    ),
    unknown,
  ],
  ['IPv4, version 2', binary(0x21, 0x11, ipv4), fromIpv4],
  ['IPv6, version 2', binary(0x21, 0x21, ipv6), fromIpv6],
  ['a check of the proxy itself', binary(0x20, 0x00, Buffer.alloc(0)), { ...unknown, isLocal: true }],
  ['a check with addresses', binary(0x20, 0x11, ipv4), { ...unknown, isLocal: true }],
  ['an unknown client, version 2', binary(0x21, 0x00, extension(4, Buffer.alloc(9))), unknown],
  ['a Unix socket', binary(0x21, 0x31, Buffer.alloc(216)), unknown],
  [
    'TLS up to the proxy',
    binary(
      0x21,
      0x11,
      Buffer.concat([ipv4, extension(1, Buffer.from('h2')), extension(0x20, Buffer.alloc(5, 1))]),
    ),
    { ...fromIpv4, isTls: true },
  ],
  [
    'no TLS up to the proxy',
    binary(0x21, 0x11, Buffer.concat([ipv4, extension(0x20, Buffer.alloc(5))])),
    fromIpv4,
  ],
  [
    'extensions that end too early',
    binary(0x21, 0x11, Buffer.concat([ipv4, Buffer.from([0x20, 0, 9, 1])])),
    fromIpv4,
  ],
  ['4096 bytes', binary(0x21, 0x11, Buffer.concat([ipv4, extension(4, Buffer.alloc(4096 - 31))])), fromIpv4],
];

describe('a PROXY protocol header', () => {
  it.each(valid)('of %s is read, however it arrives', (_, header, expected) => {
    for (let length = 0; length < header.length; length += 1)
      expect(readProxyHeader(header.subarray(0, length))).toBeUndefined();
    const read = { lengthBytes: header.length, ...expected };
    expect(readProxyHeader(header)).toEqual(read);
    expect(readProxyHeader(Buffer.concat([header, rest]))).toEqual(read);
    expect(beginsProxyHeader(header)).toBe(true);
  });

  it.each([
    ['of another protocol', rest],
    ['of another protocol in the first byte', Buffer.from([3])],
    ['with another word', Buffer.from('PROXX')],
    ['in lower case', Buffer.from('proxy TCP4 1.1.1.1 1.1.1.1 1 1\r\n')],
    ['without an end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(93)}`)],
    ['with two spaces', Buffer.from('PROXY  TCP4 1.1.1.1 1.1.1.1 1 1\r\n')],
    ['of an unknown family', Buffer.from('PROXY UDP4 1.1.1.1 1.1.1.1 1 1\r\n')],
    ['with an invalid address', Buffer.from('PROXY TCP4 1.1.1.256 1.1.1.1 1 1\r\n')],
    ['with an address of another family', Buffer.from('PROXY TCP4 ::1 ::1 1 1\r\n')],
    ['with a zone', Buffer.from('PROXY TCP6 fe80::1%eth0 ::1 1 1\r\n')],
    ['with an invalid destination', Buffer.from('PROXY TCP4 1.1.1.1 one 1 1\r\n')],
    ['with too large a port', Buffer.from('PROXY TCP4 1.1.1.1 1.1.1.1 65536 1\r\n')],
    ['with too large a destination port', Buffer.from('PROXY TCP4 1.1.1.1 1.1.1.1 1 65536\r\n')],
    ['with a port that begins with 0', Buffer.from('PROXY TCP4 1.1.1.1 1.1.1.1 01 1\r\n')],
    ['with less', Buffer.from('PROXY TCP4 1.1.1.1\r\n')],
    ['with more', Buffer.from('PROXY TCP4 1.1.1.1 1.1.1.1 1 1 1\r\n')],
    ['with a line feed alone', Buffer.from('PROXY TCP4 1.1.1.1 1.1.1.1 1 1\nGET / HTTP/1.1\r\n')],
    ['with an incomplete signature', Buffer.concat([signature.subarray(0, 11), Buffer.from([0x0d])])],
    ['of version 1 in binary', binary(0x11, 0x11, ipv4)],
    ['with an unknown command', binary(0x22, 0x11, ipv4)],
    ['with an unknown family, version 2', binary(0x21, 0x41, Buffer.alloc(300))],
    ['of datagrams', binary(0x21, 0x12, ipv4)],
    ['that is too short for IPv4', binary(0x21, 0x11, ipv4.subarray(0, 11))],
    ['that is too short for IPv6', binary(0x21, 0x21, ipv4)],
    ['that declares too much', binary(0x21, 0x11, Buffer.alloc(0), 65_535)],
  ])('%s is refused', (_, bytes) => {
    expect(() => readProxyHeader(bytes)).toThrow();
  });
});

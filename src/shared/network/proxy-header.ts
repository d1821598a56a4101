import { isIP, SocketAddress } from 'node:net';

/** The address of a client. */
interface ProxiedClient {
  readonly address: string;
  readonly port: number;
}

/** A PROXY protocol header, version 1 or 2. **Source**: https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt */
export interface ProxyHeader {
  readonly lengthBytes: number;
  /** Undefined for `LOCAL`, a connection of the proxy itself, and where the header has no IP address. */
  readonly client: ProxiedClient | undefined;
  readonly isLocal: boolean;
  /** True when the client uses TLS up to the proxy. */
  readonly isTls: boolean;
}

/** Section 2.1: the longest line, with its end. */
const maxTextBytes = 107;
/** nginx has the same limit. HAProxy sends less than 536 bytes, unless extensions are added. */
const maxBinaryBytes = 4096;
const fixedBytes = 16;

const textStart = Buffer.from('PROXY ');
const binaryStart = Buffer.from('\r\n\r\n\0\r\nQUIT\n');
const textForm =
  /^PROXY (?:UNKNOWN(?: [^\r\n]*)?|TCP([46]) (\S{1,39}) (\S{1,39}) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4}))\r\n$/;

/** Section 2.2: lengths of the addresses by address family and transport: none, TCP over IPv4 and IPv6, Unix sockets. */
const addressBytes: ReadonlyMap<number, number> = new Map([
  [0x00, 0],
  [0x11, 12],
  [0x21, 36],
  [0x31, 216],
]);
const tlsExtension = 0x20;

export function beginsProxyHeader(bytes: Buffer): boolean {
  return startsWith(bytes, textStart) || startsWith(bytes, binaryStart);
}

/** @returns undefined while the header is incomplete @throws Error that tells what is wrong with it */
export function readProxyHeader(bytes: Buffer): ProxyHeader | undefined {
  if (agrees(bytes, textStart)) return readText(bytes);
  if (agrees(bytes, binaryStart)) return readBinary(bytes);
  throw new Error('the connection does not begin with a PROXY protocol header');
}

function readText(bytes: Buffer): ProxyHeader | undefined {
  const end = bytes.subarray(0, maxTextBytes).indexOf('\r\n');
  if (end === -1) {
    if (bytes.length < maxTextBytes) return undefined;
    throw new Error(`the line of the PROXY protocol is longer than ${maxTextBytes} bytes`);
  }
  const lengthBytes = end + 2;
  const fields = textForm.exec(bytes.toString('latin1', 0, lengthBytes));
  if (fields === null) throw new Error('the line of the PROXY protocol is invalid');
  const [, version, address = '', destination = '', port, destinationPort] = fields;
  if (version === undefined) return { lengthBytes, client: undefined, isLocal: false, isTls: false };
  const family = Number(version);
  if (!isAddress(address, family) || !isAddress(destination, family) || Number(destinationPort) > 0xffff)
    throw new Error('the line of the PROXY protocol has an invalid address or port');
  return { lengthBytes, client: clientOf(address, Number(port), family), isLocal: false, isTls: false };
}

function readBinary(bytes: Buffer): ProxyHeader | undefined {
  if (bytes.length > binaryStart.length) {
    const version = bytes[12]!;
    if (version !== 0x20 && version !== 0x21)
      throw new Error(
        `the PROXY protocol header has the unknown version and command 0x${version.toString(16)}`,
      );
  }
  if (bytes.length < fixedBytes) return undefined;
  const lengthBytes = fixedBytes + bytes.readUInt16BE(14);
  if (lengthBytes > maxBinaryBytes)
    throw new Error(
      `the PROXY protocol header has ${lengthBytes} bytes; at most ${maxBinaryBytes} are accepted`,
    );
  if (bytes.length < lengthBytes) return undefined;
  const isLocal = bytes[12] === 0x20;
  if (isLocal) return { lengthBytes, client: undefined, isLocal, isTls: false };
  const kind = bytes[13]!;
  const extensionsAt = fixedBytes + (addressBytes.get(kind) ?? Number.POSITIVE_INFINITY);
  if (extensionsAt > lengthBytes)
    throw new Error(
      `the PROXY protocol header is too short for its addresses, or they are not of TCP (0x${kind.toString(16)})`,
    );
  return {
    lengthBytes,
    client: binaryClient(bytes, kind),
    isLocal,
    isTls: hasTls(bytes.subarray(extensionsAt, lengthBytes)),
  };
}

function binaryClient(bytes: Buffer, kind: number): ProxiedClient | undefined {
  if (kind === 0x11)
    return clientOf(bytes.subarray(fixedBytes, fixedBytes + 4).join('.'), bytes.readUInt16BE(24), 4);
  if (kind !== 0x21) return undefined;
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(fixedBytes + index * 2));
  return clientOf(groups.map(group => group.toString(16)).join(':'), bytes.readUInt16BE(48), 6);
}

/** Sections 2.2.5 and 2.2.6: finds an SSL extension whose client flags have `PP2_CLIENT_SSL`. */
function hasTls(extensions: Buffer): boolean {
  let at = 0;
  while (at + 3 <= extensions.length) {
    const end = at + 3 + extensions.readUInt16BE(at + 1);
    if (end > extensions.length) break;
    if (extensions[at] === tlsExtension && end > at + 3) return (extensions[at + 3]! & 1) === 1;
    at = end;
  }
  return false;
}

/** Zones, which Node accepts in addresses, are not part of the protocol. */
function isAddress(text: string, family: number): boolean {
  return isIP(text) === family && !text.includes('%');
}

/** Spells the address as sockets do. @throws Error for an invalid port */
function clientOf(address: string, port: number, version: number): ProxiedClient {
  if (port > 0xffff) throw new Error('the PROXY protocol header has an invalid port');
  return { address: new SocketAddress({ address, family: version === 4 ? 'ipv4' : 'ipv6' }).address, port };
}

/** True as long as nothing contradicts `start`. */
function agrees(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.subarray(0, length).equals(start.subarray(0, length));
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.length >= start.length && agrees(bytes, start);
}

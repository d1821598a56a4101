/** A request or response with its body, or a packet of media between them. RFC 2326, 4 and 10.12. */
export type RtspMessage =
  | { readonly kind: 'media'; readonly bytes: Buffer }
  | {
      readonly kind: 'text';
      readonly firstLine: string;
      readonly headers: readonly string[];
      readonly body: Buffer;
    };

const INTERLEAVED = 0x24;
const maxHeadBytes = 16 * 1024;
const maxBodyBytes = 256 * 1024;
const headEnd = Buffer.from('\r\n\r\n');

/** Reads one direction of an RTSP connection. */
export class RtspReader {
  readonly #message: (message: RtspMessage) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(message: (message: RtspMessage) => void) {
    this.#message = message;
  }

  /** @throws Error when it is not RTSP */
  push(bytes: Buffer): void {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (let length = this.#read(rest); length > 0; length = this.#read(rest)) rest = rest.subarray(length);
    this.#rest = Buffer.from(rest);
  }

  /** Returns the bytes of the message that `bytes` begin with, 0 when it is incomplete. */
  #read(bytes: Buffer): number {
    if (bytes.length < 4) return 0;
    if (bytes[0] === INTERLEAVED) {
      const length = 4 + bytes.readUInt16BE(2);
      if (bytes.length < length) return 0;
      this.#message({ kind: 'media', bytes: bytes.subarray(0, length) });
      return length;
    }
    const end = bytes.indexOf(headEnd);
    if (end === -1 || end > maxHeadBytes) {
      if (bytes.length > maxHeadBytes || !/^[\r\nA-Za-z]/.test(String.fromCharCode(bytes[0]!))) {
        throw new Error('not RTSP');
      }
      return 0;
    }
    const [firstLine = '', ...headers] = bytes
      .toString('latin1', 0, end)
      .replace(/^[\r\n]+/, '')
      .split('\r\n');
    // A reader that also ends lines at one of them would see other messages.
    if ([firstLine, ...headers].some(line => /[\r\n\0]/.test(line))) throw new Error('not RTSP');
    const bodyBytes = Number(headerOf(headers, 'content-length') ?? 0);
    if (!Number.isInteger(bodyBytes) || bodyBytes < 0 || bodyBytes > maxBodyBytes)
      throw new Error('not RTSP');
    const length = end + headEnd.length + bodyBytes;
    if (bytes.length < length) return 0;
    this.#message({ kind: 'text', firstLine, headers, body: bytes.subarray(end + headEnd.length, length) });
    return length;
  }
}

/** @param name in lower case */
export function headerOf(headers: readonly string[], name: string): string | undefined {
  const line = headers.find(header => header.toLowerCase().startsWith(`${name}:`));
  return line?.slice(name.length + 1).trim();
}

/** Writes only headers that every reader understands alike, and the length of the body once. */
export function writeRtspText(firstLine: string, headers: readonly string[], body: Buffer): Buffer {
  const kept = headers.filter(line => /^[A-Za-z][\w-]*:/.test(line) && !/^content-length:/i.test(line));
  if (body.length > 0) kept.push(`Content-Length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${[firstLine, ...kept].join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

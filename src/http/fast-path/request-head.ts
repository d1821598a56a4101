import type { IncomingHttpHeaders } from 'node:http';

interface RequestHead {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** True when the head equals that of the previous request on the connection. */
  readonly isRepeated: boolean;
}

/** Head size that the HTTP server allows. */
const maxHeadBytes = 16 * 1024;
const method = 'GET ';
const version = ' HTTP/1.1';
const originForm = /^\/[!-~]*$/;
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 5.5, without obsolete bytes. */
const fieldValue = /^[\t -~]*$/;
/** Fields of requests with a body, and of those that ask for more than a response. */
const leftToParser: ReadonlySet<string> = new Set([
  ...['content-length', 'transfer-encoding', 'te', 'trailer', 'expect', 'upgrade', 'proxy-connection'],
]);

/** Reads the plain GET requests of one connection. Players repeat their headers, which are then read once. */
export class RequestHeadReader {
  #fields = '';
  #headers: IncomingHttpHeaders = {};

  /** @returns undefined unless the bytes are exactly one request, valid beyond doubt (RFC 9112) */
  read(bytes: Buffer): RequestHead | undefined {
    const end = bytes.length;
    if (end > maxHeadBytes || end < 4 || bytes[end - 1] !== 0x0a || bytes[end - 3] !== 0x0a) return undefined;
    const text = bytes.toString('latin1');
    const lineEnd = text.indexOf('\r\n');
    const urlEnd = lineEnd - version.length;
    if (!text.startsWith(method) || urlEnd < method.length || !text.startsWith(version, urlEnd))
      return undefined;
    const url = text.slice(method.length, urlEnd);
    if (!originForm.test(url)) return undefined;
    const fields = text.slice(lineEnd + 2);
    const isRepeated = fields === this.#fields;
    if (!isRepeated) {
      const headers = parseFields(fields);
      if (headers === undefined) return undefined;
      this.#headers = headers;
      this.#fields = fields;
    }
    return { url, headers: this.#headers, isRepeated };
  }
}

/** @param text up to the empty line and with it */
function parseFields(text: string): IncomingHttpHeaders | undefined {
  const headers: Record<string, string> = Object.create(null);
  let start = 0;
  while (!text.startsWith('\r\n', start)) {
    const end = text.indexOf('\r\n', start);
    const colon = text.indexOf(':', start);
    if (end === -1 || colon === -1 || colon > end) return undefined;
    const name = text.slice(start, colon);
    const value = text.slice(colon + 1, end);
    if (!fieldName.test(name) || !fieldValue.test(value)) return undefined;
    const key = name.toLowerCase();
    if (leftToParser.has(key) || headers[key] !== undefined) return undefined;
    headers[key] = value.trim();
    start = end + 2;
  }
  if (start + 2 !== text.length || headers.host === undefined) return undefined;
  return (headers.connection ?? 'keep-alive').toLowerCase() === 'keep-alive' ? headers : undefined;
}

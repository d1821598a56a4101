import { describe, expect, it } from 'vitest';
import { RequestHeadReader } from '../../../../src/http/fast-path/request-head.ts';

const read = (text: string) => new RequestHeadReader().read(Buffer.from(text, 'latin1'));

describe('RequestHeadReader', () => {
  it('reads the target and the fields of a GET request', () => {
    const head = read(
      'GET /a/b.m4s?c=d HTTP/1.1\r\nHost: x\r\nX-Empty:\r\nRANGE: \t bytes=0-1 \r\nConnection: Keep-Alive\r\n\r\n',
    );
    expect(head?.url).toBe('/a/b.m4s?c=d');
    expect({ ...head?.headers }).toEqual({
      host: 'x',
      'x-empty': '',
      range: 'bytes=0-1',
      connection: 'Keep-Alive',
    });
  });

  it('tells whether the fields are those of the request before', () => {
    const reader = new RequestHeadReader();
    const request = (path: string, host: string) =>
      reader.read(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
    expect(request('/a', 'x')?.isRepeated).toBe(false);
    expect(request('/b', 'x')).toMatchObject({ url: '/b', headers: { host: 'x' }, isRepeated: true });
    expect(request('/c', 'y')).toMatchObject({ headers: { host: 'y' }, isRepeated: false });
  });

  it.each([
    ['another method', 'POST / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a method in small letters', 'get / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: x\r\n\r\n'],
    ['an absolute target', 'GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a blank in the target', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a line before it', '\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\nA: x\r\n\r\n'],
    ['no fields', 'GET / HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n'],
    ['a repeated field', 'GET / HTTP/1.1\r\nHost: x\r\nCookie: a\r\nCookie: b\r\n\r\n'],
    ['a length', 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'],
    ['a coding', 'GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['an expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n'],
    ['an upgrade', 'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n'],
    ['a connection that closes', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['a continued line', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n'],
    ['a blank before the colon', 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\n'],
    ['a line without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n'],
    ['a bare line feed', 'GET / HTTP/1.1\r\nHost: x\nContent-Length: 5\r\n\r\n'],
    ['a bare carriage return', 'GET / HTTP/1.1\r\nHost: x\rContent-Length: 5\r\n\r\n'],
    ['a null byte', 'GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n'],
    ['bytes beyond ASCII', 'GET / HTTP/1.1\r\nHost: x\r\nA: \xe9\r\n\r\n'],
    ['its end still to come', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['another request behind it', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2)],
    ['a body behind it', 'GET / HTTP/1.1\r\nHost: x\r\n\r\nbody'],
    ['more than an HTTP server reads', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'b'.repeat(16 * 1024)}\r\n\r\n`],
    ['nothing', ''],
  ])('leaves a request with %s to the parser', (_what, text) => {
    expect(read(text)).toBeUndefined();
  });

  it('reads the most blanks that fit in no time', () => {
    const blanks = ' '.repeat(15 * 1024);
    expect(read(`GET / HTTP/1.1\r\nHost: x\r\nA: b${blanks}\0\r\n\r\n`)).toBeUndefined();
    expect(read(`GET / HTTP/1.1\r\nHost: x\r\nA: b${blanks}c\r\n\r\n`)?.headers.a).toHaveLength(
      15 * 1024 + 2,
    );
  });
});

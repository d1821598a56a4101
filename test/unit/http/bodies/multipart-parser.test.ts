import { describe, expect, it } from 'vitest';
import { MultipartParser } from '../../../../src/http/bodies/multipart-parser.ts';

interface Part {
  headers: Record<string, string>;
  body: string;
  isWhole: boolean;
}

/** Lists what a parser reports of a body that is fed in pieces of `size` bytes. */
function parse(body: string, size: number, boundary = 'bound') {
  const parts: Part[] = [];
  let ends = 0;
  const parser = new MultipartParser(boundary, {
    onPartBegin: headers =>
      void parts.push({ headers: Object.fromEntries(headers), body: '', isWhole: false }),
    onPartData(bytes) {
      parts.at(-1)!.body += bytes.toString('latin1');
    },
    onPartEnd() {
      parts.at(-1)!.isWhole = true;
    },
    onEnd() {
      ends += 1;
    },
  });
  const bytes = Buffer.from(body, 'latin1');
  for (let at = 0; at < bytes.length; at += size) parser.write(bytes.subarray(at, at + size));
  return { parts, ends, hasEnded: parser.hasEnded };
}

const part = (body: string, headers: Record<string, string> = {}): Part => ({ headers, body, isWhole: true });

const table: [name: string, body: string, parts: Part[]][] = [
  [
    'two parts with headers',
    '--bound\r\nContent-Disposition: form-data; name="a"\r\n\r\none\r\n--bound\r\nX-Y:z\r\n\r\ntwo\r\n--bound--\r\n',
    [part('one', { 'content-disposition': 'form-data; name="a"' }), part('two', { 'x-y': 'z' })],
  ],
  ['a part without headers', '--bound\r\n\r\nbody\r\n--bound--', [part('body')]],
  ['an empty part', '--bound\r\na: b\r\n\r\n\r\n--bound--', [part('', { a: 'b' })]],
  ['text before and after', 'hello\r\n--bound\r\n\r\nx\r\n--bound--\r\nbye\r\n--bound\r\n\r\ny', [part('x')]],
  ['nothing at all', '--bound--', []],
  [
    'data that looks like a boundary',
    '--bound\r\n\r\n--bound\r\n--boun\r\n\r\r\n--boundary\r\n--bound-\r\n--bound\r\r\n--bound--',
    [part('--bound\r\n--boun\r\n\r\r\n--boundary\r\n--bound-\r\n--bound\r')],
  ],
  ['nothing but line ends', `--bound\r\n\r\n${'\r\n'.repeat(40)}\r\n--bound--`, [part('\r\n'.repeat(40))]],
];

describe('a multipart body', () => {
  for (const [name, body, parts] of table) {
    it(`with ${name} is the same in pieces of any size`, () => {
      for (let size = 1; size <= body.length; size += 1) {
        expect(parse(body, size)).toEqual({ parts, ends: 1, hasEnded: true });
      }
    });
  }

  it('that is cut short has not ended', () => {
    const body = '--bound\r\n\r\nbody\r\n--bound--';
    for (let length = 0; length < body.length; length += 1) {
      expect(parse(body.slice(0, length), 7)).toMatchObject({ ends: 0, hasEnded: false });
    }
  });

  it('is told no further while paused', () => {
    const told: string[] = [];
    const parser = new MultipartParser('b', {
      onPartBegin: () => {
        told.push('began');
        parser.pause();
      },
      onPartData: bytes => void told.push(bytes.toString()),
      onPartEnd: () => void told.push('ended'),
      onEnd: () => {},
    });
    parser.write(Buffer.from('--b\r\n\r\none\r\n--b\r\n'));
    parser.write(Buffer.from('\r\ntwo\r\n--b--'));
    expect(told).toEqual(['began']);
    parser.resume();
    expect(told).toEqual(['began', 'one', 'ended', 'began']);
    parser.resume();
    expect(told).toEqual(['began', 'one', 'ended', 'began', 'two', 'ended']);
    expect(parser.hasEnded).toBe(true);
  });

  it('with a header block that is too long or not one is refused', () => {
    expect(() => parse(`--bound\r\na: ${'x'.repeat(9_000)}`, 100)).toThrow('payload is invalid');
    expect(() => parse('--bound\r\nno colon\r\n\r\n', 100)).toThrow('payload is invalid');
    expect(() => parse('', 1, 'x'.repeat(201))).toThrow('payload is invalid');
    expect(() => parse('', 1, '')).toThrow('payload is invalid');
  });
});

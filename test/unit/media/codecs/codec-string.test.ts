import { describe, expect, test } from 'vitest';
import { box, fullBox } from '../../../../src/media/cmaf/box-writer.ts';
import { codecStringOf } from '../../../../src/media/codecs/codec-string.ts';

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex');
}

function videoEntry(type: string, configuration: Buffer): Buffer {
  const fields = Buffer.alloc(78);
  fields.writeUInt16BE(1920, 24);
  fields.writeUInt16BE(1080, 26);
  return box(type, fields, configuration);
}

function audioEntry(type: string, ...configuration: Buffer[]): Buffer {
  return box(type, Buffer.alloc(28), ...configuration);
}

/** An `esds` with this object type indication and decoder specific info; lengths in four bytes as ffmpeg writes them. */
function esds(objectType: number, info: string): Buffer {
  const specific = hex(info);
  const length = (bytes: number) => Buffer.from([0x80, 0x80, 0x80, bytes]);
  const decoder = Buffer.concat([
    Buffer.from([objectType]),
    Buffer.alloc(12),
    Buffer.from([5]),
    length(specific.length),
    specific,
  ]);
  const head = Buffer.from([3, ...length(decoder.length + 8), 0, 1, 0, 4, ...length(decoder.length)]);
  return fullBox('esds', 0, 0, head, decoder);
}

const hvcC = (general: string) => box('hvcC', hex(`01 ${general} f000fcfdfafa00000f00`));

describe('codec names', () => {
  test.each([
    ['avc1.64001f', videoEntry('avc1', box('avcC', hex('01 64001f ff')))],
    ['avc3.42c00a', videoEntry('avc3', box('avcC', hex('01 42c00a ff')))],
    ['hvc1.1.6.L93.B0', videoEntry('hvc1', hvcC('01 60000000 b00000000000 5d'))],
    ['hev1.2.4.H150.90', videoEntry('hev1', hvcC('22 20000000 900000000000 96'))],
    ['hvc1.A4.10.L186.B1.0.8', videoEntry('hvc1', hvcC('44 08000000 b10008000000 ba'))],
    ['hvc1.1.80000006.L30', videoEntry('hvc1', hvcC('01 60000001 000000000000 1e'))],
    ['av01.0.04M.08', videoEntry('av01', box('av1C', hex('81 04 0c 00')))],
    ['av01.0.08M.10', videoEntry('av01', box('av1C', hex('81 08 4c 00')))],
    ['av01.2.31H.12', videoEntry('av01', box('av1C', hex('81 5f e0 00')))],
    ['av01.1.13H.10', videoEntry('av01', box('av1C', hex('81 2d e0 00')))],
    ['mp4a.40.2', audioEntry('mp4a', esds(0x40, '1210'))],
    ['mp4a.40.5', audioEntry('mp4a', esds(0x40, '2b92'))],
    ['mp4a.40.42', audioEntry('mp4a', esds(0x40, 'f94840'))],
    ['mp4a.40.34', audioEntry('mp4a', esds(0x6b, ''))],
    ['mp4a.40.34', audioEntry('mp4a', esds(0x69, ''))],
    ['mp4a.40.34', audioEntry('.mp3')],
    ['mp4a.A5', audioEntry('mp4a', esds(0xa5, ''))],
    ['opus', audioEntry('Opus', box('dOps', hex('00 02 0138 0000bb80 0000 00')))],
    ['fLaC', audioEntry('fLaC', fullBox('dfLa', 0, 0, hex('80000022')))],
  ])('%s', (name, entry) => {
    expect(codecStringOf(entry)).toBe(name);
  });

  test('an esds with all optional fields is read', () => {
    const decoder = Buffer.concat([hex('04 11 40'), Buffer.alloc(12), hex('05 02 1210')]);
    const body = Buffer.concat([hex('03 1c 0001 e0 0009 02 6162 0007'), decoder]);
    expect(codecStringOf(audioEntry('mp4a', fullBox('esds', 0, 0, body)))).toBe('mp4a.40.2');
  });

  test.each([
    ['an empty configuration', videoEntry('av01', box('av1C')), 'box "av1C": needs 1 bytes, has 0 left'],
    ['a cut one', videoEntry('avc1', box('avcC', hex('0164'))), 'box "avcC": needs 3 bytes, has 1 left'],
    ['none', audioEntry('Opus'), 'box "Opus": has no "dOps"'],
    ['no object type', audioEntry('mp4a', esds(0x40, '')), 'box "esds": no audio object type'],
    ['an entry of its own', videoEntry('dvh1', hvcC('01')), 'box "dvh1": is not a sample entry that we know'],
    ['a few bytes', Buffer.from('????avc1'), 'box "avc1": size 1061109567, but "stsd" has 8 bytes left'],
  ])('%s is refused', (_, entry, message) => {
    expect(() => codecStringOf(entry)).toThrow(expect.objectContaining({ code: 'media-malformed', message }));
  });
});

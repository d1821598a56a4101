import { describe, expect, it } from 'vitest';
import { TextTrackReader } from '../../../../src/media/webvtt/text-track-reader.ts';

function read(file: string | Buffer, { language = 'en', chunkBytes = 4_096 } = {}) {
  const bytes = Buffer.from(file as string);
  const reader = new TextTrackReader(bytes.subarray(0, chunkBytes), language);
  let text = '';
  for (let begin = 0; begin < bytes.length; begin += chunkBytes) {
    text += reader.read(bytes.subarray(begin, begin + chunkBytes));
  }
  const end = reader.end();
  const { cues, isChanged, warnings } = reader;
  return { text: end === undefined ? undefined : text + end, cues, isChanged, warnings };
}

const lines = (...all: string[]) => `${all.join('\n')}\n`;
const subRip = (...text: string[]) => lines('1', '00:00:01,000 --> 00:00:02,500', ...text);
const cue = (...text: string[]) => ['', '00:00:01.000 --> 00:00:02.500', ...text];
const cueTextOf = (...text: string[]) => read(subRip(...text)).text?.replace(/^WEBVTT\n\n.*\n/, '');

describe('WebVTT', () => {
  it.each([
    lines('WEBVTT', '', '00:01.000 --> 00:02.000', 'Hello'),
    lines(
      'WEBVTT - Film',
      'Kind: captions',
      '',
      'STYLE',
      '::cue { color: lime }',
      '',
      'a',
      ...cue('<v Ann>you'),
    ),
    lines('WEBVTT', '', 'intro', '100:00:01.000-->100:00:02.000\tline:0', '', 'NOTE x', '', 'this is none'),
    lines('WEBVTT', '00:01.000 --> 00:02.000', '42', '', '', '43', '00:02.000 --> 00:03.000', '44'),
    lines('\ufeffWEBVTT', '', 'this is none'),
  ])('that is valid stays unchanged: %j', file => {
    expect(read(file)).toMatchObject({ isChanged: false });
    expect(read(file).text).toBe(file.replace('\ufeff', ''));
    expect(read(file, { chunkBytes: 3 }).text).toBe(file.replace('\ufeff', ''));
  });

  it.each([
    [
      'times',
      ['WEBVTT', '', '1:05 --> 0:01:06,5 line:0', 'A'],
      ['WEBVTT', '', '00:01:05.000 --> 00:01:06.500 line:0', 'A'],
      3,
    ],
    [
      'added',
      ['WEBVTT', ...cue('A'), '2', ...cue('B').slice(1)],
      ['WEBVTT', ...cue('A'), '', '2', ...cue('B').slice(1)],
      6,
    ],
    [
      'times',
      ['WEBVTT', '', '00:01.000 → 00:02.500', 'to 10:30 → 11:45', '10:30 → 11:45'],
      ['WEBVTT', ...cue('to 10:30 → 11:45', '10:30 → 11:45')],
      3,
    ],
    [
      'moved below',
      ['WEBVTT', '', '00:01.000 --> 00:02.500 line: 84% Hello --> you'],
      ['WEBVTT', '', '00:00:01.000 --> 00:00:02.500 line:84%', 'Hello --&gt; you'],
      3,
    ],
    ['added', ['WEBVTT', ...cue('A'), ...cue('B').slice(1)], ['WEBVTT', ...cue('A'), ...cue('B')], 5],
    ['not WEBVTT', ['', 'webvtt', ...cue('A')], ['WEBVTT', ...cue('A')], 2],
    ['Control', ['WEBVTT', ...cue('A\0\u0007B')], ['WEBVTT', ...cue('AB')], 4],
  ])('is mended: %s %j', (warning, file, mended, line) => {
    expect(read(lines(...file)).text).toBe(lines(...mended));
    expect(read(lines(...file)).warnings).toEqual([
      expect.stringMatching(new RegExp(`^Line ${line}: .*${warning}`, 'i')),
    ]);
  });

  it('without a cue that players show has a warning', () => {
    expect(read('WEBVTT\n')).toMatchObject({ warnings: ['The file has no cues, so players show nothing.'] });
    expect(read(lines('WEBVTT', '', '00:09.000 --> 00:01.000', '', '00 --> x'))).toMatchObject({
      isChanged: false,
      warnings: [
        'Line 3: A cue that does not end after it begins is not shown.',
        'Line 5: A cue whose times cannot be read is not shown.',
        'The file has no cues, so players show nothing.',
      ],
    });
  });
});

describe('a file without the header', () => {
  it('has the times of WebVTT, and cues without a text', () => {
    const file = lines('1', '00:00.000 --> 00:01.000', '', '2', '00:01.000 --> 00:04.000 align:start X1:5');
    expect(read(file)).toEqual({
      text: lines(
        'WEBVTT',
        '',
        '00:00:00.000 --> 00:00:01.000',
        '',
        '00:00:01.000 --> 00:00:04.000 align:start',
      ),
      cues: 2,
      isChanged: true,
      warnings: ['Line 1: The first line was not WEBVTT: it was added.'],
    });
  });

  it('keeps identifiers and comments', () => {
    const file = lines(
      'intro',
      '0:00 --> 0:10',
      'One',
      '',
      'NOTE',
      'more',
      '',
      'main',
      '0:10 --> 1:00',
      'Two',
    );
    expect(read(file).text).toBe(
      lines(
        ...['WEBVTT', '', 'intro', '00:00:00.000 --> 00:00:10.000', 'One', '', 'NOTE', 'more'],
        ...['', 'main', '00:00:10.000 --> 00:01:00.000', 'Two'],
      ),
    );
  });

  it.each(['Hello\n', '', '1\n', '1\n00:00:01,000', '00:00:05,000 --> 00:00:01,000\nx\n', '{\\rtf1 --> }'])(
    'and without a cue is none: %j',
    file => {
      expect(read(file)).toMatchObject({ text: undefined, cues: 0 });
    },
  );
});

describe('a file that is like none of both', () => {
  const lyrics = ['header', 'times', 'no-end'];
  it.each([
    [['text-behind', 'header'], '00:01.000 --> 00:02.500 Hello', cue('Hello')],
    [['text-behind'], '1\n00:00:01,000 --> 00:00:02,500 X1:10 - <Hi>', cue('- &lt;Hi&gt;')],
    [['text-behind', 'header'], '[00:00:01.000 --> 00:00:02.500]   Hello', cue('Hello')],
    [['times', 'header'], '[00:01.000] --> [00:02.500]\nHello', cue('Hello')],
    [['times'], '1\n00:00:01,000 → 00:00:02,500\nA\n7:30 → 8:15', cue('A', '7:30 → 8:15')],
    [['times', 'header'], '1\n00：00：01．０００ －－＞ 00：00：02．５００\n你好，：', cue('你好，：')],
    [['times'], '\u200f00:00:01,000 --> 00:00:02,500\u202c\nشكرا', cue('شكرا')],
    [['times', 'header'], '٠٠:٠٠:٠١٫٠٠٠ --> ٠٠:٠٠:٠٢٫٥٠٠\nشكرا', cue('شكرا')],
    [['times', 'header'], '00.00.01.000 ==> 00.00.02.500\nA', cue('A')],
    [['times', 'header'], "00:00:01'000 --> 00:00:02;500\nA", cue('A')],
    [['header', 'times'], '0:00:01.000,0:00:02.500\nHello\n\nyou[br]all', cue('Hello', 'you', 'all')],
    [['header', 'times'], '1\n00:00:01.000 - 00:00:02.500\nA\n', cue('A')],
    [['outside', 'header', 'times'], 'start,end,text\n00:01.0,00:02.5,"Hi, you"', cue('Hi, you')],
    [
      ['header', 'times'],
      '[Events]\nFormat: Layer, Start\nDialogue: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,{\\i1}A{\\i0}, B\\NC',
      cue('A, B', 'C'),
    ],
    [['header', 'times'], '[10][25]Hello|/you', cue('Hello', '<i>you</i>')],
    [lyrics, '[ar:X]\n[00:01.00]Hel<00:01.50>lo\n[00:02.50]', cue('Hello')],
    [
      lyrics,
      '[offset:+1000]\n[00:02.00][00:03.5]A\n',
      [...cue('A').slice(0, 3), ...['', '00:00:02.500 --> 00:00:12.500', 'A']],
    ],
    [lyrics, '00:00:01:Hello\n\n00:00:02:', [...cue('Hello').with(1, '00:00:01.000 --> 00:00:02.000')]],
    [lyrics, '0:01 – Intro\n1:05 ', ['', '00:00:01.000 --> 00:01:05.000', 'Intro']],
    [lyrics, '[0:01]\nHello\n', ['', '00:00:01.000 --> 00:00:11.000', 'Hello']],
  ])('is read with the notes %j: %j', (kinds, file, expected) => {
    const notes: Record<string, string> = {
      header: 'was added',
      times: 'were rewritten',
      'text-behind': 'was moved below',
      'no-end': 'without an end',
      outside: 'outside cues',
    };
    for (const chunkBytes of [7, 4_096]) {
      const { text, warnings } = read(file, { chunkBytes });
      expect(text).toBe(lines('WEBVTT', ...expected));
      expect(warnings).toHaveLength(kinds.length);
      expect(warnings).toEqual(
        expect.arrayContaining(kinds.map(kind => expect.stringContaining(notes[kind]!))),
      );
    }
  });

  it('has the cues in order and bounded', () => {
    const again = '[0:05][0:01][0:03]x\n';
    expect(read(again).text?.match(/\d+(?=\.000 -->)/g)).toEqual(['01', '03', '05']);
    const { cues, warnings } = read(again.repeat(10_000));
    expect(cues).toBeLessThanOrEqual(20_002);
    expect(warnings).toContainEqual(expect.stringMatching(/^Line 6668: The file is too long/));
  });
});

describe('SubRip', () => {
  const second = ['00:00:03,000 --> 00:00:04,000', 'Two'];
  const secondCue = ['', '00:00:03.000 --> 00:00:04.000', 'Two'];

  it('becomes cues', () => {
    const file = subRip('Hello\r', 'you\r', '\r', '2', ...second);
    expect(read(file)).toEqual({
      text: lines('WEBVTT', ...cue('Hello', 'you'), ...secondCue),
      cues: 2,
      isChanged: true,
      warnings: [],
    });
    expect(read(file.replaceAll('\r', '').replaceAll('\n', '\r'), { chunkBytes: 1 }).text).toBe(
      read(file).text,
    );
  });

  it.each([
    ['an empty line in a cue', subRip('Hello', '', 'you', '', '2', ...second), ['Hello', 'you'], 5],
    ['an empty line before the text', subRip('', 'Hello', '', '2', ...second), ['Hello'], 4],
    ['text before the first cue', `Film\n\n${subRip('Hello', '', '2', ...second)}`, ['Hello'], 1],
    ['text above the first number', `Film\n${subRip('Hello', '', '2', ...second)}`, ['Hello'], 1],
    ['no empty line, and a number', subRip('Hello', '2', ...second), ['Hello'], 5],
    ['no empty line', subRip('Hello', ...second), ['Hello'], 4],
    [
      'an unreadable cue',
      subRip('Hello', '', '9', '00:00:02,0 --> x', 'gone', '', '2', ...second),
      ['Hello'],
      6,
    ],
    [
      'a cue that ends first',
      subRip('Hello', '', '00:00:02,0 --> 00:00:01,0', 'x', '', '2', ...second),
      ['Hello'],
      5,
    ],
  ])('is read as players do: %s', (_, file, text, line) => {
    const { text: mended, warnings } = read(file);
    expect(mended).toBe(lines('WEBVTT', ...cue(...text), ...secondCue));
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^Line ${line}: `))]);
  });

  it.each([
    ['a number', ['', '2', ''], []],
    ['times that are cut off', ['', '2', '00:00:03,0'], []],
    ['a number in the text', ['2001'], ['2001']],
    ['another number', ['', '7', '', 'you'], ['7', 'you']],
  ])('can end with %s', (_, end, text) => {
    expect(read(subRip('Hello', ...end)).text).toBe(lines('WEBVTT', ...cue('Hello', ...text)));
  });

  it.each([
    ['100:59:3.5 -->  101:00:00,020 X1:10', '100:59:03.500 --> 101:00:00.020'],
    ['00:75:00,000 -->00:76:00,000', '01:15:00.000 --> 01:16:00.000'],
    ['00: 00: 01, 000 -> 00: 00: 02, 000', '00:00:01.000 --> 00:00:02.000'],
    ['00:00:01:500 –> 00:00:02:000', '00:00:01.500 --> 00:00:02.000'],
    ['00:00:01,0000 --&gt; 00:00:02', '00:00:01.000 --> 00:00:02.000'],
  ])('has the times %s', (times, mended) => {
    expect(read(lines(times, 'A')).text).toBe(lines('WEBVTT', '', mended, 'A'));
  });

  it.each([
    ['<i>slanted</i> and <B>bold</B>', '<i>slanted</i> and <b>bold</b>'],
    ['<font color="#ff0000">red</font> {\\an8}above', 'red above'],
    ['<v Ann>1 < 2 --> 3 & <script>', '<v Ann>1 &lt; 2 --&gt; 3 &amp; &lt;script&gt;'],
    ['Tom &amp; Jerry&nbsp;', 'Tom &amp; Jerry&nbsp;'],
    ['at 10:30', 'at 10:30'],
  ])('keeps what WebVTT can show: %s', (text, converted) => {
    expect(cueTextOf(text)).toBe(`${converted}\n`);
  });

  it('has long lines cut', () => {
    const { text, warnings } = read(subRip('x'.repeat(100_000)));
    expect(text).toHaveLength(10_000 + lines('WEBVTT', ...cue('')).length);
    expect(warnings).toEqual(['Line 3: Text after the first 10000 characters of a line was removed.']);
  });
});

describe('text', () => {
  const text = lines('WEBVTT', '', '00:01.000 --> 00:02.000', 'Ça va – €, “Ž”?', '日本 😀');
  const utf16 = Buffer.from(text, 'utf16le');

  it.each([
    ['UTF-16LE', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])],
    ['UTF-16LE', utf16],
    ['UTF-16BE', Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()])],
    ['UTF-16BE', Buffer.from(utf16).swap16()],
    ['UTF-16LE', Buffer.concat([utf16, Buffer.of(0x41)])],
  ])('is converted from %s', (encoding, file) => {
    for (const chunkBytes of [5, 4_096]) {
      if (chunkBytes === 5 && file[0] !== 0xff && file[0] !== 0xfe) continue;
      expect(read(file, { chunkBytes })).toMatchObject({
        text,
        isChanged: true,
        warnings: [`The text was converted from ${encoding} to UTF-8.`],
      });
    }
  });

  const encoded = (...parts: (string | number[])[]) => {
    const head = Buffer.from(lines('WEBVTT', '', '00:01.000 --> 00:02.000'));
    return Buffer.concat([head, ...parts.map(part => Buffer.from(part as string))]);
  };
  it.each([
    ['fr', encoded([0xc7], 'a ', [0x96, 0x80, 0x93]), 'Ça –€“'],
    ['pl', encoded([0xb3, 0xf3, 0x64, 0x9f]), 'łódź'],
    ['ja', encoded([0x93, 0xfa, 0x96, 0x7b]), '日本'],
    ['zh-TW', encoded([0xa4, 0xa4]), '中'],
    ['ja', encoded([0x93]), '“'],
    ['en', encoded('Ça\n', [0xc7], 'a'), 'Ça\nÇa'],
  ])('is converted from the usual encoding of %s', (language, file, expected) => {
    const { text, warnings } = read(file, { language });
    expect(text?.split('\n').slice(3).join('\n')).toBe(`${expected}\n`);
    expect(warnings).toHaveLength(1);
  });
});

import { describe, expect, it } from 'vitest';
import { TimeSlice } from '../../../../src/shared/scheduling/time-slice.ts';
import { quietestMs } from '../../../../src/vod/transcripts/speech-chunk.ts';
import { spokenLanguage } from '../../../../src/vod/transcripts/spoken-language.ts';
import { spokenText } from '../../../../src/vod/transcripts/summarize-job.ts';
import { readSummary, shortened } from '../../../../src/vod/transcripts/summary-client.ts';
import { readTranscription } from '../../../../src/vod/transcripts/transcription-client.ts';
import { allowedBlockMs, maxBlockMsOf } from '../../../support/event-loop-block.ts';

const refused = expect.objectContaining({ code: 'model-refused' });
const chat = (content: string) => ({ choices: [{ message: { content } }] });

describe('a transcription', () => {
  it('has its segments in order, within the audio, with their words', () => {
    const answer = {
      language: 'de',
      segments: [
        { start: 2, end: 99, text: ' Zwei\n ' },
        { start: 0, end: 1.5, text: 'Eins', words: [{ word: ' Eins', start: 0.1, end: 0.4 }] },
        { start: 3, end: 4, text: '  ' },
        { start: -2, end: -1, text: 'Null' },
      ],
      words: [{ word: 'Zwei', start: 2.2, end: 2.4 }],
    };
    expect(readTranscription(answer, 5_000)).toEqual({
      language: 'de',
      segments: [
        { startMs: 0, endMs: 1_500, text: 'Eins', words: [{ startMs: 100, endMs: 400, text: 'Eins' }] },
        { startMs: 0, endMs: 0, text: 'Null', words: [] },
        {
          startMs: 2_000,
          endMs: 5_000,
          text: 'Zwei',
          words: [{ startMs: 2_200, endMs: 2_400, text: 'Zwei' }],
        },
      ],
    });
  });

  it('gives each word to one segment, however they overlap', () => {
    const answer = {
      segments: Array.from({ length: 3 }, (_, index) => ({ start: index, end: 9, text: `Part ${index}` })),
      words: [2.5, 0.5, 1.5, 8].map(start => ({ word: `at${start}`, start, end: start + 0.2 })),
    };
    const { segments } = readTranscription(answer, 9_000);
    expect(segments.map(({ words }) => words.map(({ text }) => text))).toEqual([
      ['at0.5'],
      ['at1.5'],
      ['at2.5', 'at8'],
    ]);
  });

  it('is refused with more segments or words than anybody can say', () => {
    const many = (length: number) =>
      Array.from({ length }, () => ({ start: 0, end: 1, text: 'x', word: 'x' }));
    for (const answer of [
      { segments: many(100_000) },
      { words: many(100_000) },
      { text: 'x'.repeat(300_000) },
    ]) {
      expect(() => readTranscription(answer, 1_000)).toThrow(refused);
    }
  });

  it('keeps each word once, with as many segments and words as it may have', () => {
    const segments = Array.from({ length: 5_000 }, () => ({ start: 0, end: 600, text: 'x' }));
    const words = Array.from({ length: 20_000 }, (_, index) => ({ word: 'x', start: index / 40, end: 600 }));
    const read = readTranscription({ segments, words }, 600_000).segments;
    expect(read.reduce((sum, segment) => sum + segment.words.length, 0)).toBe(20_000);
  });

  it('is one segment where the model tells no times', () => {
    expect(readTranscription({ text: 'All of it.' }, 4_000).segments).toEqual([
      { startMs: 0, endMs: 4_000, text: 'All of it.', words: [] },
    ]);
  });

  it.each([null, [], 'text', { segments: [{ text: 'x' }] }])('is refused in another form: %j', answer => {
    expect(() => readTranscription(answer, 1_000)).toThrow(refused);
  });
});

it('knows languages by tag and by English name', () => {
  const names = ['en', 'English', 'german', 'pt-BR', 'chinese', 'klingon', ''];
  expect(names.map(spokenLanguage)).toEqual(['en', 'en', 'de', 'pt-BR', 'zh', undefined, undefined]);
});

it('finds the quietest place', () => {
  const samples = new Int16Array(16_000).fill(5_000);
  samples.fill(3, 9_600, 12_800);
  expect(quietestMs(samples)).toBe(700);
});

describe('a summary', () => {
  it('has three takeaways at most, without control characters', () => {
    const content = '```json\n{"abstract":"A\\u0007 b","takeaways":["1","2","3","4"]}\n```';
    expect(readSummary(chat(content))).toEqual({ abstract: 'A b', takeaways: ['1', '2', '3'] });
  });

  it.each(['<', '\n', 'a\r', 'a', '\n-->\n\n'])('is made of 2 MiB of %j without blocking', async text => {
    const long = `WEBVTT\n\n00:00.000 --> 00:01.000\n${text.repeat((2 * 1024 ** 2) / text.length)}`;
    expect(await maxBlockMsOf(() => spokenText(long, new TimeSlice(5)))).toBeLessThan(allowedBlockMs);
  });

  it.each([undefined, {}, chat('No.'), chat('{"abstract":""}'), chat('{"abstract":1,"takeaways":[]}')])(
    'is refused in another form: %j',
    answer => {
      expect(() => readSummary(answer)).toThrow(refused);
    },
  );

  it('is made of the text of captions, of which the middle is left out', async () => {
    const vtt =
      'WEBVTT\n\nNOTE hidden\n\n1\n00:00.000 --> 00:01.000 line:0\n<v Ann>Hi &amp; bye\r\n-->\n\r\n00:02.000 --> 00:03.000\rBoats\n';
    expect(await spokenText(vtt, new TimeSlice(5))).toBe('Hi & bye\n-->\nBoats');
    expect(shortened('abcdefgh', 4)).toBe('ab\n[…]\ngh');
  });
});

import { describe, expect, it, test } from 'vitest';
import { parseCaptionFile } from '../../../../../src/web/dashboard/pages/captions/caption-file.ts';
import { editKeyOf } from '../../../../../src/web/dashboard/pages/captions/edit-keys.ts';
import {
  audioPlaylistUrl,
  parseAudioPlaylist,
} from '../../../../../src/web/dashboard/pages/captions/timeline/audio-playlist.ts';
import { findPeaks, peakColumns } from '../../../../../src/web/dashboard/pages/captions/timeline/peaks.ts';
import {
  draggedMs,
  edgeAt,
  windowStart,
} from '../../../../../src/web/dashboard/pages/captions/timeline/timeline-window.ts';

const base = 'https://video.example.com/vod/vi1/hls/manifest.m3u8';
const track = (name: string, more = '') =>
  `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="A, ${name}"${more},URI="${name}/manifest.m3u8?avh=a%2Fb"`;
const variant = (more = '') => `#EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS="avc1.64001f,mp4a.40.2"${more}`;

describe('the audio of a waveform', () => {
  it('is the default track', () => {
    const text = [
      '#EXTM3U',
      track('audio2'),
      track('audio', ',DEFAULT=YES'),
      variant(',RESOLUTION=1x1'),
      'v.m3u8',
    ];
    expect(audioPlaylistUrl(text.join('\n'), base)).toBe(
      'https://video.example.com/vod/vi1/hls/audio/manifest.m3u8?avh=a%2Fb',
    );
  });

  it('is the variant of a file without video, and nothing in one without audio', () => {
    expect(audioPlaylistUrl(['#EXTM3U', variant(), 'audio.m3u8', ''].join('\n'), base)).toBe(
      'https://video.example.com/vod/vi1/hls/audio.m3u8',
    );
    const silent = ['#EXTM3U', variant(',RESOLUTION=640x360'), '360p.m3u8'];
    expect(audioPlaylistUrl(silent.join('\n'), base)).toBeUndefined();
    expect(audioPlaylistUrl('', base)).toBeUndefined();
  });

  it('has segments that follow each other', () => {
    const lines = ['#EXTM3U', '#EXT-X-MAP:URI="init-1.mp4"', '#EXTINF:4.5,', 'a.m4s', '#EXTINF:2,', 'b.m4s'];
    expect(parseAudioPlaylist(lines.join('\n'), base)).toEqual({
      isComplete: false,
      initUrl: 'https://video.example.com/vod/vi1/hls/init-1.mp4',
      segments: [
        { url: 'https://video.example.com/vod/vi1/hls/a.m4s', startSeconds: 0, durationSeconds: 4.5 },
        { url: 'https://video.example.com/vod/vi1/hls/b.m4s', startSeconds: 4.5, durationSeconds: 2 },
      ],
    });
    expect(parseAudioPlaylist('#EXTM3U', base)).toBeUndefined();
  });
});

describe('peaks', () => {
  it('are the loudest samples of all channels', () => {
    const left = Float32Array.from([0.25, -0.5, 0, 0, 0.125, 0]);
    const right = Float32Array.from([0, 0, 0, 0.75, 0, 0]);
    // Two samples make a peak.
    expect([...findPeaks([left, right], 100)]).toEqual([0.5, 0.75, 0.125]);
    expect([...findPeaks([], 100)]).toEqual([]);
  });

  it('fill the columns of a window, and none that are not known', () => {
    const parts = [
      { startSeconds: 2, peaks: Float32Array.from({ length: 50 }, (_, at) => (at < 25 ? 0.5 : 1)) },
    ];
    expect(peakColumns(parts, 1, 4, 8)).toEqual([
      undefined,
      undefined,
      0.5,
      1,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    // Columns narrower than a peak.
    expect(peakColumns(parts, 2, 0.04, 4)).toEqual([0.5, 0.5, 0.5, 0.5]);
  });
});

describe('the window of a timeline', () => {
  it('turns like a page, and stays within the video', () => {
    expect(windowStart(0, 30, 29.9, 100)).toBe(0);
    expect(windowStart(0, 30, 30, 100)).toBe(27);
    expect(windowStart(60, 30, 10, 100)).toBe(7);
    expect(windowStart(0, 30, 99, 100)).toBe(70);
    expect(windowStart(0, 30, 5, 10)).toBe(0);
  });

  it('finds the edge of a cue that is near, of two that meet the one of the side', () => {
    const { cues } = parseCaptionFile(
      'WEBVTT\n\n00:01.000 --> 00:02.000\nOne\n\n00:02.000 --> 00:03.000\nTwo\n',
    )!;
    const [one, two] = cues as [(typeof cues)[0], (typeof cues)[0]];
    expect(edgeAt(cues, 1_050, 10)).toEqual(expect.objectContaining({ cue: one, edge: 'start' }));
    expect(edgeAt(cues, 1_990, 10)).toEqual(expect.objectContaining({ cue: one, edge: 'end' }));
    expect(edgeAt(cues, 2_010, 10)).toEqual(expect.objectContaining({ cue: two, edge: 'start' }));
    expect(edgeAt(cues, 1_500, 10)).toBeUndefined();
    expect(draggedMs(one, 'start', 5_000)).toBe(1_900);
    expect(draggedMs(one, 'end', -20)).toBe(1_100);
    expect(draggedMs(one, 'end', 2_516)).toBe(2_520);
  });
});

test('keys that type are left alone', () => {
  const press = (
    code: string,
    held: Partial<Record<'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey', boolean>>,
  ) =>
    editKeyOf({
      code,
      key: code.replace('Key', '').toLowerCase(),
      altKey: false,
      ctrlKey: false,
      metaKey: false,
      shiftKey: false,
      ...held,
    });
  expect(press('KeyK', {})).toBeUndefined();
  expect(press('KeyK', { altKey: true })).toBe('play');
  // AltGr types letters.
  expect(press('KeyL', { altKey: true, ctrlKey: true })).toBeUndefined();
  expect(press('KeyZ', { metaKey: true })).toBe('undo');
  expect(press('KeyZ', { ctrlKey: true, shiftKey: true })).toBe('redo');
  expect(press('KeyS', { ctrlKey: true })).toBe('save');
  expect(press('KeyC', { ctrlKey: true })).toBeUndefined();
});

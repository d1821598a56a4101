import { expect, it } from 'vitest';
import { ServerClock } from '../../../../../src/web/player/live/server-clock.ts';
import { WebRtcRewind } from '../../../../../src/web/player/live/webrtc-rewind.ts';

const base = 'https://video.example.org/li1.m3u8';
const day = 86_400;

function answered(value: string) {
  const rewind = new WebRtcRewind({ currentTime: 5 }, new ServerClock(1, 1));
  rewind.answered(new Headers({ 'Millrace-Rewind': value }), base);
  const range = rewind.rewindRange();
  return { seconds: range && range.end - range.start, folder: rewind.storyboardRange()?.folder };
}

it('reads how far a viewer can go back', () => {
  const { seconds, folder } = answered('seconds=70.5, max=3600, storyboard="li1/br1/storyboard/"');
  expect(seconds).toBeGreaterThanOrEqual(70.5);
  expect(folder).toBe('https://video.example.org/li1/br1/storyboard/');
});

it.each([
  ['nothing', ''],
  ['other words', 'storyboard="a/"'],
  ['an address that is none', 'seconds=70, max=3600, storyboard="http://["'],
  ['no storyboard', 'seconds=70, max=3600'],
  ['no range', 'seconds=70, max=0, storyboard="a/"'],
  ['several points', 'seconds=1.2.3, max=3600, storyboard="a/"'],
])('ignores a header with %s', (_, value) => {
  expect(answered(value)).toEqual({ seconds: undefined, folder: undefined });
});

it.each(['1'.repeat(15), '9'.repeat(400)])('goes back a day at most, with a header of %s seconds', number => {
  expect(answered(`seconds=${number}, max=${number}, storyboard="a/"`).seconds).toBeCloseTo(day, 3);
});

import { describe, expect, it } from 'vitest';
import { addressPlaylist } from '../../../../src/delivery/live/address-playlist.ts';
import { readPath } from '../paths/read-path.ts';

const id = 'li5Ds8GhJk1Qw3ErTy6UiOpA';
const token = '0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab';

describe('addressPlaylist', () => {
  it('puts a session into every address of a playlist, from where media is found with it', () => {
    const playlist = [
      '#EXTM3U',
      `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="audio",URI="${id}/b1/audio/index.m3u8"`,
      '#EXT-X-STREAM-INF:BANDWIDTH=1',
      `${id}/b1/720p/index.m3u8`,
    ].join('\n');
    const own = addressPlaylist(playlist, id, { token, avh: 's0' }, undefined);
    expect(own).toContain(`URI="${id}/avh-s0/b1/audio/index.m3u8"`);
    const address = own.split('\n').at(-1)!;
    expect(readPath(new URL(address, `http://a/private/${token}/${id}.m3u8`).pathname)).toEqual({
      kind: 'playlist',
      liveStreamId: id,
      broadcastId: 'b1',
      rendition: '720p',
      privateToken: token,
      session: 's0',
    });
  });

  it('names the server of the media where there are several', () => {
    const playlist = `${id}/b1/720p/index.m3u8`;
    expect(addressPlaylist(playlist, id, undefined, 'https://b')).toBe(`https://b/${id}/b1/720p/index.m3u8`);
    expect(addressPlaylist(playlist, id, { token, avh: 's0' }, 'https://b')).toBe(
      `https://b/private/${token}/${id}/avh-s0/b1/720p/index.m3u8`,
    );
  });
});

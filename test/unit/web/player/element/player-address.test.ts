import { describe, expect, it } from 'vitest';
import { embedUrl, parsePlayerAddress } from '../../../../../src/web/player/element/player-address.ts';

const page = 'https://blog.example/posts/1';

describe('parsePlayerAddress', () => {
  it('finds the server, below its base path', () => {
    expect(parsePlayerAddress('https://video.example/media/live/li1', page)).toMatchObject({
      kind: 'live',
      id: 'li1',
      server: 'https://video.example/media',
      token: undefined,
      session: undefined,
    });
    expect(parsePlayerAddress('/vod/vi1/', page)).toMatchObject({
      kind: 'video',
      id: 'vi1',
      server: 'https://blog.example',
    });
  });

  it('takes the token, the session and the options from the query and the fragment', () => {
    const address = parsePlayerAddress('/vod/vi1?token=a.b.c&avh=s1#muted;t=10,20', page)!;
    expect(address).toMatchObject({ token: 'a.b.c', session: 's1' });
    expect(address.options.get('muted')).toBe('');
    expect(address.options.get('t')).toBe('10,20');
  });

  it.each([
    '',
    'javascript:alert(1)//live/li1',
    'data:text/html,/live/li1',
    'https://video.example/live/',
    'https://video.example/vod/li1',
    'https://video.example/live/li1/state',
    'https://video.example/live/li1@evil.example',
    'http://[/live/li1',
  ])('refuses %s', address => {
    expect(parsePlayerAddress(address, page)).toBeUndefined();
  });
});

describe('embedUrl', () => {
  it('has the token of a private one', () => {
    expect(embedUrl('https://video.example/live/li1', undefined)).toBe('https://video.example/live/li1');
    expect(embedUrl('https://video.example/live/li1', 'a&b')).toBe(
      'https://video.example/live/li1?token=a%26b',
    );
  });
});

import { describe, expect, it } from 'vitest';
import { parseTarget } from '../../../../src/live/restream/restream-target.ts';
import { redactServerUrl } from '../../../../src/shared/network/redact-server-url.ts';

describe('the address of a destination', () => {
  it.each([
    ['rtmp://a.example/live2', false, 'a.example', 1935, 'live2', 'rtmp://a.example/live2'],
    ['rtmps://a.example/rtmp/', true, 'a.example', 443, 'rtmp', 'rtmps://a.example/rtmp'],
    ['RTMPS://A.Example:8443/app/x', true, 'a.example', 8443, 'app/x', 'rtmps://A.Example:8443/app/x'],
    ['rtmp://a.example:80/live', false, 'a.example', 80, 'live', 'rtmp://a.example:80/live'],
    ['rtmp://[2001:db8::1]:1936/live', false, '2001:db8::1', 1936, 'live', 'rtmp://[2001:db8::1]:1936/live'],
    ['rtmp://u:p@a.example/live?t=1', false, 'a.example', 1935, 'live?t=1', 'rtmp://a.example/live?t=1'],
  ])('%s is taken apart', (serverUrl, isTls, host, port, app, tcUrl) => {
    expect(parseTarget(serverUrl)).toEqual({ protocol: 'rtmp', isTls, host, port, app, tcUrl });
  });

  it('of SRT is taken apart', () => {
    const query = 'streamid=a%2Fb&latency=800&passphrase=correct-horse&pbkeylen=32';
    expect(parseTarget(`srt://[2001:db8::1]:6200?${query}`)).toEqual({
      protocol: 'srt',
      host: '2001:db8::1',
      port: 6200,
      streamId: 'a/b',
      latencyMs: 800,
      encryption: { passphrase: 'correct-horse', keyBytes: 32 },
    });
    expect(parseTarget('srt://a.example:9000')).toMatchObject({ streamId: undefined, encryption: undefined });
  });

  it.each([
    'srt://a.example',
    'srt://:6200',
    'srt://a.example:0',
    'srt://a.example:1?latency=x',
    'rtmp://a.example',
    'rtmp://a.example/',
    'http://a.example/live',
    'rtmp://:1/live',
    '',
  ])('%j is none', serverUrl => {
    expect(parseTarget(serverUrl)).toBeUndefined();
  });

  it('is shown without what may be secret in it', () => {
    expect(redactServerUrl('rtmps://u:p@a.example:443/live?token=1')).toBe('rtmps://a.example:443/live');
    expect(redactServerUrl('srt://a.example:1?passphrase=correct-horse')).toBe('srt://a.example:1');
    expect(redactServerUrl('rtmp://a.example/live')).toBe('rtmp://a.example/live');
  });
});

import { describe, expect, it } from 'vitest';
import {
  parseSourceUrl,
  redactSourceUrl,
  sourcePort,
  sourceUrlProblem,
} from '../../../../src/shared/network/source-url.ts';

describe('the address of a source', () => {
  it.each([
    ['rtsp://user:pass@camera.example.org/stream1', 554],
    ['RTSPS://camera.example.org:8322/stream1?channel=1', 8322],
    ['http://example.org/live.ts', 80],
    ['https://example.org/live.m3u8', 443],
    ['rtmp://example.org/live/key', 1935],
    ['rtmp://example.org/key', 1935],
    ['srt://example.org:9000?streamid=key', 9000],
    ['rtsp://[2001:db8::1]/', 554],
  ])('is accepted: %s', (text, port) => {
    expect(sourceUrlProblem(text)).toBeUndefined();
    expect(sourcePort(parseSourceUrl(text)!)).toBe(port);
  });

  it.each([
    'file:///etc/passwd',
    'concat:http://example.org/a|http://example.org/b',
    'rtsp:///stream1',
    'http://',
    'tcp://example.org:80',
    'hls+http://example.org/',
    'pipe:0',
    'http://example.org/a b',
    'http://example.org/\n',
    'srt://example.org',
    'rtmp://example.org/',
    'example.org',
  ])('is refused: %s', text => {
    const problem = sourceUrlProblem(text);
    expect(problem).toMatch(/\.$/);
    expect(problem).not.toContain('passwd');
  });

  it('is logged without its secrets', () => {
    const logged = redactSourceUrl('rtsp://user:secret@camera.example.org:8554/secret?secret=1');
    expect(logged).toBe('rtsp://camera.example.org:8554/…');
    expect(redactSourceUrl('secret')).toBe('[source]');
  });
});

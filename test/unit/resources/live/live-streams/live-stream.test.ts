import { describe, expect, it } from 'vitest';
import { serverUrlProblem } from '../../../../../src/resources/live/live-streams/live-stream.ts';

const wrongForm = 'RTMP URL should have the following format: [rtmp|rtmps]://[host]/[app name].';
const wrongSrtForm = 'SRT URL should have the following format: srt://[host]:[port]?latency=[milliseconds].';
const allForms = `${wrongForm} ${wrongSrtForm}`;
const missingApp = 'Missing app name: [rtmp|rtmps]://[host]/[app name].';

describe('the address of a restream', () => {
  it.each([
    ['rtmp://host/app', undefined],
    ['rtmps://host.example:443/app/instance', undefined],
    ['RTMP://host/app?x=y', undefined],
    ['rtmp://[2001:db8::1]:1935/live', undefined],
    ['rtmp://host', missingApp],
    ['rtmp://host/', missingApp],
    ['rtmp://host//', missingApp],
    ['http://host/app', allForms],
    ['srt://host:6200', undefined],
    ['srt://[2001:db8::1]:6200?latency=500&passphrase=correct-horse&mode=caller', undefined],
    ['srt://host', wrongSrtForm],
    ['srt://host:6200/path', wrongSrtForm],
    ['srt://user@host:6200', wrongSrtForm],
    ['srt://host:99999', wrongSrtForm],
    ['srt://host:6200?mode=listener', 'Only mode=caller is supported: the destination must listen.'],
    ['srt://host:6200?passphrase=short', 'The passphrase must have 10 to 79 characters.'],
    ['srt://host:6200?latency=20000', 'The latency must be 0 to 10000 milliseconds.'],
    ['rtmp:///app', wrongForm],
    ['rtmp://', wrongForm],
    ['rtmp://ho st/app', wrongForm],
    ['rtmp://host:99999/app', wrongForm],
    ['host/app', allForms],
    ['', allForms],
    ['rtmp://host/app\nx', wrongForm],
  ])('%j', (serverUrl, problem) => {
    expect(serverUrlProblem(serverUrl)).toBe(problem);
  });
});

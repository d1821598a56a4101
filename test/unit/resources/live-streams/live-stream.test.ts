import { describe, expect, it } from 'vitest';
import { serverUrlProblem } from '../../../../src/resources/live-streams/live-stream.ts';

const wrongForm = 'RTMP URL should have the following format: [rtmp|rtmps]://[host]/[app name].';
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
    ['http://host/app', wrongForm],
    ['srt://host:6200', wrongForm],
    ['rtmp:///app', wrongForm],
    ['rtmp://', wrongForm],
    ['rtmp://ho st/app', wrongForm],
    ['rtmp://host:99999/app', wrongForm],
    ['host/app', wrongForm],
    ['', wrongForm],
    ['rtmp://host/app\nx', wrongForm],
  ])('%j', (serverUrl, problem) => {
    expect(serverUrlProblem(serverUrl)).toBe(problem);
  });
});

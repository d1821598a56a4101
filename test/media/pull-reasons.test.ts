import { createServer as createHttpServer, get } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { EgressProxy } from '../../src/ingest/pull/egress-proxy.ts';
import { openSource } from '../../src/ingest/pull/open-source.ts';
import { headerOf, RtspReader, writeRtspText } from '../../src/ingest/pull/rtsp-messages.ts';
import { sourceUrlProblem } from '../../src/shared/network/source-url.ts';
import { ffmpegPath } from '../support/ffmpeg.ts';
import { makePlainProcessOwner, makeProcessOwner } from '../support/process-limits.ts';
import { waitUntil } from '../support/wait-until.ts';

const servers: Server[] = [];
const rules = { resolve: async () => [{ address: '127.0.0.1', family: 4 }], allowPrivate: true };

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function open(url: string, owner = makeProcessOwner()) {
  expect(sourceUrlProblem(url)).toBeUndefined();
  const events = { bytes: () => {}, media: () => {} };
  const options = { path: ffmpegPath, owner, liveStreamId: 'li1' };
  return openSource(url, rules, events, options, new AbortController().signal);
}

const g711 = 'm=audio 0 RTP/AVP 0\r\na=control:track2\r\n';

/** A camera with one video track. @param otherTracks in its session description */
function camera(rtpmap: string, setupStatus: string, otherTracks = ''): Server {
  return createServer(socket => {
    socket.on('error', () => {});
    const reader = new RtspReader(message => {
      if (message.kind !== 'text') return;
      const [method] = message.firstLine.split(' ');
      const sequence = `CSeq: ${headerOf(message.headers, 'cseq')}`;
      const sdp = `v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 ${rtpmap}\r\na=control:track1\r\n${otherTracks}`;
      const isDescribe = method === 'DESCRIBE';
      const status = method === 'SETUP' ? setupStatus : '200 OK';
      const headers = isDescribe ? [sequence, 'Content-Type: application/sdp'] : [sequence];
      socket.write(writeRtspText(`RTSP/1.0 ${status}`, headers, Buffer.from(isDescribe ? sdp : '')));
    });
    socket.on('data', bytes => reader.push(bytes));
  });
}

test.each([
  ['in', makeProcessOwner()],
  ['without', makePlainProcessOwner()],
])('a camera that offers UDP only is named as such, %s a sandbox', async (_, owner) => {
  const address = await listen(camera('H264/90000', '461 Unsupported Transport'));
  const source = await open(`rtsp://${address}/cam`, owner);
  expect(await source.ended).toMatch(
    /^The source sends its media over UDP only\. .* firewalls .* Turn on RTP over RTSP/,
  );
});

test.each([
  ['in', makeProcessOwner()],
  ['without', makePlainProcessOwner()],
])('without descriptors for a program, a source fails with the reason, %s a sandbox', async (_, owner) => {
  const listeners = () =>
    process.getActiveResourcesInfo().filter(name => name === 'TCPServerWrap' || name === 'PipeWrap');
  const address = await listen(camera('H264/90000', '200 OK', g711));
  const url = `rtsp://${address}/cam`;
  const before = listeners();
  const start = owner.start.bind(owner);
  const fail = () => {
    throw new Error('no descriptors');
  };
  const started = vi.spyOn(owner, 'start').mockImplementation(fail);
  await expect(open(url, owner)).rejects.toThrow('no descriptors');
  await waitUntil(() => listeners().length <= before.length, { what: 'the end of the relay' });
  // The first program is ended for the audio, which the next one would convert.
  started.mockImplementationOnce(start);
  const source = await open(url, owner);
  expect(await source.ended).toBe('The source failed: no descriptors');
  expect(started).toHaveBeenCalledTimes(3);
});

test('a camera that sends MJPEG is named as such, over RTSP and HTTP', async () => {
  const text = 'The source sends MJPEG, which is not supported. Choose H.264 or HEVC in the source.';
  const source = await open(`rtsp://${await listen(camera('JPEG/90000', '200 OK'))}/cam`);
  expect(await source.ended).toBe(text);
  const http = createHttpServer((_, response) => {
    response.setHeader('content-type', 'multipart/x-mixed-replace; boundary=frame');
    response.write('--frame\r\n');
  });
  await expect(open(`http://${await listen(http)}/video`)).rejects.toThrow(text);
});

test('a source that changes the protocol fails, for the server and for its programs', async () => {
  const source = createServer(socket => {
    socket.on('error', () => {});
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    );
  });
  const address = await listen(source);
  await expect(open(`http://${address}/video`)).rejects.toThrow(`${address} could not be reached.`);
  const proxy = new EgressProxy(new URL(`http://${address}/a.m3u8`), rules);
  const place = new URL(await proxy.start());
  onTestFinished(() => proxy.close());
  const answered = await new Promise<number | undefined>((resolve, reject) => {
    const secret = Buffer.from(`${place.username}:${place.password}`).toString('base64');
    get({
      host: place.hostname,
      port: place.port,
      path: `http://${address}/a.m3u8`,
      headers: { 'proxy-authorization': `Basic ${secret}` },
    })
      .on('response', ({ statusCode }) => resolve(statusCode))
      .on('error', reject);
  });
  expect(answered).toBe(502);
});

test.skipIf(!makeProcessOwner().limits.isIsolated)('a sandbox without Node is named as such', async () => {
  const { execPath } = process;
  process.execPath = '/nothing/node';
  onTestFinished(() => {
    process.execPath = execPath;
  });
  const address = await listen(camera('H264/90000', '200 OK'));
  const source = await open(`rtsp://${address}/cam`);
  expect(await source.ended).toMatch(
    /^The server could not open the network of the sandbox .* "Isolation" in/,
  );
});

test.each([
  ['/cam', '', 'cam'],
  ['/cam/', '', 'cam'],
  ['/live/cam', 'live', 'cam'],
  ['/live/instance/cam', 'live/instance', 'cam'],
])('the address of an RTMP source may have the path %s', async (path, app) => {
  const received = Promise.withResolvers<string>();
  const server = createServer(socket => {
    let bytes = Buffer.alloc(0);
    let isGreeted = false;
    socket.on('error', () => {});
    socket.on('data', more => {
      bytes = Buffer.concat([bytes, more]);
      if (!isGreeted && bytes.length >= 1537) {
        isGreeted = true;
        socket.write(Buffer.concat([Buffer.of(3), Buffer.alloc(1536), bytes.subarray(1, 1537)]));
      }
      const text = bytes.toString('latin1');
      if (text.includes('fourCcList')) received.resolve(text);
    });
  });
  const address = await listen(server);
  const source = await open(`rtmp://${address}${path}`);
  const text = await received.promise;
  await source.stop();
  expect(text).toContain(`\0\x03app\x02\0${String.fromCharCode(app.length)}${app}`);
  expect(text).toContain(`rtmp://${address}/${app}`);
});

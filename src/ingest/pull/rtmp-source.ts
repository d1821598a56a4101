import { readTagEvents } from '../../media/flv/tag-events.ts';
import { PlayClient } from '../../media/rtmp/play-client.ts';
import { performClientHandshake } from '../../media/rtmp/rtmp-handshake.ts';
import { PullError, type PullEvents, type PullInput, type TargetRules } from './pull-input.ts';
import { connectSource } from './pull-target.ts';

const handshakeTimeoutMs = 10_000;
/** Answers to a source that does not read them. */
const maxQueuedBytes = 256 * 1024;

/** @throws PullError */
export async function openRtmpSource(
  url: URL,
  rules: TargetRules,
  events: PullEvents,
  signal: AbortSignal,
): Promise<PullInput> {
  const target = readTarget(url);
  const socket = await connectSource(url, rules, signal);
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  socket.once('close', () => resolve('The connection to the source was lost.'));
  const close = () => socket.destroy();
  const silent = setTimeout(close, handshakeTimeoutMs);
  signal.addEventListener('abort', close, { once: true });
  const isRtmp = await Promise.race([performClientHandshake(socket), ended.then(() => false)]);
  clearTimeout(silent);
  signal.removeEventListener('abort', close);
  if (!isRtmp) {
    socket.destroy();
    throw new PullError('The source does not speak RTMP.');
  }
  const end = (description: string) => {
    resolve(description);
    socket.destroy();
  };
  const client = new PlayClient({
    ...target,
    write: bytes => {
      if (socket.writableLength > maxQueuedBytes) end('The source stopped reading.');
      else socket.write(bytes);
    },
    onTag: tag => events.media(tag.body.length, emit => readTagEvents(tag, emit)),
    onEnded: code => end(describeEnd(code)),
  });
  socket.on('data', bytes => {
    try {
      client.push(bytes);
    } catch {
      end('The source does not speak RTMP.');
    }
  });
  client.start();
  socket.resume();
  return {
    ended,
    remoteAddress: socket.remoteAddress ?? '',
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    stop: async () => void socket.destroy(),
  };
}

/**
 * The last part of the path is the stream key. With a single part, such as MediaMTX has, there is no app.
 *
 * @throws PullError
 */
function readTarget(url: URL) {
  const parts = url.pathname.split('/').filter(part => part !== '');
  const streamKey = parts.at(-1) ?? '';
  const app = parts.slice(0, -1).join('/');
  try {
    const tcUrl = `${url.protocol}//${url.host}/${app}`;
    return { app, tcUrl, streamKey: `${decodeURIComponent(streamKey)}${url.search}` };
  } catch {
    throw new PullError(
      'The stream key in the address of the source has a "%" that must be written as "%25".',
    );
  }
}

function describeEnd(code: string): string {
  if (/StreamNotFound/i.test(code)) return 'The source has no stream with this key. Check the address.';
  if (/(?:Stop|UnpublishNotify|Closed)$/i.test(code)) return 'The source has ended.';
  return 'The source refused the connection. Check the address.';
}

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { RestreamConnection } from '../../../../src/live/restream/restream-connection.ts';
import type { RestreamFailure } from '../../../../src/live/restream/restream-failure.ts';
import { RestreamFeed } from '../../../../src/live/restream/restream-feed.ts';
import { parseTarget, type RtmpTarget } from '../../../../src/live/restream/restream-target.ts';
import { tagBody } from '../../../../src/media/flv/tag-body.ts';
import { ChunkReader, type RtmpMessage } from '../../../../src/media/rtmp/chunk-reader.ts';
import { type AmfValue, encodeAmf0 } from '../../../support/amf0.ts';
import { samples } from '../../../support/media-samples.ts';
import { writeChunks } from '../../../support/rtmp-client.ts';

/** A connection to a server that reads when a test lets it. */
function connect() {
  const received: RtmpMessage[] = [];
  const limits = { maxMessageBytes: () => 1e7, maxUnfinishedBytes: () => 1e7, onMessageStart: () => {} };
  const server = new ChunkReader(limits, message => received.push(message));
  const held: { readonly bytes: Buffer; readonly done: () => void }[] = [];
  let isReading = true;
  const socket = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      if (!isReading) {
        held.push({ bytes, done });
        return;
      }
      server.push(bytes);
      done();
    },
  });
  const ends: (RestreamFailure | undefined)[] = [];
  const connection = new RestreamConnection({
    target: parseTarget('rtmp://a.example/live') as RtmpTarget,
    streamKey: 'key',
    format: feed.format,
    socket: socket as Socket,
    events: { accepted() {}, taken() {}, ended: failure => ends.push(failure) },
  });
  const answer = (type: number, payload: Buffer) => socket.push(writeChunks({ type, payload }, 128));
  return {
    connection,
    received,
    ends,
    answer,
    settle,
    stopReading: () => {
      isReading = false;
    },
    readAll: () => {
      isReading = true;
      for (const { bytes, done } of held.splice(0)) {
        server.push(bytes);
        done();
      }
    },
    accept: async () => {
      const command = (...values: AmfValue[]) => answer(20, encodeAmf0(...values));
      command('_result', 1, null, { code: 'NetConnection.Connect.Success' });
      command('_result', 4, null, 1);
      command('onStatus', 0, null, { level: 'status', code: 'NetStream.Publish.Start' });
      await settle();
    },
  };
}

const feed = new RestreamFeed('source');
const settle = () => new Promise(resolve => setImmediate(resolve));
const ping = Buffer.from([0, 6, 0, 0, 0, 1]);

describe('a connection to a destination', () => {
  it('answers between messages, however slowly the server reads', async () => {
    const { connection, received, answer, accept, stopReading, readAll } = connect();
    await accept();
    const frame = (atMs: number) => ({
      media: samples.video('avc1', { dtsMs: 0, isKeyframe: true, data: Buffer.alloc(150_000, atMs) }),
      atMs,
    });
    const frames = [frame(0), frame(40), frame(80)];
    const receiver: Parameters<RestreamFeed['add']>[0] = {
      take: batch => {
        connection.begin(batch.format, 0);
        connection.write(batch);
      },
      interrupted() {},
      publisherGone() {},
    };
    stopReading();
    feed.add(receiver);
    for (const each of frames) feed.take(each);
    feed.flush();
    feed.remove(receiver);
    expect(connection.isWaiting).toBe(true);
    for (let times = 0; times < 50; times += 1) {
      answer(4, ping);
      readAll();
      stopReading();
      await settle();
    }
    readAll();
    await settle();
    expect(connection.isWaiting).toBe(false);
    expect(received.filter(({ type }) => type === 9).map(({ payload }) => payload)).toEqual(
      frames.map(({ media }) => tagBody(media)),
    );
    expect(received.filter(({ type }) => type === 4)).toHaveLength(50);
  });

  it('ends when the server asks again and again and reads no answer', async () => {
    const { connection, ends, answer, accept, stopReading } = connect();
    await accept();
    stopReading();
    for (let times = 0; times < 10 && ends.length === 0; times += 1) {
      connection.tick();
      for (let count = 0; count < 1_000; count += 1) answer(4, ping);
      await settle();
    }
    expect(ends).toMatchObject([{ reason: 'failed' }]);
  });

  it('ends when the server sends without end', async () => {
    const { ends, answer, accept } = connect();
    await accept();
    for (let times = 0; times < 100 && ends.length === 0; times += 1) {
      answer(3, Buffer.alloc(4_000));
      await settle();
    }
    expect(ends).toMatchObject([{ reason: 'failed' }]);
  });

  it('sends what is waiting before it ends', async () => {
    const { connection, received, ends, accept, stopReading, readAll } = connect();
    await accept();
    stopReading();
    connection.begin(feed.format, 0);
    connection.finish();
    expect(received.some(({ type }) => type === 18)).toBe(false);
    for (let times = 0; times < 5; times += 1) {
      readAll();
      await settle();
    }
    expect(received.slice(-3).map(({ type }) => type)).toEqual([18, 20, 20]);
    connection.kill();
    await settle();
    expect(ends).toEqual([undefined]);
  });
});

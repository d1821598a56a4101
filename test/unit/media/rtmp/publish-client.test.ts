import { describe, expect, it } from 'vitest';
import { ChunkReader, type RtmpMessage } from '../../../../src/media/rtmp/chunk-reader.ts';
import { writeMessage } from '../../../../src/media/rtmp/chunk-writer.ts';
import { PublishClient, type RtmpStatus } from '../../../../src/media/rtmp/publish-client.ts';
import { type AmfValue, decodeAmf0, encodeAmf0 } from '../../../support/amf0.ts';
import { Random } from '../../../support/random.ts';

/** A client with a server that a test plays. */
function connect(fourCc?: string) {
  const sent: RtmpMessage[] = [];
  const refused: RtmpStatus[] = [];
  const counts = { accepted: 0, codecRefused: 0 };
  const limits = { maxMessageBytes: () => 1e6, maxUnfinishedBytes: () => 1e6, onMessageStart: () => {} };
  const server = new ChunkReader(limits, message => sent.push(message));
  const client = new PublishClient({
    app: 'live?token=1',
    tcUrl: 'rtmp://a.example/live?token=1',
    streamKey: 'the-key',
    fourCc,
    write: bytes => server.push(bytes),
    onAccepted: () => {
      counts.accepted += 1;
    },
    onRefused: status => refused.push(status),
    onCodecRefused: () => {
      counts.codecRefused += 1;
    },
  });
  const send = (type: number, payload: Buffer) =>
    client.push(writeMessage({ chunkStreamId: 3, type, messageStreamId: 0, timestampMs: 0, payload }, 128));
  return {
    client,
    sent,
    refused,
    counts,
    server,
    send,
    answer: (...values: AmfValue[]) => send(20, encodeAmf0(...values)),
    commands: () => sent.filter(({ type }) => type === 20).map(({ payload }) => decodeAmf0(payload)),
  };
}

const number = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const connected = { level: 'status', code: 'NetConnection.Connect.Success' };
const started = { level: 'status', code: 'NetStream.Publish.Start', description: 'Go.' };

describe('publishing to a server', () => {
  it('sends the commands of OBS, and each one when it is due', () => {
    const { client, answer, commands, counts, sent } = connect();
    client.start();
    expect(commands()).toEqual([
      [
        'connect',
        1,
        {
          app: 'live?token=1',
          type: 'nonprivate',
          flashVer: 'FMLE/3.0 (compatible; Millrace)',
          swfUrl: 'rtmp://a.example/live?token=1',
          tcUrl: 'rtmp://a.example/live?token=1',
        },
      ],
    ]);
    answer('_result', 1, { fmsVer: 'FMS/3,0,1,123' }, connected);
    expect(commands().slice(1)).toEqual([
      ['releaseStream', 2, null, 'the-key'],
      ['FCPublish', 3, null, 'the-key'],
      ['createStream', 4, null],
    ]);
    answer('_error', 2, null, { level: 'error', code: 'NetConnection.Call.Failed' });
    answer('onFCPublish', 0, null, started);
    answer('_result', 4, null, 5);
    expect(commands().at(-1)).toEqual(['publish', 5, null, 'the-key', 'live']);
    expect(sent.at(-1)!.messageStreamId).toBe(5);
    expect(counts.accepted).toBe(0);
    answer('onStatus', 0, null, started);
    answer('onStatus', 0, null, started);
    expect(counts.accepted).toBe(1);
  });

  it('answers pings, and acknowledges as the server asks', () => {
    const { client, send, sent } = connect();
    client.start();
    sent.length = 0;
    send(4, Buffer.from([0, 6, 1, 2, 3, 4]));
    send(6, Buffer.concat([number(2_500_000), Buffer.from([2])]));
    send(6, Buffer.concat([number(2_500_000), Buffer.from([2])]));
    send(5, number(4_000));
    send(2, number(9));
    send(3, number(100));
    for (let times = 0; times < 40; times += 1) send(4, Buffer.alloc(90));
    expect(sent.map(({ type }) => type)).toEqual([4, 5, 3]);
    expect(sent[0]!.payload).toEqual(Buffer.from([0, 7, 1, 2, 3, 4]));
    expect(sent[1]!.payload.readUInt32BE()).toBe(2_500_000);
    expect(sent[2]!.payload.readUInt32BE()).toBeGreaterThanOrEqual(4_000);
  });

  it.each<[string, AmfValue[], RtmpStatus]>([
    [
      'connect',
      ['_error', 1, null, { level: 'error', code: 'NetConnection.Connect.Rejected', description: 'No app.' }],
      { code: 'NetConnection.Connect.Rejected', description: 'No app.' },
    ],
    [
      'the key',
      ['onStatus', 0, null, { level: 'error', code: 'NetStream.Publish.BadName', description: 'Taken.' }],
      { code: 'NetStream.Publish.BadName', description: 'Taken.' },
    ],
    [
      'the key, with the wrong level',
      ['onStatus', 0, null, { level: 'status', code: 'NetStream.Publish.Unauthorized' }],
      { code: 'NetStream.Publish.Unauthorized', description: '' },
    ],
    ['createStream, without a word', ['_error', 4, null], { code: '', description: '' }],
  ])('tells that %s was refused', (_, answered, status) => {
    const { client, answer, refused, counts } = connect();
    client.start();
    answer(...answered);
    expect(refused).toEqual([status]);
    expect(counts.accepted).toBe(0);
  });

  it('lists the codec of HEVC and AV1, and does not publish to a server that lists others only', () => {
    const lists: [AmfValue, number][] = [
      [{ fourCcList: ['av01', 'hvc1'] }, 0],
      [{ videoFourCcInfoMap: { '*': 4 } }, 0],
      [{ fmsVer: 'FMS/3' }, 0],
      [{ fourCcList: ['vp09'] }, 1],
      [{ videoFourCcInfoMap: { av01: 4 } }, 1],
    ];
    for (const [properties, codecRefused] of lists) {
      const { client, answer, commands, counts } = connect('hvc1');
      client.start();
      expect(commands()[0]![2]).toMatchObject({ fourCcList: ['hvc1'] });
      answer('_result', 1, properties, connected);
      expect(counts.codecRefused).toBe(codecRefused);
      expect(commands().length).toBe(codecRefused === 0 ? 4 : 1);
    }
  });

  it('ends the stream by name and number', () => {
    const { client, answer, server, commands } = connect();
    client.start();
    answer('_result', 1, null, connected);
    answer('_result', 4, null, 1);
    server.push(client.end());
    expect(commands().slice(-2)).toEqual([
      ['FCUnpublish', 0, null, 'the-key'],
      ['deleteStream', 0, null, 1],
    ]);
  });
});

describe('a hostile server', () => {
  it.each([
    ['media', 9, Buffer.alloc(200)],
    ['an endless command', 20, Buffer.alloc(70_000)],
    ['a command without a name', 20, Buffer.from([5])],
    ['an unknown message', 99, Buffer.alloc(4)],
    ['a short bandwidth', 6, Buffer.alloc(2)],
  ])('that sends %s is malformed', (_, type, payload) => {
    const { client, send } = connect();
    client.start();
    expect(() => send(type, payload)).toThrow(/RTMP/);
  });

  it('that creates no stream is malformed', () => {
    for (const id of [0, -1, 1.5, Number.NaN, 2 ** 40, 'one', null]) {
      const { client, answer } = connect();
      client.start();
      answer('_result', 1, null, connected);
      expect(() => answer('_result', 4, null, id)).toThrow('without a stream');
    }
  });

  it('is never accepted before a stream exists, and takes no second one', () => {
    const { client, answer, counts, commands } = connect();
    client.start();
    answer('onStatus', 0, null, started);
    expect(counts.accepted).toBe(0);
    answer('_result', 1, null, connected);
    answer('_result', 4, null, 1);
    answer('_result', 4, null, 2);
    expect(commands().filter(([name]) => name === 'publish')).toHaveLength(1);
  });

  it('can send any bytes', () => {
    const random = new Random(11);
    for (let times = 0; times < 500; times += 1) {
      const { client } = connect();
      client.start();
      const bytes = Buffer.from(Array.from({ length: 400 }, () => random.below(256)));
      bytes[0] = bytes[0]! & 0x3f;
      try {
        client.push(bytes);
      } catch (error) {
        expect(error).toMatchObject({ code: 'media-malformed' });
      }
    }
  });
});

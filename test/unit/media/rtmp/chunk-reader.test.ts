import { expect, test } from 'vitest';
import { ChunkReader, type RtmpMessage } from '../../../../src/media/rtmp/chunk-reader.ts';
import { writeBasicHeader, writeChunks } from '../../../support/rtmp-client.ts';

const limits = {
  maxMessageBytes: () => 1024 * 1024,
  maxUnfinishedBytes: () => 2 * 1024 * 1024,
  onMessageStart: () => {},
};

function read(bytes: Buffer, cutEvery = bytes.length): RtmpMessage[] {
  const messages: RtmpMessage[] = [];
  const reader = new ChunkReader(limits, message => messages.push(message));
  for (let offset = 0; offset < bytes.length; offset += cutEvery) {
    // A copy that is spoiled afterwards: nothing of the input may be kept.
    const piece = Buffer.from(bytes.subarray(offset, offset + cutEvery));
    reader.push(piece);
    piece.fill(0xee);
  }
  return messages;
}

function payloadOf(length: number, seed = 0): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => (index * 7 + seed) & 0xff));
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A header of type 1 (with length and type), 2 or 3, with a 24 bit delta. */
function header(format: 1 | 2 | 3, chunkStreamId: number, deltaMs = 0, length = 0, type = 0): Buffer {
  const fields = Buffer.alloc(7);
  fields.writeUIntBE(deltaMs, 0, 3);
  fields.writeUIntBE(length, 3, 3);
  fields[6] = type;
  return Buffer.concat([writeBasicHeader(format, chunkStreamId), fields.subarray(0, [0, 7, 3, 0][format]!)]);
}

test.each([1, 2, 3, 7, 127, 128, 129, 5_000])(
  'puts messages together when the input is cut every %i bytes',
  cut => {
    const bytes = Buffer.concat([
      writeChunks(
        { type: 9, payload: payloadOf(1_000), chunkStreamId: 6, messageStreamId: 1, timestampMs: 40 },
        128,
      ),
      writeChunks({ type: 8, payload: payloadOf(1, 5), chunkStreamId: 64, timestampMs: 0xfffffe }, 128),
      writeChunks({ type: 8, payload: payloadOf(300, 6), chunkStreamId: 320, timestampMs: 0xffffff }, 128),
      writeChunks(
        { type: 18, payload: payloadOf(256, 7), chunkStreamId: 65_599, timestampMs: 0xffffffff },
        128,
      ),
    ]);
    expect(read(bytes, cut)).toEqual([
      { type: 9, messageStreamId: 1, timestampMs: 40, payload: payloadOf(1_000) },
      { type: 8, messageStreamId: 0, timestampMs: 0xfffffe, payload: payloadOf(1, 5) },
      { type: 8, messageStreamId: 0, timestampMs: 0xffffff, payload: payloadOf(300, 6) },
      { type: 18, messageStreamId: 0, timestampMs: 0xffffffff, payload: payloadOf(256, 7) },
    ]);
  },
);

test('never writes again to payloads that it has handed out, whatever their sizes', () => {
  const lengths = [5_000, 16_384, 4_096, 16_385, 4_095, 9_000, 0xffff, 16_000, 16_000, 16_000, 16_000, 1];
  const cut = writeChunks({ type: 9, payload: payloadOf(12_000, 99), chunkStreamId: 7 }, 128);
  const abort = writeChunks({ type: 2, payload: uint32(7), chunkStreamId: 2 }, 128);
  const messages = read(
    Buffer.concat([
      cut.subarray(0, 12 + 128),
      abort,
      ...lengths.map((length, seed) =>
        writeChunks({ type: 9, payload: payloadOf(length, seed), chunkStreamId: 6 }, 128),
      ),
    ]),
    1_460,
  );
  expect(messages.map(({ payload }) => payload)).toEqual(
    lengths.map((length, seed) => payloadOf(length, seed)),
  );
});

test('keeps messages apart that are interleaved on chunk streams with alike ids', () => {
  // 64 + 1 + 2 and 64 + 2 + 1 in sum, 577 and 322 by the rule of section 5.3.1.1.
  const one = writeChunks({ type: 9, payload: payloadOf(256, 1), chunkStreamId: 64 + 1 + 2 * 256 }, 128);
  const two = writeChunks({ type: 9, payload: payloadOf(256, 2), chunkStreamId: 64 + 2 + 1 * 256 }, 128);
  const first = 3 + 11 + 128;
  const messages = read(
    Buffer.concat([one.subarray(0, first), two.subarray(0, first), one.subarray(first), two.subarray(first)]),
  );
  expect(messages.map(message => message.payload)).toEqual([payloadOf(256, 1), payloadOf(256, 2)]);
});

test('adds deltas, repeats the last one for a type 3 header, and wraps at 2^32', () => {
  const body = payloadOf(4);
  const bytes = Buffer.concat([
    writeChunks({ type: 8, payload: body, chunkStreamId: 4, timestampMs: 2 ** 32 - 50 }, 128),
    header(1, 4, 20, 4, 8),
    body,
    header(3, 4),
    body,
    header(2, 4, 15),
    body,
    header(3, 4),
    body,
  ]);
  expect(read(bytes).map(message => message.timestampMs)).toEqual([
    2 ** 32 - 50,
    2 ** 32 - 30,
    2 ** 32 - 10,
    5,
    20,
  ]);
});

test('takes an extended delta, and an extended timestamp in every type 3 chunk after it', () => {
  const body = payloadOf(200);
  const delta = uint32(0x01000005);
  const bytes = Buffer.concat([
    writeChunks({ type: 9, payload: body, chunkStreamId: 6, timestampMs: 100 }, 128),
    header(1, 6, 0xffffff, 200, 9),
    delta,
    body.subarray(0, 128),
    header(3, 6),
    delta,
    body.subarray(128),
    header(3, 6),
    delta,
    body.subarray(0, 128),
    header(3, 6),
    delta,
    body.subarray(128),
    header(2, 6, 10),
    body.subarray(0, 128),
    header(3, 6),
    body.subarray(128),
  ]);
  const messages = read(bytes, 11);
  expect(messages.map(message => message.timestampMs)).toEqual([
    100,
    100 + 0x01000005,
    100 + 2 * 0x01000005,
    110 + 2 * 0x01000005,
  ]);
  for (const message of messages) expect(message.payload).toEqual(body);
});

/** Audio and video around the moment from which timestamps are extended, chunks of both alternating. */
function interleavedAround(extendsContinuations: boolean, chunkBytes: number) {
  const messages = [0xfffffe, 0xffffff, 0x1000000, 0x1234567, 0x80000000, 0xffffffff].flatMap(
    (timestampMs, index) => [
      { type: 9, messageStreamId: 1, timestampMs, payload: payloadOf(2 * chunkBytes + 2, index) },
      { type: 8, messageStreamId: 1, timestampMs, payload: payloadOf(chunkBytes + 1, index + 50) },
    ],
  );
  const bytes = [writeChunks({ type: 1, payload: uint32(chunkBytes), chunkStreamId: 2 }, 128)];
  for (let index = 0; index < messages.length; index += 2) {
    const [video, audio] = [0, 1].map(offset =>
      writeChunks(
        { ...messages[index + offset]!, chunkStreamId: 6 - offset, extendsContinuations },
        chunkBytes,
      ),
    );
    const first = 12 + (messages[index]!.timestampMs >= 0xffffff ? 4 : 0) + chunkBytes;
    bytes.push(video!.subarray(0, first), audio!, video!.subarray(first));
  }
  const inOrder = messages.map((_, index) => messages[index % 2 === 0 ? index + 1 : index - 1]);
  return { bytes: Buffer.concat(bytes), messages: inOrder };
}

test.each([1, 2, 3, 5, 17, 128, 5_000])(
  'takes continuations with and without the extended timestamp, cut every %i bytes',
  cut => {
    for (const extendsContinuations of [true, false]) {
      for (const chunkBytes of [128, 4096]) {
        const { bytes, messages } = interleavedAround(extendsContinuations, chunkBytes);
        expect(read(bytes, cut)).toEqual(messages);
      }
    }
  },
);

test('tells an extended timestamp of 31 bits from a payload that begins like the timestamp', () => {
  const timestampMs = 0x81234567;
  // The payload of the second chunk has the first three bytes of the timestamp, and nothing behind them.
  const payload = Buffer.concat([payloadOf(128), uint32(timestampMs).subarray(0, 3)]);
  const omitted = writeChunks(
    { type: 9, payload, chunkStreamId: 6, timestampMs, extendsContinuations: false },
    128,
  );
  const long = { type: 9, messageStreamId: 0, timestampMs, payload: payloadOf(300) };
  const next = writeChunks({ ...long, chunkStreamId: 6, extendsContinuations: false }, 128);
  for (const cut of [1, 2, 3, 1_000]) {
    expect(read(Buffer.concat([omitted, next]), cut)).toEqual([{ ...long, payload }, long]);
  }
  const masked = Buffer.concat([
    omitted.subarray(0, 16 + 128),
    header(3, 6),
    uint32(timestampMs & 0x7fffffff),
    payload.subarray(128),
  ]);
  expect(read(masked)).toEqual([{ ...long, payload }]);
});

test('a peer without extended timestamps in continuations has none in a repeated header either', () => {
  const timestampMs = 0x1000000;
  const payload = payloadOf(200, 1);
  const bytes = Buffer.concat([
    writeChunks({ type: 9, payload, chunkStreamId: 6, timestampMs, extendsContinuations: false }, 128),
    header(3, 6),
    payload.subarray(0, 128),
    header(3, 6),
    payload.subarray(128),
  ]);
  expect(read(bytes).map(message => message.payload)).toEqual([payload, payload]);
});

test('finds continuations without extended timestamps after the chunk size changes', () => {
  const message = { type: 9, timestampMs: 0x1000000, chunkStreamId: 6, extendsContinuations: false };
  const bytes = Buffer.concat(
    [128, 4096, 500, 1].flatMap(size => [
      writeChunks({ type: 1, payload: uint32(size), chunkStreamId: 2 }, 128),
      writeChunks({ ...message, payload: payloadOf(9_000, size) }, size),
    ]),
  );
  expect(read(bytes, 1_460).map(({ payload }) => payload)).toEqual(
    [128, 4096, 500, 1].map(size => payloadOf(9_000, size)),
  );
});

test('keeps the rest of a header that turns out to be payload while it is held', () => {
  const messages: RtmpMessage[] = [];
  const reader = new ChunkReader(limits, message => {
    messages.push(message);
    reader.hold();
  });
  // One byte of payload, equal to the first byte of the timestamp, then the next message.
  const payload = Buffer.concat([payloadOf(128), Buffer.from([1])]);
  const message = {
    type: 9,
    payload,
    chunkStreamId: 6,
    timestampMs: 0x01000000,
    extendsContinuations: false,
  };
  const bytes = Buffer.concat([writeChunks(message, 128), writeChunks({ ...message, timestampMs: 7 }, 128)]);
  const cut = 16 + 128 + 2;
  reader.push(bytes.subarray(0, cut));
  reader.push(bytes.subarray(cut));
  expect(messages).toHaveLength(1);
  reader.release();
  expect(messages.map(({ timestampMs }) => timestampMs)).toEqual([0x01000000, 7]);
  expect(messages.map(each => each.payload)).toEqual([payload, payload]);
});

test('a chunk size that changes within a message counts from the next chunk on', () => {
  const video = payloadOf(1_000);
  const bytes = Buffer.concat([
    writeChunks({ type: 9, payload: video, chunkStreamId: 6 }, 128).subarray(0, 1 + 11 + 128),
    writeChunks({ type: 1, payload: uint32(500), chunkStreamId: 2 }, 128),
    header(3, 6),
    video.subarray(128, 628),
    header(3, 6),
    video.subarray(628),
  ]);
  expect(read(bytes)).toEqual([{ type: 9, messageStreamId: 0, timestampMs: 0, payload: video }]);
});

test('an aborted message is forgotten and the next one on its chunk stream is whole', () => {
  const bytes = Buffer.concat([
    writeChunks({ type: 9, payload: payloadOf(1_000), chunkStreamId: 6 }, 128).subarray(0, 1 + 11 + 128),
    writeChunks({ type: 2, payload: uint32(6), chunkStreamId: 2 }, 128),
    writeChunks({ type: 9, payload: payloadOf(10, 3), chunkStreamId: 6, timestampMs: 7 }, 128),
  ]);
  expect(read(bytes)).toEqual([{ type: 9, messageStreamId: 0, timestampMs: 7, payload: payloadOf(10, 3) }]);
});

test('a message of no length is there as soon as its header is', () => {
  expect(read(writeChunks({ type: 9, payload: Buffer.alloc(0), chunkStreamId: 6 }, 128))).toEqual([
    { type: 9, messageStreamId: 0, timestampMs: 0, payload: Buffer.alloc(0) },
  ]);
});

test('a chunk stream may begin with a type 1 header, as librtmp does', () => {
  const bytes = Buffer.concat([header(1, 2, 0, 6, 4), payloadOf(6)]);
  expect(read(bytes)).toEqual([{ type: 4, messageStreamId: 0, timestampMs: 0, payload: payloadOf(6) }]);
});

test('a payload is never written to again', () => {
  const messages = read(
    Buffer.concat([
      writeChunks({ type: 9, payload: payloadOf(100, 1), chunkStreamId: 6 }, 128),
      writeChunks({ type: 9, payload: payloadOf(100, 2), chunkStreamId: 6 }, 128),
    ]),
  );
  expect(messages.map(message => message.payload)).toEqual([payloadOf(100, 1), payloadOf(100, 2)]);
});

test('chunk sizes above the longest message are alike, as the specification says', () => {
  const bytes = Buffer.concat([
    writeChunks({ type: 1, payload: uint32(0x7fffffff), chunkStreamId: 2 }, 128),
    writeChunks({ type: 9, payload: payloadOf(70_000), chunkStreamId: 6 }, 0xffffff),
  ]);
  expect(read(bytes)[0]?.payload).toEqual(payloadOf(70_000));
});

const tooManyStreams = Buffer.concat(
  Array.from({ length: 65 }, (_, id) =>
    writeChunks({ type: 8, payload: payloadOf(1), chunkStreamId: id + 3 }, 128),
  ),
);
const unfinishedOnMany = Buffer.concat(
  Array.from({ length: 3 }, (_, id) =>
    writeChunks({ type: 9, payload: Buffer.alloc(1024 * 1024), chunkStreamId: id + 3 }, 128).subarray(
      0,
      1 + 11 + 128,
    ),
  ),
);

test.each([
  ['a chunk size of 0', writeChunks({ type: 1, payload: uint32(0) }, 128), 'a chunk size of 0'],
  [
    'a chunk size with the top bit',
    writeChunks({ type: 1, payload: uint32(0x80000000) }, 128),
    'a chunk size',
  ],
  [
    'a short Set Chunk Size',
    writeChunks({ type: 1, payload: Buffer.alloc(3) }, 128),
    'Set Chunk Size of 3 bytes',
  ],
  ['a short Abort', writeChunks({ type: 2, payload: Buffer.alloc(0) }, 128), 'Abort of 0 bytes'],
  ['a type 2 header first', header(2, 6, 10), 'begins with a type 2 header'],
  ['a type 3 header first', header(3, 6), 'begins with a type 3 header'],
  [
    'a header within a message',
    Buffer.concat([
      writeChunks({ type: 9, payload: payloadOf(1_000), chunkStreamId: 6 }, 128).subarray(0, 1 + 11 + 128),
      writeChunks({ type: 9, payload: payloadOf(10), chunkStreamId: 6 }, 128),
    ]),
    'within a message',
  ],
  ['an unknown type', writeChunks({ type: 99, payload: payloadOf(1) }, 128), 'unknown message type 99'],
  [
    'a message over the limit',
    writeChunks({ type: 9, payload: Buffer.alloc(1024 * 1024 + 1) }, 128),
    'has 1048577',
  ],
  ['too many chunk streams', tooManyStreams, 'more than 64 chunk streams'],
  ['too much unfinished', unfinishedOnMany, 'unfinished'],
])('refuses %s', (_what, bytes, message) => {
  expect(() => read(bytes)).toThrow(
    expect.objectContaining({ code: 'media-malformed', message: expect.stringContaining(message) }),
  );
});

test('dispatches nothing while held, and continues after the release', () => {
  const messages: RtmpMessage[] = [];
  const reader = new ChunkReader(limits, message => {
    messages.push(message);
    if (messages.length === 2) reader.hold();
  });
  const one = (seed: number) =>
    writeChunks({ type: 9, payload: payloadOf(200, seed), chunkStreamId: 6 }, 128);
  reader.push(Buffer.concat([one(1), one(2), one(3)]));
  reader.push(one(4));
  expect(messages).toHaveLength(2);
  reader.release();
  expect(messages.map(message => message.payload)).toEqual([1, 2, 3, 4].map(seed => payloadOf(200, seed)));
});

test('it may be held and released from within a message', () => {
  const messages: RtmpMessage[] = [];
  const reader = new ChunkReader(limits, message => {
    reader.hold();
    messages.push(message);
    reader.release();
  });
  const one = writeChunks({ type: 9, payload: payloadOf(200), chunkStreamId: 6 }, 128);
  reader.push(Buffer.concat([one, one, one]));
  expect(messages).toHaveLength(3);
});

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PlayableBroadcast } from '../../../../src/delivery/live/live-source.ts';
import type { FlvTag } from '../../../../src/media/flv/flv-tag.ts';
import { avc, publish, startFakeBroadcasts, videoTag } from '../../../support/fake-broadcasts.ts';
import { videoTrack } from '../../../support/recording-sink.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** x264's decoder configuration of 8192x8192. */
const largeConfig: Buffer = Buffer.concat([
  Buffer.from([0x17, 0, 0, 0, 0]),
  Buffer.from('0142c03effe1001a6742c03eda0020000401b011000003000100000300020f08042a01000468ce0fc8', 'hex'),
]);
/** The parameter set of it, with its length. */
const largeSetOfFrame: Buffer = Buffer.concat([
  Buffer.from([0, 0, 0, 26]),
  largeConfig.subarray(13, 13 + 26),
]);
const tooLargeText =
  'refused: The resolution 8192x8192 is too high: this server accepts up to 9437184 pixels. Choose a lower output resolution in the encoder.';

/** Sends configuration and keyframe, and lets the wait for the other track pass. */
async function startVideo(publisher: Awaited<ReturnType<typeof publish>>, atMs = 0): Promise<void> {
  publisher.send(videoTag(atMs, avc.config()), videoTag(atMs, avc.keyframe()));
  await vi.advanceTimersByTimeAsync(1000);
}

async function playlistOf(broadcast: PlayableBroadcast | undefined): Promise<string> {
  const answer = broadcast?.mediaPlaylist('source', new URLSearchParams(), new AbortController().signal);
  await vi.advanceTimersByTimeAsync(10_000);
  const settled = await answer;
  return settled?.status === 200 ? settled.text.plain.toString() : '';
}

describe('a packager that cannot be started', () => {
  test('is started again at the next keyframes, and ends the broadcast at the fifth failure', async () => {
    const { live, ends } = startFakeBroadcasts({
      startPackager: () => {
        throw new Error('no file descriptor is left');
      },
    });
    const publisher = await publish(live);
    for (let second = 0; second < 5; second += 1) {
      expect(ends).toEqual([]);
      await startVideo(publisher, second * 1000);
    }
    expect(ends).toEqual(['packager-failed']);
    expect(publisher.told).toEqual([
      'refused: The server could not package the stream. Try again, or ask the operator to check the server log.',
    ]);
  });

  test('does not prevent the end of the broadcast', async () => {
    const { live, ends } = startFakeBroadcasts({
      startPackager: () => {
        throw new Error('no file descriptor is left');
      },
    });
    await startVideo(await publish(live));
    await live.remove('li1');
    expect(ends).toEqual(['deleted']);
  });
});

describe('frames', () => {
  test('between the death of a packager and the next keyframe count as dropped', async () => {
    const lost: string[] = [];
    const { live, packagers } = startFakeBroadcasts({
      observer: {
        partListed() {},
        segmentListed() {},
        packagerFailed() {},
        framesLost: (how, count) => void lost.push(`${how} ${count}`),
        broadcastEnded() {},
      },
    });
    const publisher = await publish(live);
    await startVideo(publisher);
    packagers[0]!.begin();
    packagers[0]!.give(0, 20);
    packagers[0]!.die();
    publisher.send(videoTag(40, avc.frame()), videoTag(80, avc.frame()), videoTag(120, avc.keyframe()));
    expect(lost).toEqual(['dropped 1', 'dropped 1']);
    expect(live.stats(() => true)).toMatchObject([
      { projectId: 'pr1', liveStreamId: 'li1', broadcastId: 'br1', state: 'live', droppedFrames: 2 },
    ]);
    expect(live.stats(projectId => projectId !== 'pr1')).toEqual([]);
  });
});

describe('a journal that fails', () => {
  test('does not affect the broadcast', async () => {
    const full = () => {
      throw new Error('database or disk is full');
    };
    const { live, packagers } = startFakeBroadcasts({
      journal: { opened: async () => 'br1', changed: full, ended: full },
    });
    const publisher = await publish(live);
    await startVideo(publisher);
    packagers[0]!.begin();
    packagers[0]!.give(0, 20);
    expect(live.isBroadcasting('li1')).toBe(true);
    void live.complete('li1');
    await vi.advanceTimersByTimeAsync(0);
    expect(await playlistOf(live.current('li1'))).toContain('#EXT-X-ENDLIST');
  });
});

describe('video that a program map declares', () => {
  const audioTag = (timestampMs: number, ...body: number[]): FlvTag => ({
    kind: 'audio',
    timestampMs,
    body: Buffer.from([0xaf, ...body]),
  });

  async function publishAudio(isVideoArriving: boolean) {
    const started = startFakeBroadcasts();
    const publisher = await publish(started.live);
    publisher.send(audioTag(0, 0, 0x11, 0x90), audioTag(0, 1, 0x21));
    await vi.advanceTimersByTimeAsync(500);
    const media = { hasAudio: true, hasVideo: true, isVideoArriving };
    if (publisher.answer.accepted) publisher.answer.handler.media({ type: 'declared', media });
    await vi.advanceTimersByTimeAsync(500);
    return { publisher, plans: () => started.packagers.map(({ plan }) => [plan.hasVideo, plan.audio]) };
  }

  test('is waited for while its first picture arrives', async () => {
    const { publisher, plans } = await publishAudio(true);
    await vi.advanceTimersByTimeAsync(8000);
    expect(plans()).toEqual([]);
    publisher.send(videoTag(0, avc.config()), videoTag(0, avc.keyframe()));
    expect(plans()).toEqual([[true, 'copy']]);
  });

  test('is not waited for longer than for a keyframe', async () => {
    const { plans } = await publishAudio(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(plans()).toEqual([[false, 'copy']]);
  });

  test('is hardly waited for while there is none of it', async () => {
    const { plans } = await publishAudio(false);
    expect(plans()).toEqual([[false, 'copy']]);
  });
});

describe('a slow journal', () => {
  test('stores states in order, and the end of a broadcast waits for it', async () => {
    const stored: string[] = [];
    const storing = Promise.withResolvers<void>();
    const { live, packagers } = startFakeBroadcasts({
      journal: {
        opened: async () => 'br1',
        changed: async (_, { state }) => {
          await storing.promise;
          if (state !== undefined) stored.push(state);
        },
        ended: async (_, __, reason) => void stored.push(reason),
      },
    });
    await startVideo(await publish(live));
    packagers[0]!.begin();
    packagers[0]!.give(0, 20);
    expect(live.isBroadcasting('li1')).toBe(true);
    let isRemoved = false;
    const removal = live.remove('li1').then(() => {
      isRemoved = true;
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect([stored, isRemoved, live.isBroadcasting('li1')]).toEqual([[], false, false]);
    storing.resolve();
    await removal;
    expect(stored).toEqual(['live', 'deleted']);
  });
});

describe('an abusive publisher', () => {
  test('is refused after several packagers when it changes its configuration at each keyframe', async () => {
    const { live, packagers, ends } = startFakeBroadcasts();
    const publisher = await publish(live);
    await startVideo(publisher);
    for (let index = 1; index < 500; index += 1) {
      publisher.send(videoTag(1000 + index, avc.config(index % 2)), videoTag(1000 + index, avc.keyframe()));
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(packagers.length).toBeLessThanOrEqual(20);
    expect(ends).toEqual(['limit-exceeded']);
    expect(publisher.told).toEqual([
      'refused: The encoder changed its settings or reconnected too often. Do not change the codec, resolution or audio settings while live.',
    ]);
  });

  test('may change its configuration every few seconds', async () => {
    const { live, packagers, ends } = startFakeBroadcasts();
    const publisher = await publish(live);
    for (let index = 0; index < 100; index += 1) {
      publisher.send(videoTag(index * 3000, avc.config(index % 2)), videoTag(index * 3000, avc.keyframe()));
      await vi.advanceTimersByTimeAsync(3000);
    }
    expect(packagers).toHaveLength(100);
    expect(ends).toEqual([]);
  });

  test('is refused before huge frames of one timestamp fill the memory', async () => {
    const { live, packagers, ends } = startFakeBroadcasts();
    const publisher = await publish(live);
    await startVideo(publisher);
    const body = avc.frame(1024 * 1024);
    for (let index = 0; index < 200; index += 1) publisher.send(videoTag(0, body));
    await vi.advanceTimersByTimeAsync(0);
    const bytes = packagers[0]!.written.reduce((sum, written) => sum + written.length, 0);
    expect(bytes).toBeLessThan(40 * 1024 * 1024);
    expect(ends).toEqual(['limit-exceeded']);
  });

  test('is refused before a packager starts when its video is too large', async () => {
    const { live, packagers, ends } = startFakeBroadcasts();
    const publisher = await publish(live);
    publisher.send(videoTag(0, largeConfig), videoTag(0, avc.keyframe()));
    await vi.advanceTimersByTimeAsync(1000);
    expect(packagers).toEqual([]);
    expect(ends).toEqual(['picture-too-large']);
    expect(publisher.told).toEqual([tooLargeText]);
  });

  test.each([
    ['in a new configuration', [largeConfig]],
    ['in a parameter set inside of a frame', [Buffer.concat([avc.keyframe(0), largeSetOfFrame])]],
  ])('ends the broadcast when its video becomes too large, %s', async (_, bodies) => {
    const { live, packagers, ends } = startFakeBroadcasts();
    const publisher = await publish(live);
    await startVideo(publisher);
    packagers[0]!.begin();
    packagers[0]!.give(0, 20);
    publisher.send(...bodies.map(body => videoTag(1000, body)), videoTag(1040, avc.frame()));
    await vi.advanceTimersByTimeAsync(1000);
    expect(packagers[0]!.written.filter(body => bodies.includes(body))).toEqual([]);
    expect(ends).toEqual(['picture-too-large']);
    expect(publisher.told).toEqual([tooLargeText]);
  });

  test('ends the broadcast before an encoder starts when the packager finds the video too large', async () => {
    const started: unknown[] = [];
    const { live, packagers, ends } = startFakeBroadcasts({
      selectLadder: () => ({
        isLadder: true,
        watermark: undefined,
        renditionsFor: () => [],
        startEncoder: order => {
          started.push(order);
          throw new Error('no encoder is wanted');
        },
      }),
    });
    const publisher = await publish(live);
    await startVideo(publisher);
    packagers[0]!.begin({ ...videoTrack, width: 8192, height: 8192 });
    await vi.advanceTimersByTimeAsync(1000);
    expect([started, ends, publisher.told]).toEqual([[], ['picture-too-large'], [tooLargeText]]);
  });

  test('is refused after several connections in a row', async () => {
    const { live } = startFakeBroadcasts();
    const answers = [];
    for (let index = 0; index < 100; index += 1) {
      const publisher = await publish(live);
      answers.push(publisher.answer);
      publisher.close('unpublished');
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(answers.filter(answer => answer.accepted).length).toBeLessThanOrEqual(20);
    expect(answers.at(-1)).toMatchObject({ accepted: false, reason: 'too-many-attempts' });
    await vi.advanceTimersByTimeAsync(30_000);
    expect((await publish(live)).answer).toMatchObject({ accepted: true });
  });
});

describe('a publisher that reconnected', () => {
  test('keeps the broadcast waiting until its media comes', async () => {
    const { live, packagers, states } = startFakeBroadcasts();
    const first = await publish(live);
    await startVideo(first);
    packagers[0]!.begin();
    packagers[0]!.give(0, 20);
    first.close('connection-closed');
    await vi.advanceTimersByTimeAsync(1000);
    await publish(live);
    await vi.advanceTimersByTimeAsync(5000);
    expect(states).toEqual(['live', 'waiting']);
  });

  test('and its slow packager let the playlist grow without a 503', async () => {
    const { live, packagers } = startFakeBroadcasts();
    const first = await publish(live);
    await startVideo(first);
    packagers[0]!.begin();
    packagers[0]!.give(0, 20);
    first.close('connection-closed');
    await vi.advanceTimersByTimeAsync(3000);
    await startVideo(await publish(live));
    expect(packagers).toHaveLength(2);
    const last = (await playlistOf(live.current('li1')))
      .match(/gap-(\d+)/g)!
      .at(-1)!
      .slice('gap-'.length);
    const query = new URLSearchParams({ _HLS_msn: String(Number(last) + 1), _HLS_part: '0' });
    const asked = live.current('li1')!.mediaPlaylist('source', query, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(7000);
    expect(await asked).toMatchObject({ status: 200 });
    packagers[1]!.begin();
    packagers[1]!.give(20_000, 20);
    expect(await playlistOf(live.current('li1'))).toMatch(
      /EXT-X-GAP[\s\S]*EXT-X-DISCONTINUITY\n[\s\S]*part-/,
    );
  });

  test('after a single frame has parts of the usual duration', async () => {
    const { live, packagers } = startFakeBroadcasts();
    const first = await publish(live);
    await startVideo(first);
    packagers[0]!.begin();
    packagers[0]!.give(0, 1);
    first.close('connection-closed');
    await vi.advanceTimersByTimeAsync(100);
    const second = await publish(live);
    await startVideo(second);
    packagers[1]!.begin();
    packagers[1]!.give(1000, 30);
    expect(await playlistOf(live.current('li1'))).toMatch(/#EXT-X-PART-INF:PART-TARGET=0\.20/);
  });
});

describe('a publisher that stopped', () => {
  /** A broadcast whose publisher is gone for `reason`. */
  async function left(reason: string) {
    const fake = startFakeBroadcasts();
    const publisher = await publish(fake.live);
    await startVideo(publisher);
    fake.packagers[0]!.begin();
    fake.packagers[0]!.give(0, 20);
    publisher.close(reason);
    await vi.advanceTimersByTimeAsync(0);
    return fake;
  }

  /** Reconnects and sends media. */
  async function comeBack({ live, packagers }: Awaited<ReturnType<typeof left>>) {
    const publisher = await publish(live);
    await startVideo(publisher);
    packagers.at(-1)!.begin();
    packagers.at(-1)!.give(20_000, 20);
    return publisher;
  }

  const view = ({ live }: Awaited<ReturnType<typeof left>>) => ({
    isBroadcasting: live.isBroadcasting('li1'),
    isLiveForViewers: live.state('li1').live,
    state: live.statsOf('li1')?.state,
  });

  test('ends the broadcast after five seconds, and for viewers at once', async () => {
    const fake = await left('unpublished');
    const states: string[] = [];
    fake.live.onStateChange('li1', () => states.push(JSON.stringify(fake.live.state('li1'))));
    expect(view(fake)).toEqual({ isBroadcasting: true, isLiveForViewers: false, state: 'stopping' });
    await vi.advanceTimersByTimeAsync(4990);
    expect([fake.ends, view(fake).isBroadcasting]).toEqual([[], true]);
    await vi.advanceTimersByTimeAsync(10);
    expect(fake.ends).toEqual(['publisher-stopped']);
    expect(fake.states).toEqual(['live', 'stopping']);
    expect(view(fake)).toEqual({ isBroadcasting: false, isLiveForViewers: false, state: undefined });
    expect(new Set(states)).toEqual(new Set(['{"live":false,"broadcastId":"br1"}']));
    const list = await playlistOf(fake.live.current('li1'));
    expect(list).toMatch(/EXT-X-GAP\n(?:#.*\n)*stopped-\d+\.m4s[\s\S]*#EXT-X-ENDLIST/);
  });

  test('continues its broadcast when it starts again within them', async () => {
    const fake = await left('unpublished');
    await vi.advanceTimersByTimeAsync(3000);
    await comeBack(fake);
    expect(view(fake)).toEqual({ isBroadcasting: true, isLiveForViewers: true, state: 'live' });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(fake.ends).toEqual([]);
    expect(fake.live.current('li1')?.broadcastId).toBe('br1');
  });

  test('counts no lost connection, and has the whole grace time when it is lost later', async () => {
    const fake = await left('unpublished');
    expect(fake.live.statsOf('li1')?.droppedConnections).toBe(0);
    const again = await publish(fake.live);
    again.close('connection-closed');
    expect(view(fake)).toEqual({ isBroadcasting: true, isLiveForViewers: true, state: 'waiting' });
    expect(fake.live.statsOf('li1')?.droppedConnections).toBe(1);
    await vi.advanceTimersByTimeAsync(59_990);
    expect(fake.ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(10);
    expect(fake.ends).toEqual(['publisher-gone']);
  });

  test('before anything could be played ends the broadcast without media', async () => {
    const fake = startFakeBroadcasts();
    const publisher = await publish(fake.live);
    publisher.close('unpublished');
    await vi.advanceTimersByTimeAsync(0);
    expect([fake.ends, fake.states]).toEqual([['no-media'], []]);
  });
});

test('a waiting broadcast does not become live while it ends', async () => {
  const { live, packagers, states, ends } = startFakeBroadcasts();
  const first = await publish(live);
  await startVideo(first);
  packagers[0]!.begin();
  // Whole parts: none is left for the end.
  packagers[0]!.give(0, 21);
  first.close('connection-closed');
  await startVideo(await publish(live));
  // The packager delivers its last media at the end.
  packagers[1]!.finish = async () => {
    packagers[1]!.begin();
    packagers[1]!.give(20_000, 20);
    packagers[1]!.die();
  };
  void live.complete('li1');
  await vi.advanceTimersByTimeAsync(0);
  expect([states, ends]).toEqual([['live', 'waiting'], ['completed']]);
});

describe('media that cannot be segmented', () => {
  test('ends the broadcast and not the server, even while the previous packager runs', async () => {
    const { live, packagers, ends } = startFakeBroadcasts();
    const publisher = await publish(live);
    await startVideo(publisher);
    publisher.send(videoTag(1000, avc.config(1)), videoTag(1000, avc.keyframe()));
    packagers[1]!.begin();
    packagers[1]!.events.sample('video', undefined as never, 0);
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toEqual(['packager-failed']);
  });
});

describe('ended broadcasts', () => {
  test('are kept up to two per stream', async () => {
    const { live, packagers } = startFakeBroadcasts();
    for (let index = 0; index < 5; index += 1) {
      const publisher = await publish(live, { encoder: `encoder ${index}` });
      await startVideo(publisher);
      packagers[index]!.begin();
      packagers[index]!.give(0, 20);
      void live.complete('li1');
      await vi.advanceTimersByTimeAsync(0);
    }
    const found = ['br1', 'br2', 'br3', 'br4', 'br5'].map(id => live.find('li1', id) !== undefined);
    expect(found).toEqual([false, false, true, true, true]);
  });

  test('are forgotten when the stream is deleted', async () => {
    const { live } = startFakeBroadcasts();
    await publish(live);
    await live.remove('li1');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('are not offered to players while the next one begins', async () => {
    const { live, packagers } = startFakeBroadcasts();
    await startVideo(await publish(live));
    packagers[0]!.begin();
    packagers[0]!.give(0, 20);
    void live.complete('li1');
    await vi.advanceTimersByTimeAsync(0);
    expect(live.current('li1')?.broadcastId).toBe('br1');
    const second = await publish(live, { encoder: 'another encoder' });
    expect(live.current('li1')).toBeUndefined();
    expect(live.find('li1', 'br1')).toBeDefined();
    await startVideo(second);
    packagers[1]!.begin();
    packagers[1]!.give(0, 20);
    expect(live.current('li1')?.broadcastId).toBe('br2');
  });
});

test('a refusal ends the broadcast without waiting for the publisher', async () => {
  const { live, packagers, states, ends } = startFakeBroadcasts();
  const publisher = await publish(live);
  await startVideo(publisher);
  packagers[0]!.begin();
  packagers[0]!.give(0, 20);
  await vi.advanceTimersByTimeAsync(20_000);
  // Nothing at all arrives, which says nothing about keyframes.
  expect(ends).toEqual([]);
  publisher.send(videoTag(21_000, avc.frame()));
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toEqual(['no-keyframe']);
  expect(states).toEqual(['live']);
});

test('an encoder that declares itself again and again is stored once', async () => {
  const stored: string[] = [];
  const { live } = startFakeBroadcasts({
    journal: {
      opened: async () => 'br1',
      changed: async (_, { encoder }) => {
        if (encoder !== undefined) stored.push(encoder);
      },
      ended: async () => {},
    },
  });
  const publisher = await publish(live);
  if (!publisher.answer.accepted) throw new Error('refused');
  for (let index = 0; index < 100; index += 1) {
    const media = { hasAudio: true, hasVideo: true, encoder: `OBS ${index}` };
    publisher.answer.handler.media({ type: 'declared', media });
  }
  await startVideo(publisher);
  expect(stored).toEqual(['OBS 0']);
});

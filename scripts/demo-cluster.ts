/**
 * Shows three servers that share PostgreSQL, an S3 server and an edge, all on this machine: a file is uploaded to A, encoded by B and
 * watched at C. Then each server is killed in turn under publishers, uploads and viewers, and what became of them is counted.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFfmpeg } from '../src/ffmpeg/build/find-ffmpeg.ts';
import { nginxEdge } from '../test/support/edges.ts';
import { freePort } from '../test/support/free-port.ts';
import { findPostgres } from '../test/support/postgres.ts';
import { s3Missing } from '../test/support/s3.ts';
import { PreparedRecording } from './bench/publisher.ts';
import { makeRecording, readRecording } from './bench/recording.ts';
import {
  createStreams,
  RoamingPublisher,
  RoamingViewer,
  untilPlayable,
  uploadAnywhere,
} from './cluster/cluster-load.ts';
import { type Cluster, startCluster } from './cluster/cluster-processes.ts';
import { startReceiver } from './demo-fixtures.ts';
import { runFfmpeg } from './ffmpeg.ts';
import { createVideo } from './server-process.ts';
import { uploadFile } from './upload-file.ts';

const maxStreams = 20;
const maxUploads = 20;
const maxViewers = 200;
const betweenKillsMs = 25_000;
const downMs = 8_000;
const settleTimeoutMs = 240_000;
const streamKilobits = 400;

/** @throws Error when a program is missing, or something was lost */
export async function showCluster(signal: AbortSignal): Promise<void> {
  const missing = [
    findPostgres() === undefined ? 'PostgreSQL is not installed (Debian: postgresql)' : undefined,
    s3Missing,
    nginxEdge.missing,
  ].filter(reason => reason !== undefined);
  if (missing.length > 0) throw new Error(missing.join('; '));
  const { path: ffmpegPath } = await findFfmpeg(process.env.MILLRACE_FFMPEG_PATH, process.env);
  const folder = await mkdtemp(join(tmpdir(), 'millrace-demo-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    console.log('Starting PostgreSQL, an S3 server, three servers and an edge.');
    const httpPort = await freePort();
    const edge = await nginxEdge.start(join(folder, 'edge'), httpPort);
    ends.push(() => edge.stop());
    const common = { MILLRACE_ALLOW_PRIVATE_TARGETS: 'true' };
    const cluster = await startCluster({
      folder,
      isDetached: true,
      nodes: [
        {
          ...common,
          MILLRACE_HTTP_PORT: String(httpPort),
          MILLRACE_NODE_ROLES: 'api,ingest,delivery',
          MILLRACE_MEDIA_URL: edge.baseUrl,
        },
        { ...common, MILLRACE_NODE_ROLES: 'api,ingest,worker' },
        { ...common, MILLRACE_NODE_ROLES: 'api,ingest,delivery' },
      ],
    });
    ends.push(() => cluster.stop());
    for (const { name, baseUrl, rtmpPort } of cluster.nodes) {
      console.log(`  ${name}  ${baseUrl}/dashboard   rtmp://127.0.0.1:${rtmpPort}/s`);
    }
    console.log(`  Edge of A  ${edge.baseUrl}\n`);
    await showUpload(cluster, ffmpegPath, folder, signal);
    await killInTurn(cluster, ffmpegPath, folder, signal);
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

async function showUpload(
  cluster: Cluster,
  ffmpegPath: string,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const [a, , c] = cluster.nodes;
  const { productionKey: apiKey } = cluster;
  const path = join(folder, 'upload.mp4');
  await makeVideo(ffmpegPath, path, 20, signal);
  const video = await createVideo(a!.baseUrl, apiKey, { title: 'Uploaded to A' });
  const startedAtMs = performance.now();
  await uploadFile({ baseUrl: a!.baseUrl, apiKey, signal, path, ...video, onProgress: () => {} });
  await untilPlayable(cluster, video.videoId, signal);
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  const watched = new URL(new URL(video.assets.hls).pathname, c!.baseUrl).href;
  const answer = await fetch(watched, { signal });
  if (!answer.ok) throw new Error(`${watched} answered ${answer.status}`);
  console.log(`UPLOAD. Sent to A, encoded by B, playable after ${seconds} s, delivered by C: ${watched}\n`);
}

async function killInTurn(
  cluster: Cluster,
  ffmpegPath: string,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const ending = new AbortController();
  const load = { signal: AbortSignal.any([signal, ending.signal]) };
  const recordingPath = join(folder, 'recording.flv');
  await makeRecording(ffmpegPath, recordingPath, streamKilobits);
  const recording = new PreparedRecording(await readRecording(recordingPath));
  const path = join(folder, 'short.mp4');
  await makeVideo(ffmpegPath, path, 2, signal);
  const encoded = new Set<string>();
  const receiver = await startReceiver(
    { baseUrl: cluster.nodes[0]!.baseUrl, productionKey: cluster.productionKey },
    ({ type, videoId }) => {
      if (type === 'video.encoding.quality.completed' && videoId !== undefined) encoded.add(videoId);
    },
  );
  try {
    const streams = await createStreams(cluster, maxStreams);
    const publishers = streams.map(
      (stream, first) => new RoamingPublisher(cluster, stream, recording, { first, ...load }),
    );
    const viewers = Array.from(
      { length: maxViewers },
      (_, first) =>
        new RoamingViewer(cluster, streams[first % streams.length]!.liveStreamId, { first, ...load }),
    );
    await until(() => viewers.every(({ hasPlayed }) => hasPlayed), 'every viewer has begun', signal);
    console.log(`LOAD. ${maxStreams} publishers, ${maxViewers} viewers, and ${maxUploads} uploads.`);
    const uploads: Promise<string>[] = [];
    const perNode = Math.ceil(maxUploads / cluster.nodes.length);
    for (const [index, node] of cluster.nodes.entries()) {
      for (let count = 0; count < perNode && uploads.length < maxUploads; count += 1) {
        const title = `Upload ${uploads.length + 1}`;
        uploads.push(uploadAnywhere(cluster, path, title, signal, index + count));
      }
      const before = streams.map((_, at) => publishers[at]!.connections);
      await node.kill();
      console.log(`  killed ${node.name}`);
      await sleep(downMs, undefined, { signal });
      await node.start();
      const moved = publishers.filter(({ connections }, at) => connections > before[at]!).length;
      console.log(`  started ${node.name} again; ${moved} publishers had gone to other servers`);
      await sleep(betweenKillsMs - downMs, undefined, { signal });
    }
    const videoIds = await Promise.all(uploads);
    await until(
      async () => (await Promise.all(videoIds.map(id => untilPlayable(cluster, id, signal)))) !== undefined,
      'every acknowledged upload can be played',
      signal,
    );
    await until(
      () => videoIds.every(id => encoded.has(id)),
      () => `webhooks for ${videoIds.filter(id => !encoded.has(id)).length} uploads are missing`,
      signal,
    );
    const before = viewers.map(({ nextMsn }) => nextMsn);
    const waiting = () => viewers.filter(({ nextMsn }, at) => nextMsn <= before[at]!);
    await until(
      () => waiting().length === 0,
      () => `${waiting().length} viewers get no more of their broadcasts`,
      signal,
    );
    const stepsBack = viewers.reduce((sum, viewer) => sum + viewer.stepsBack, 0);
    const waitsMs = viewers.map(({ maxWaitMs }) => maxWaitMs).sort((one, other) => one - other);
    const seconds = (share: number) => (waitsMs[Math.ceil(share * waitsMs.length) - 1]! / 1000).toFixed(1);
    console.log(`
RESULT
  uploads acknowledged and playable      ${videoIds.length} of ${maxUploads}
  their webhooks received                ${videoIds.filter(id => encoded.has(id)).length}
  broadcasts that continue               ${streams.length} of ${maxStreams}
  media sequences that went back         ${stepsBack}
  longest wait of a viewer               p50 ${seconds(0.5)} s, longest ${seconds(1)} s
`);
    if (stepsBack > 0) throw new Error('a media sequence went back');
    ending.abort();
    await Promise.all([...publishers, ...viewers].map(one => one.stopped()));
  } finally {
    ending.abort();
    receiver.close();
    receiver.closeAllConnections();
  }
}

function makeVideo(ffmpegPath: string, path: string, seconds: number, signal: AbortSignal): Promise<void> {
  const args = [
    // MPEG-4 Part 2: players cannot play it, so that it must be encoded.
    ...['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=25', '-t', String(seconds)],
    ...['-c:v', 'mpeg4', '-b:v', '500k', path],
  ];
  return runFfmpeg(ffmpegPath, args, signal);
}

async function until(
  isTrue: () => boolean | Promise<boolean>,
  what: string | (() => string),
  signal: AbortSignal,
): Promise<void> {
  const endMs = performance.now() + settleTimeoutMs;
  while (!(await isTrue())) {
    if (performance.now() > endMs)
      throw new Error(`Waited in vain: ${typeof what === 'string' ? what : what()}`);
    await sleep(100, undefined, { signal });
  }
}

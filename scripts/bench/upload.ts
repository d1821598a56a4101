import { execFile } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServerProcess } from '../server-process.ts';
import { type Bench, HelperProcess, withServer } from './bench-context.ts';
import { usageOf } from './process-usage.ts';
import { judge, percentile } from './report.ts';
import type { UploadOrder, UploadReport } from './upload-process.ts';

const name = 'upload';
const megabyte = 1_000_000;
const blockBytes = 16 * megabyte;
const sampleEveryMs = 100;
const run = promisify(execFile);

/**
 * How fast a file is uploaded over loopback beside how fast `cp` copies it on the same disk, and what memory that takes. An
 * upload is answered when it is on the disk, so the copy counts until it is there, too; one that is only in memory is told beside.
 */
export const benchUpload: Bench = context =>
  withServer(context, { MILLRACE_UPLOADS_MIN_FREE: '1MiB' }, async server => {
    const megabytes = context.isShort ? 500 : 5_000;
    const tries = context.isShort ? 3 : 2;
    const file = join(context.folder, 'upload-source');
    const copy = join(context.folder, 'upload-copy');
    await writeNoise(file, megabytes * megabyte);
    const uploadsMs: number[] = [];
    const copiesMs: number[] = [];
    const cachedMs: number[] = [];
    let memoryOverIdle = 0;
    try {
      // Once to begin with, so that no file is read from the disk.
      await timeOf(() => run('cp', [file, copy]));
      for (let count = 0; count < tries; count += 1) {
        await rm(copy);
        const cached = await timeOf(() => run('cp', ['--reflink=never', file, copy]));
        const synced = await timeOf(() => run('sync', [copy]));
        cachedMs.push(cached);
        copiesMs.push(cached + synced);
        const { ms, overIdle } = await uploadOnce(server, file);
        uploadsMs.push(ms);
        memoryOverIdle = Math.max(memoryOverIdle, overIdle);
      }
    } finally {
      await rm(file, { force: true });
      await rm(copy, { force: true });
    }
    const speedOf = (ms: readonly number[]) => (megabytes * 1_000) / percentile(ms, 0.5);
    return [
      judge(name, { what: `upload of ${megabytes} MB`, value: speedOf(uploadsMs), unit: 'MB/s' }),
      judge(name, { what: 'cp of it, until it is on the disk', value: speedOf(copiesMs), unit: 'MB/s' }),
      judge(name, { what: 'cp of it, into memory', value: speedOf(cachedMs), unit: 'MB/s' }),
      judge(name, {
        what: 'upload as a share of cp',
        value: (100 * speedOf(uploadsMs)) / speedOf(copiesMs),
        unit: '%',
        atLeast: 70,
      }),
      judge(name, {
        what: "server's memory over idle, most",
        value: memoryOverIdle / 1_048_576,
        unit: 'MiB',
        atMost: 60,
      }),
    ];
  });

async function uploadOnce(server: ServerProcess, file: string): Promise<{ ms: number; overIdle: number }> {
  const authorization = `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}`;
  const created = await fetch(`${server.baseUrl}/videos`, {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify({ title: 'Bench' }),
  });
  const { videoId } = (await created.json()) as { videoId: string };
  const memory = () => usageOf([server.child.pid!]).privateBytes;
  const idle = memory();
  let most = idle;
  const sampling = setInterval(() => {
    most = Math.max(most, memory());
  }, sampleEveryMs);
  const order: UploadOrder = {
    port: server.httpPort,
    path: `/videos/${videoId}/source`,
    authorization,
    file,
  };
  const uploader = new HelperProcess<UploadReport>('./upload-process.ts', order);
  try {
    const { ms, status } = await uploader.report();
    if (status !== 201) throw new Error(`the upload was answered with ${status}`);
    return { ms, overIdle: most - idle };
  } finally {
    clearInterval(sampling);
    await uploader.stop();
    await fetch(`${server.baseUrl}/videos/${videoId}?permanently=true`, {
      method: 'DELETE',
      headers: { authorization },
    });
  }
}

/** Blocks that are all different, since a disk may know equal ones. */
async function writeNoise(path: string, bytes: number): Promise<void> {
  const block = randomFillSync(Buffer.allocUnsafe(blockBytes));
  const handle = await open(path, 'w');
  try {
    for (let written = 0; written < bytes; written += blockBytes) {
      block.writeDoubleLE(written, 0);
      await handle.write(block, 0, Math.min(blockBytes, bytes - written));
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

import { expect, it } from 'vitest';
import { IdleMemory } from '../../../src/operations/memory/idle-memory.ts';

const mebibyte = 1024 * 1024;

/** A server whose measures the test sets. Each release frees `garbageBytes`. */
function startIdleMemory() {
  const server = { residentBytes: 120 * mebibyte, garbageBytes: 0, processorUse: 0, isBroadcasting: false };
  const done: string[] = [];
  const memory = new IdleMemory({
    caches: [{ releaseMemory: () => void done.push('caches') }],
    isBroadcasting: () => server.isBroadcasting,
    collectGarbage: () => void done.push('collect'),
    trim: () => {
      done.push('trim');
      server.residentBytes -= server.garbageBytes;
      server.garbageBytes = 0;
    },
    residentBytes: () => server.residentBytes,
    processorUse: () => server.processorUse,
  });
  const run = () => {
    done.length = 0;
    memory.run();
    return done.join();
  };
  const settle = () => {
    while (run() !== '');
  };
  return { server, run, settle };
}

it('empties caches, collects and trims, until nothing more comes back', () => {
  const { server, run } = startIdleMemory();
  const all = 'caches,collect,trim';
  server.garbageBytes = 20 * mebibyte;
  expect([run(), run()]).toEqual([all, all]);
  // Media of the last broadcast, which was still in use.
  server.garbageBytes = 20 * mebibyte;
  expect([run(), run(), run(), run(), run()]).toEqual([all, all, all, all, '']);
});

it('begins again when memory has grown', () => {
  const { server, run, settle } = startIdleMemory();
  settle();
  server.residentBytes += 10 * mebibyte;
  expect(run()).toBe('');
  server.residentBytes += 10 * mebibyte;
  expect(run()).toBe('caches,collect,trim');
});

it('does nothing while the server is busy, and begins again after that', () => {
  const { server, run, settle } = startIdleMemory();
  settle();
  server.processorUse = 0.3;
  server.residentBytes += 100 * mebibyte;
  expect([run(), run()]).toEqual(['', '']);
  server.processorUse = 0.01;
  expect(run()).toBe('caches,collect,trim');
});

it('only trims now and then while there are broadcasts, and begins again after the last one', () => {
  const { server, run, settle } = startIdleMemory();
  settle();
  server.isBroadcasting = true;
  const runs = Array.from({ length: 20 }, run);
  expect(runs.filter(done => done === 'trim')).toHaveLength(2);
  expect(runs.filter(done => done === '')).toHaveLength(18);
  server.isBroadcasting = false;
  expect(run()).toBe('caches,collect,trim');
});

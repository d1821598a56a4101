import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { MixedSequence } from './test/support/mixed-sequence.ts';

/** Servers that tests start as processes find their code compiled. */
const env = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('./node_modules/.cache/millrace-code', import.meta.url)),
};

const media = { testTimeout: 120_000, hookTimeout: 120_000 };
/** Work on files: it takes as long as it takes, and all of the machine. */
const filesOnly = ['test/media/{vod,ffmpeg-tools,node-client}*.test.ts'];
/** Streams that are played in real time: they mostly wait, so that many go at once. They come after all that keeps the machine busy. */
const realTime = { ...media, maxConcurrency: 12 };

/** Every answer of a server is held against the API document. */
const answers = {
  env,
  globalSetup: ['test/support/answers/prepare-answer-checks.ts'],
  setupFiles: ['test/support/answers/check-answers.ts'],
};

/** The kinds of tests: what each may touch is said in docs/development.md. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: MixedSequence },
    projects: [
      {
        // Nothing of theirs is shared but modules, which are loaded once for all of them.
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 30_000, isolate: false },
      },
      {
        test: {
          name: 'service',
          include: ['test/service/**/*.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          ...answers,
        },
      },
      { test: { name: 'media-files', include: filesOnly, ...media, ...answers } },
      {
        test: {
          name: 'media',
          include: ['test/media/**/*.test.ts'],
          exclude: filesOnly,
          ...realTime,
          ...answers,
        },
      },
      { test: { name: 'browser', include: ['test/browser/**/*.test.ts'], ...realTime, ...answers } },
    ],
  },
});

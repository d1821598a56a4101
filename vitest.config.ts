import { defineConfig } from 'vitest/config';

const media = { testTimeout: 120_000, hookTimeout: 60_000 };
/** Work on files: it takes as long as it takes, so it may share the machine. Live streams are played in real time, one after the other. */
const filesOnly = ['test/media/{vod,ffmpeg-tools,node-client}*.test.ts'];

/** The kinds of tests: what each may touch is said in docs/development.md. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 10_000 } },
      {
        test: {
          name: 'service',
          include: ['test/service/**/*.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'media',
          include: ['test/media/**/*.test.ts'],
          exclude: filesOnly,
          ...media,
          fileParallelism: false,
        },
      },
      { test: { name: 'media-files', include: filesOnly, ...media } },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});

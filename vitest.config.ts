import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { catalogueFile, compileCatalogue } from './scripts/build/compile-messages.ts';
import { buildBrowserCode, findOrBuild } from './scripts/build/current-build.js';
import { TestSequencer } from './scripts/test-sequencer.ts';
import { embeddedFfmpeg, embeddedFfprobe } from './src/ffmpeg/build/find-ffmpeg.ts';
import { clusterFiles } from './test/support/cluster-files.ts';
import { findPostgres } from './test/support/postgres.ts';

/** Tests have the browser code of the product. */
const build = findOrBuild();
process.env.MILLRACE_TEST_BROWSER_FOLDER = build === undefined ? buildBrowserCode() : join(build, 'browser');
process.env.MILLRACE_TEST_BUILD = build ?? '';

/** Servers that tests start as processes find their code compiled. */
const isolatedEnv = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('./node_modules/.cache/millrace-code', import.meta.url)),
};
/**
 * The programs that come with the packages. A distribution's load two hundred libraries, and take five to fifty times as long to start.
 * Empty where there are none.
 */
const embeddedPrograms = ((): Readonly<Record<string, string>> => {
  try {
    return {
      MILLRACE_FFMPEG_PATH: embeddedFfmpeg.current(),
      MILLRACE_FFPROBE_PATH: embeddedFfprobe.lastResort(),
    };
  } catch {
    return {};
  }
})();

/** At each start, a server would run its programs once in the sandbox. Tests of media are in it. */
const env = { ...isolatedEnv, ...embeddedPrograms, MILLRACE_FFMPEG_ISOLATION: 'off' };

/** A backstop for what hangs. It is longer than each wait inside (`waitTimeoutMs`), so that the failure tells what was waited for. */
const deadlines = { testTimeout: 600_000, hookTimeout: 600_000 };
/** Files whose outcome depends on the version of ffmpeg: they have the one that a server finds on this machine. */
const foundPrograms = [
  'test/media/{ffmpeg-tools*,hardware-encoders,isolation,packagers}.test.ts',
  'test/media/live-{audio*,codecs,encoder,ladder,mark,slate}.test.ts',
  'test/media/vod-{encode,images,index*}.test.ts',
];
/** Files with tests that must hold on every build of ffmpeg. They have one, but in the project `all-builds`. */
const allBuilds = [
  'test/media/{ffmpeg-tools,ffmpeg-tools-run,ingest-ffmpeg,isolation}.test.ts',
  'test/media/live-{codecs,encoder,ladder,mark,playlist}.test.ts',
  'test/media/vod-{encode,images,index-growing,sandbox,sound-changes}.test.ts',
];
/** Streams that are played in real time: they mostly wait, so that many go at once. */
const realTime = { ...deadlines, maxConcurrency: 12 };
/** The files of a worker share loaded modules, and one Chromium. */
const chromiumRun = { ...realTime, isolate: false };

/**
 * Files that `npm test` leaves out, by the project that has them instead. All others belong to the project of their folder, and to
 * `npm test`.
 */
const beyond = {
  /** Several servers, crashes, faults and attacks, files of foreign programs, the sandbox, and builds. */
  'edge-cases': [
    ...clusterFiles,
    'test/{service,media}/{*-crash,*-faults,*-fuzz,*-abuse}.test.ts',
    'test/service/build.test.ts',
    'test/media/vod-{fair,foreign,sandbox,tracks}.test.ts',
  ],
  /** Media of unusual kinds: odd timing, few pictures a second, what changes in the middle; and clips and transcripts of all kinds. */
  'unusual-media': [
    'test/media/vod-{cameras,clip-streams,clips,exact-clips,picture-changes,sound-changes,timing,transcripts}.test.ts',
    'test/media/{live-slow-pictures,whip-vp8}.test.ts',
  ],
  /** Attacks that must not block the event loop, and memory minutes after a broadcast: files that look at the process that they run in. */
  'own-process-more': ['test/{service,media}/{idle-memory,hostile-*,*-flood,*-hostile}.test.ts'],
  /** Commands of operators, backups, and the cache of media in S3. */
  operators: [
    'test/service/{account-command,backup,database-command,doctor,drain-command,s3-cache,storage-command}.test.ts',
    'test/media/backup.test.ts',
  ],
  /** A walk through all pages of the dashboard, WebRTC, what players do beside playing, and what breaks while they play. */
  'browser-more': [
    'test/browser/dashboard-{everywhere,roles}.test.ts',
    'test/browser/live-!(page|private|sdk).test.ts',
    'test/browser/{audio-tracks,interruptions,slate,viewer-clips,whep}.test.ts',
    'test/browser/vod-{arriving,extras}.test.ts',
  ],
  /** The other pages of the dashboard one by one, the documentation, servers below a path, the player as an element and with its SDK, and what fewer viewers do. */
  'browser-rest': [
    'test/browser/dashboard-!(everywhere|live|nodes|overview|roles|shell|sign-in|uploads).test.ts',
    'test/browser/{base-path,deferred-controls,docs,live-sdk,player-controls-more,player-element,vod-sdk}.test.ts',
  ],
  /** OBS, Firefox and WebKitGTK. */
  'obs-and-browsers': ['test/browser/other-browsers.test.ts', 'test/media/obs*.test.ts'],
  /** Other players, encoders, proxies, languages and tools of others, and the npm package. */
  programs: [
    'test/browser/{other-players,real-players}.test.ts',
    'test/media/{docs-examples-programs,edges,package,restream-nginx,srt-{announced-tracks,senders}}.test.ts',
    'test/service/helm-chart.test.ts',
  ],
};
const serviceFile = (name: string) => `test/service/${name}.test.ts`;
/** Files that look at the process that they run in: its memory, its timers, and how long it is blocked. */
const ownProcess = ['idle-server', 'index-threads', 'malloc-trim'].map(serviceFile);
/** Files of `folder` that belong to its own project. */
const inFolder = (folder: string) => ({
  include: [`test/${folder}/**/*.test.ts`],
  exclude: [...Object.values(beyond).flat(), ...ownProcess],
});

/** Browser code has compiled messages. */
const compiledMessages = {
  name: 'compiled-messages',
  load: (path: string) => (catalogueFile.test(path) ? compileCatalogue(path) : undefined),
};

/** They come first: what is registered first at the end of a file runs last. */
const everyFile = ['test/support/count-cpu-seconds.ts', 'test/support/remove-temp-dirs.ts'];

/** Every answer of a server is held against the API document. */
const answers = {
  env,
  globalSetup: ['test/support/answers/prepare-answer-checks.ts', 'test/support/prepare-sqlite-template.ts'],
  setupFiles: [
    ...everyFile,
    'test/support/remove-test-databases.ts',
    'test/support/answers/check-answers.ts',
  ],
};

const postgresSetup = ['test/support/start-shared-postgres.ts'];
/** Tests that use the database through the API or the stores, except those of SQLite's file: they run once more on PostgreSQL. */
const onPostgres = [
  'api-!(store|bad-input-wire|docs|document|listener|uploads-http2)',
  'client-suites',
  'delivery-private*',
  'email-addresses',
  'empty-containers',
  'event-feed*',
  'image-uploads',
  'invitation-mails',
  'jobs',
  'node-client-*',
  'oidc',
  'p{lay,ublish}-hook',
  'project-owners',
  'passkeys',
  'password-resets',
  'recordings',
  '*retention',
  'sessions',
  'source-download',
  'sweep',
  'two-factor',
  'unverified-users',
  'usage*',
  'video-encodings',
  'webhook-!(crash)',
  'wire-*',
].map(serviceFile);

/** Files of `onPostgres` where PostgreSQL does something else than SQLite: lists, locks, claims, counters, searches, and whose rows are whose. */
const postgresCore = [
  'api-{analytics,audit-log,isolation,isolation-walk,quotas,uploads,videos-lists}',
  'email-addresses',
  'event-feed',
  'jobs',
  'retention',
  'sessions',
  'sweep',
  'usage',
  'webhook-{delivery,queue}',
  'wire-lists',
].map(serviceFile);
const serviceRun = {
  ...deadlines,
  ...answers,
  globalSetup: [...answers.globalSetup, ...postgresSetup],
  isolate: false,
};
const withPostgres = { ...serviceRun, env: { ...env, MILLRACE_TEST_DATABASE: 'postgres' } };
const hasPostgres = findPostgres() !== undefined;

/**
 * The kinds of tests: what each may touch is said in docs/development.md. To load the modules of a server takes half a second: files of
 * the projects with `isolate: false` share those of their worker, and nothing else.
 */
export default defineConfig({
  test: {
    // Most files wait for more than half of their time.
    maxWorkers: Math.max(5, availableParallelism()),
    sequence: { sequencer: TestSequencer },
    // A run that ends sooner leaves the folders of its PostgreSQL server and its databases.
    teardownTimeout: 60_000,
    // `.ci/run` repeats the files that failed: it needs to know which.
    reporters: [
      'default',
      ...(process.env.MILLRACE_TEST_REPORT === undefined ? [] : ['./scripts/test-file-reporter.ts']),
    ],
    projects: [
      {
        plugins: [compiledMessages],
        test: {
          name: 'unit',
          ...inFolder('unit'),
          setupFiles: everyFile,
          ...deadlines,
          isolate: false,
        },
      },
      { test: { name: 'service', ...inFolder('service'), ...serviceRun } },
      { test: { name: 'operators', include: beyond.operators, ...serviceRun } },
      {
        test: {
          name: 'media-found',
          include: foundPrograms,
          ...realTime,
          ...answers,
          env: isolatedEnv,
          isolate: false,
        },
      },
      {
        test: {
          name: 'media',
          include: inFolder('media').include,
          exclude: [...inFolder('media').exclude, ...foundPrograms],
          ...realTime,
          ...answers,
          env: { ...isolatedEnv, ...embeddedPrograms },
          isolate: false,
        },
      },
      { test: { name: 'own-process', include: ownProcess, ...deadlines, ...answers } },
      {
        test: {
          name: 'own-process-more',
          include: beyond['own-process-more'],
          ...deadlines,
          ...answers,
          env: { ...isolatedEnv, ...embeddedPrograms },
        },
      },
      { test: { name: 'browser', ...inFolder('browser'), ...chromiumRun, ...answers } },
      { test: { name: 'browser-more', include: beyond['browser-more'], ...chromiumRun, ...answers } },
      { test: { name: 'browser-rest', include: beyond['browser-rest'], ...chromiumRun, ...answers } },
      { test: { name: 'postgres', include: hasPostgres ? postgresCore : [], ...withPostgres } },
      {
        test: {
          name: 'postgres-rest',
          include: hasPostgres ? onPostgres : [],
          exclude: postgresCore,
          ...withPostgres,
        },
      },
      {
        test: {
          name: 'usual-leases',
          include: ['test/media/cluster-lease.test.ts'],
          testTimeout: 900_000,
          hookTimeout: 300_000,
          ...answers,
          globalSetup: [...answers.globalSetup, ...postgresSetup],
        },
      },
      {
        test: {
          name: 'edge-cases',
          include: beyond['edge-cases'],
          ...deadlines,
          ...answers,
          env: { ...isolatedEnv, ...embeddedPrograms },
          globalSetup: [...answers.globalSetup, ...postgresSetup],
          setupFiles: [...answers.setupFiles, 'test/support/shorten-leases.ts'],
          isolate: false,
        },
      },
      {
        test: {
          name: 'unusual-media',
          include: beyond['unusual-media'],
          ...realTime,
          ...answers,
          env: { ...isolatedEnv, ...embeddedPrograms },
          isolate: false,
        },
      },
      // Uploads once more, with the programs that a server finds on this machine.
      {
        test: {
          name: 'uploads-found',
          include: ['test/media/vod-*.test.ts'],
          exclude: [...clusterFiles, ...foundPrograms, ...allBuilds],
          ...deadlines,
          ...answers,
          env: isolatedEnv,
          isolate: false,
        },
      },
      {
        test: {
          name: 'all-builds',
          include: allBuilds,
          ...realTime,
          ...answers,
          env: { ...isolatedEnv, MILLRACE_TEST_BUILDS: 'all' },
          isolate: false,
        },
      },
      {
        test: { name: 'obs-and-browsers', include: beyond['obs-and-browsers'], ...realTime, ...answers },
      },
      {
        test: {
          name: 'programs',
          include: beyond.programs,
          ...realTime,
          ...answers,
          env: { ...isolatedEnv, MILLRACE_FFMPEG_ISOLATION: 'off' },
        },
      },
      // The files of a release, installed as their users do.
      {
        test: {
          name: 'release',
          include: ['test/release/**/*.test.ts'],
          setupFiles: everyFile,
          testTimeout: 900_000,
          hookTimeout: 1_800_000,
          env: isolatedEnv,
        },
      },
    ],
  },
});

import { describe, expect, test } from 'vitest';
import { importProblems, packageOwners, roomImports, roomTypeImports } from '../../scripts/import-rules.ts';
import { dependencyNames, readSources } from '../../scripts/project-files.ts';

const dependencies = new Set(['kysely', 'better-sqlite3', 'node-media-server', 'koa', '@koa/router']);

function problemsOf(files: Record<string, string>): string[] {
  return importProblems(new Map(Object.entries(files)), dependencies, new Set(['preact']));
}

describe('the source tree', () => {
  test('keeps every import rule', () => {
    expect(importProblems(readSources(), dependencyNames(), dependencyNames('devDependencies'))).toEqual([]);
  });

  test('has rules only for packages that the server has', () => {
    expect([...dependencyNames()]).toEqual(expect.arrayContaining(Object.keys(packageOwners)));
  });

  test('has a table of rooms without a way back', () => {
    const reaches = (from: string, to: string): boolean =>
      [...(roomImports[from] ?? []), ...(roomTypeImports[from] ?? [])].some(
        room => room === to || reaches(room, to),
      );
    expect(Object.keys(roomImports).filter(room => reaches(room, room))).toEqual([]);
  });
});

describe('the import rules allow', () => {
  test.each<[what: string, files: Record<string, string>]>([
    ['a room of the table', { 'live/a.ts': "import { a } from '../media/b.ts';", 'media/b.ts': '' }],
    ['the own room', { 'live/a.ts': "import { b } from './b.ts';", 'live/b.ts': '' }],
    ['a folder of the own room', { 'live/x/a.ts': "import { b } from '../y/b.ts';" }],
    ['a folder of the own group', { 'resources/live/x/a.ts': "import { b } from '../y/b.ts';" }],
    [
      'what a group offers to later ones',
      { 'resources/videos/x/a.ts': "import { b } from '../../identity/accounts/account.ts';" },
    ],
    ['everything for the root', { 'app/a.ts': "import { a } from '../live/a.ts';", 'live/a.ts': '' }],
    ['the root for the root', { 'main.ts': "import { a } from './app/a.ts';", 'app/a.ts': '' }],
    ['types of metrics', { 'docs/a.ts': "import type { A } from '../metrics/a.ts';" }],
    ['kysely in a store file', { 'resources/x/x.store.ts': "import { sql } from 'kysely';" }],
    ['kysely in the store', { 'store/a.ts': "import { sql } from 'kysely';" }],
    [
      'FLV at the RTMP edge',
      { 'ingest/rtmp/a.ts': "import { a } from '../../media/flv/b.ts';", 'media/flv/b.ts': '' },
    ],
    ['a deep path of a package', { 'ingest/rtmp/a.ts': "require('node-media-server/src/a.js');" }],
    ['a scoped package', { 'http/a.ts': "import { Router } from '@koa/router';" }],
    ['the environment at the edge', { 'main.ts': 'process.env', 'config/a.ts': 'process.env' }],
    ['WebVTT in the browser', { 'web/a.ts': "import { a } from '../media/webvtt/a.ts';" }],
    ['limits in the browser', { 'web/a.ts': "import { a } from '../shared/limits/a.ts';" }],
    ['WebVTT in any room', { 'resources/x/a.ts': "import { a } from '../../media/webvtt/a.ts';" }],
    ['anything in a comment', { 'media/a.ts': "// process.env, require('../live/a.ts')\n/* process.env */" }],
  ])('%s', (_what, files) => {
    expect(problemsOf(files)).toEqual([]);
  });
});

describe('the import rules refuse', () => {
  test.each<[what: string, files: Record<string, string>, problem: string]>([
    [
      'another room',
      { 'media/a.ts': "\nimport { b } from '../live/b.ts';" },
      'src/media/a.ts:2: media may not import live',
    ],
    [
      'FLV between the edges',
      { 'live/broadcast/a.ts': "import { a } from '../../media/flv/b.ts';", 'media/flv/b.ts': '' },
      'src/live/broadcast/a.ts:1: this file may not import media/flv/',
    ],
    [
      'types of another room',
      { 'media/a.ts': "import type { B } from '../store/b.ts';" },
      'src/media/a.ts:1: media may not import store',
    ],
    [
      'the inside of another group',
      { 'resources/videos/x/a.ts': "import { b } from '../../identity/members/members.store.ts';" },
      'src/resources/videos/x/a.ts:1: resources/identity/members/members.store.ts is internal to its group',
    ],
    [
      'a later group',
      { 'resources/identity/x/a.ts': "import { b } from '../../live/live-streams/live-streams.store.ts';" },
      'src/resources/identity/x/a.ts:1: resources/identity may not import resources/live',
    ],
    [
      'a noun without a group',
      { 'resources/live/x/a.ts': "import { b } from '../../tags/tag.ts';" },
      'src/resources/live/x/a.ts:1: resources/tags/tag.ts is in no group of resources',
    ],
    [
      'a list over several lines',
      { 'media/a.ts': "import {\n  a,\n  b,\n} from '../store/b.ts';" },
      'src/media/a.ts:1: media may not import store',
    ],
    [
      'passing on from another room',
      { 'shared/a.ts': "export { b } from '../store/b.ts';" },
      'src/shared/a.ts:1: shared may not import store',
    ],
    [
      'passing on all of another room',
      { 'shared/a.ts': "export * from '../store/b.ts';" },
      'src/shared/a.ts:1: shared may not import store',
    ],
    [
      'importing for effect',
      { 'media/a.ts': "import '../store/b.ts';" },
      'src/media/a.ts:1: media may not import store',
    ],
    [
      'importing late',
      { 'media/a.ts': "const b = await import('../store/b.ts');" },
      'src/media/a.ts:1: media may not import store',
    ],
    [
      'values of metrics',
      { 'docs/a.ts': "import { a } from '../metrics/a.ts';" },
      'src/docs/a.ts:1: docs may import only types of metrics',
    ],
    [
      'config in a room',
      { 'live/a.ts': "import type { Config } from '../config/settings.ts';" },
      'src/live/a.ts:1: live may not import config',
    ],
    [
      'the root in a room',
      { 'live/a.ts': "import { app } from '../app/a.ts';" },
      'src/live/a.ts:1: no room may import app/a.ts',
    ],
    [
      'a path out of src',
      { 'live/a.ts': "import { a } from '../../test/a.ts';" },
      'src/live/a.ts:1: ../test/a.ts is outside src',
    ],
    [
      'other media in the browser',
      { 'web/a.ts': "import { a } from '../media/hls/a.ts';" },
      'src/web/a.ts:1: web may not import media',
    ],
    [
      'shared code in code for the browser',
      { 'media/webvtt/a.ts': "import { a } from '../../shared/a.ts';" },
      'src/media/webvtt/a.ts:1: code for the browser may not import ../../shared/a.ts',
    ],
    [
      'Node.js in code for the browser',
      { 'shared/limits/a.ts': "import { a } from 'node:fs';" },
      'src/shared/limits/a.ts:1: code for the browser may not import node:fs',
    ],
    ['an unknown room', { 'utils/a.ts': '' }, 'src/utils/a.ts: stands in no room of the import table'],
    ['a file beside the rooms', { 'extra.ts': '' }, 'src/extra.ts: stands in no room of the import table'],
    [
      'kysely in a service',
      { 'resources/x/x.service.ts': "import type { Kysely } from 'kysely';" },
      'src/resources/x/x.service.ts:1: kysely may not be imported here',
    ],
    [
      'the RTMP library outside ingest',
      { 'live/a.ts': "require('node-media-server/src/a.js');" },
      'src/live/a.ts:1: node-media-server may not be imported here',
    ],
    [
      'a package that a production install lacks',
      { 'http/a.ts': "import { chromium } from 'playwright-core';" },
      'src/http/a.ts:1: playwright-core is not among the dependencies of package.json',
    ],
    [
      'a package of the build in the server',
      { 'http/a.ts': "import { h } from 'preact';" },
      'src/http/a.ts:1: preact is not among the dependencies of package.json',
    ],
    [
      'the environment in a room',
      { 'live/a.ts': 'const home = process.env.HOME;' },
      'src/live/a.ts:1: only entry points and config may read the environment',
    ],
    [
      'the environment by its other name',
      { 'app/a.ts': "import { env } from 'node:process';" },
      'src/app/a.ts:1: only entry points and config may read the environment',
    ],
    [
      'a file that imports itself by a detour',
      {
        'media/a.ts': "import { b } from './b.ts';",
        'media/b.ts': "import type { c } from './c.ts';",
        'media/c.ts': "import { a } from './a.ts';",
      },
      'src/media/a.ts: imports itself: media/a.ts -> media/b.ts -> media/c.ts -> media/a.ts',
    ],
  ])('%s', (_what, files, problem) => {
    expect(problemsOf(files)).toEqual([problem]);
  });
});

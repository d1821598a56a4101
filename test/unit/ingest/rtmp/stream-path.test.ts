import { expect, test } from 'vitest';
import { resolveStreamPath } from '../../../../src/ingest/rtmp/stream-path.ts';

const key = '0b7c1f0a-5e57-4c1c-9c2e-3f8f6f1d2a11';

test.each([
  ['the usual split', 's', key, key],
  ['the other app', 'live', key, key],
  ['all in the app', `s/${key}`, '', key],
  ['all in the app, with a slash after it', `s/${key}/`, '', key],
  ['all in the name', '', `s/${key}`, key],
  ['slashes around', '/s/', `/${key}/`, key],
  ['a query after the key', 's', `${key}?bitrate=1&x=/y`, key],
  ['a query after the app', 's?token=1', key, key],
  ['a query after the key in the app', `live/${key}?a=b`, '', key],
  ['percent-encoding', 's', 'a%2Db%5Fc', 'a-b_c'],
  ['an escaped slash', `s%2F${key}`, '', key],
  ['an escaped slash in small letters, after the app', 's%2f', key, key],
  ['an escaped slash before the key', 's', `%2F${key}`, key],
  ['the default instance', 's/_definst_', key, key],
  ['the default instance and a slash', 'live/_definst_/', `/${key}`, key],
  ['the default instance in the name', 's', `_definst_/${key}`, key],
  ['the default instance with all in the app', `s/_definst_/${key}`, '', key],
  ['the file type FLV', 's', `flv:${key}`, key],
  ['the file type MP4', 's', `mp4:${key}.f4v`, key],
  ['the key in both fields', `s/${key}`, key, key],
  ['spaces around the key', 's', ` ${key}%20`, key],
  ['the shortest key', 's', 'k', 'k'],
  ['the longest key', 's', 'k'.repeat(256), 'k'.repeat(256)],
])('finds the key: %s', (_what, app, name, streamKey) => {
  expect(resolveStreamPath(app, name)).toMatchObject({ ok: true, streamKey });
});

test.each([
  ['', 's', key],
  ['', 's', `${key}?`],
  ['bitrate=1&x=/y?z', 's', `${key}?bitrate=1&x=/y?z`],
  ['a=b', `live/${key}?a=b`, ''],
  ['token=1&a=%20', 's?token=1', `${key}?a=%20`],
])('gives the query %s as it was sent', (query, app, name) => {
  expect(resolveStreamPath(app, name)).toEqual({ ok: true, streamKey: key, query });
});

test.each([
  ['another app', 'vod', key, 'unknown-app'],
  ['an app in capitals', 'S', key, 'unknown-app'],
  ['nothing at all', '', '', 'unknown-app'],
  ['only the key', '', key, 'unknown-app'],
  ['no key', 's', '', 'missing-key'],
  ['a query and no key', 's', '?x=y', 'missing-key'],
  ['too many parts', 's', `${key}/more`, 'invalid-key'],
  ['too many escaped parts', 's', `${key}%2Fmore`, 'invalid-key'],
  ['the default instance and no key', 's/_definst_', '', 'missing-key'],
  ['broken percent-encoding', 's', 'abc%', 'invalid-key'],
  ['an encoded slash', 's', 'a%2Fb', 'invalid-key'],
  ['an encoded NUL', 's', 'a%00b', 'invalid-key'],
  ['a space', 's', 'a b', 'invalid-key'],
  ['not ASCII', 's', 'clé', 'invalid-key'],
  ['too long', 's', 'k'.repeat(257), 'invalid-key'],
])('says why there is no key: %s', (_what, app, name, reason) => {
  const path = resolveStreamPath(app, name);
  expect(path).toMatchObject({ ok: false, reason });
  expect(path.ok ? '' : path.description).toMatch(/\.$/);
});

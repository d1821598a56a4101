import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** Parts of hls.js 1.7 that keep its demuxers of MPEG-TS, AAC and MP3 in a bundle, and what stays of them. */
const unusedParts: readonly (readonly [RegExp, string])[] = [
  [/(const muxConfig = \[\{\s*demux: MP4Demuxer,\s*remux: PassThroughRemuxer\s*\})[^\]]*\]/, '$1]'],
  [/TSDemuxer\.probe\(initSegmentData, this\.logger\)/, 'false'],
  [/muxConfig\.splice\(2, 0, \{[^}]*\}\);/, ''],
];

/** Leaves out of hls.js what only other media than fragmented MP4 needs: this server has no other. */
export const hlsForFragmentedMp4: Plugin = {
  name: 'hls-for-fragmented-mp4',
  setup: ({ onResolve, onLoad, resolve }) => {
    onResolve({ filter: /^hls\.js\/dist\/hls(\.light)?\.min\.mjs$/ }, ({ path, resolveDir, kind }) =>
      // The minified file has no names to find the parts by.
      resolve(path.replace('.min.mjs', '.mjs'), { resolveDir, kind }),
    );
    onLoad({ filter: /[/\\]hls\.js[/\\]dist[/\\]hls(\.light)?\.mjs$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8');
      for (const [pattern, rest] of unusedParts) {
        const isOnlyInFull = rest === '';
        if (!pattern.test(contents) && !(isOnlyInFull && path.includes('light')))
          throw new Error(`hls.js has changed: ${pattern} is not in ${path}`);
        contents = contents.replace(pattern, rest);
      }
      return { contents, loader: 'js' };
    });
  },
};

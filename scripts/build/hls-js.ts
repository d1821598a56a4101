import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/**
 * Replacements in hls.js 1.7 that leave code without a use: the demuxers of MPEG-TS, AAC and MP3, AES in script, loading with
 * `fetch`, and controllers of what is not in our playlists. The build drops it then. `false`: not in the light build.
 */
const unusedParts: readonly (readonly [pattern: RegExp, rest: string, isInLight?: false])[] = [
  [/(const muxConfig = \[\{\s*demux: MP4Demuxer,\s*remux: PassThroughRemuxer\s*\})[^\]]*\]/, '$1]'],
  [/TSDemuxer\.probe\(initSegmentData, this\.logger\)/, 'false'],
  [/muxConfig\.splice\(2, 0, \{[^}]*\}\);/, '', false],
  [/\bid3TrackController: ID3TrackController\b/, 'id3TrackController: undefined'],
  [/\bcontentSteeringController: ContentSteeringController\b/, 'contentSteeringController: undefined'],
  [/\bfpsController: FPSController\b/, 'fpsController: undefined'],
  [/\bconfig\.loader = FetchLoader;/, ''],
  [/\bcurrentLoader !== FetchLoader && /, ''],
  [/\bnew AESDecryptor\(\)/, 'null'],
  [/\bsubtitleStreamController: SubtitleStreamController\b/, 'subtitleStreamController: undefined', false],
  [/\bsubtitleTrackController: SubtitleTrackController\b/, 'subtitleTrackController: undefined', false],
  [/\bemeController: EMEController\b/, 'emeController: undefined', false],
  [/^EMEController\.CDMCleanupPromise = void 0;$/m, '', false],
  [/\bcmcdController: CMCDController\b/, 'cmcdController: undefined', false],
  [/\biframeController: IFrameController\b/, 'iframeController: undefined', false],
  [/\binterstitialsController: InterstitialsController\b/, 'interstitialsController: undefined', false],
  // An import on demand would keep all of them.
  [/^export \{[^}]*\bHls as default\b[^}]*\};$/m, 'export { Hls as default };'],
];

/** Leaves out of hls.js what only other media than that of this server needs. */
export const hlsForOurMedia: Plugin = {
  name: 'hls-for-our-media',
  setup: ({ onResolve, onLoad, resolve }) => {
    onResolve({ filter: /^hls\.js\/dist\/hls(\.light)?\.min\.mjs$/ }, ({ path, resolveDir, kind }) =>
      // The minified file has no names to find the parts by.
      resolve(path.replace('.min.mjs', '.mjs'), { resolveDir, kind }),
    );
    onLoad({ filter: /[/\\]hls\.js[/\\]dist[/\\]hls(\.light)?\.mjs$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8');
      for (const [pattern, rest, isInLight] of unusedParts) {
        if (isInLight === false && path.includes('hls.light')) continue;
        if (!pattern.test(contents)) throw new Error(`hls.js has changed: ${pattern} is not in ${path}`);
        contents = contents.replace(pattern, rest);
      }
      return { contents, loader: 'js' };
    });
  },
};

import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

const emptyClass = 'export default class {}; export class MediaTextDisplay {}';

/** Modules of media-chrome that others import, and that the player does not use: it has its own keys, texts and gestures. */
const unused: Readonly<Record<string, string>> = {
  'media-keyboard-shortcuts-dialog.js': `export const getHotkeyToken = key => key; ${emptyClass}`,
  'media-gesture-receiver.js':
    'export default class { static shadowRootOptions = {}; static getTemplateHTML() { return ""; } }',
  'media-preview-chapter-display.js': emptyClass,
  'media-preview-time-display.js': emptyClass,
  'lang/en.js': 'export const En = {};',
};

/** Bundles media-chrome without what the player does not use, its icons, and the indentation of its templates. */
export const smallMediaChrome: Plugin = {
  name: 'small-media-chrome',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[/\\]media-chrome[/\\]dist[/\\].*\.js$/ }, async ({ path }) => {
      const name = path.replaceAll('\\', '/').replace(/.*\/media-chrome\/dist\//, '');
      const source = unused[name] ?? (await readFile(path, 'utf8'));
      return { contents: source.replaceAll(/\n[ \t]+/g, '\n').replaceAll(/`<svg[^`]*<\/svg>`/g, "''") };
    });
  },
};

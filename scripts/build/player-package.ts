/** Builds the npm package of the player element. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import {
  controlsNames,
  optionNames,
  repeatedEvents,
  textNames,
} from '../../src/web/player/element/player-attributes.ts';
import { projectRoot, readProjectFile } from '../project-files.ts';
import { browserPlugins } from './browser-code.ts';

/** Returns the files of the package by their names. */
export async function buildPlayerPackage(): Promise<Map<string, Uint8Array | string>> {
  const about = JSON.parse(readProjectFile('package.json')) as { version: string; license: string };
  const folder = join(projectRoot, 'src/web/player');
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: [{ in: 'element/main.ts', out: 'index' }],
    outdir: folder,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2023',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    minify: true,
    chunkNames: '[name]-[hash]',
    tsconfigRaw: {},
    plugins: [...browserPlugins],
  });
  const text = (name: string) => readFile(join(folder, 'package', name), 'utf8');
  return new Map<string, Uint8Array | string>([
    ...outputFiles.map(({ path, contents }): [string, Uint8Array] => [basename(path), contents]),
    ['index.d.ts', await text('index.d.ts')],
    ['README.md', await text('README.md')],
    ['react.js', reactWrapper()],
    ['react.d.ts', reactTypes()],
    ['package.json', `${JSON.stringify(describePackage(about), undefined, 2)}\n`],
  ]);
}

function describePackage({ version, license }: { readonly version: string; readonly license: string }) {
  return {
    name: '@millrace/player',
    version,
    description: 'The player of Millrace servers as a custom element: low-latency live streams and videos.',
    license,
    type: 'module',
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      './react': { types: './react.d.ts', default: './react.js' },
    },
    peerDependencies: { react: '>=18' },
    peerDependenciesMeta: { react: { optional: true } },
  };
}

const attributeNames = [...textNames, ...optionNames, ...controlsNames];

/** Passes properties on as attributes, which is the same in all versions of React, and listens to the events. */
function reactWrapper(): string {
  const attributes = Object.fromEntries(attributeNames.map(name => [camelCase(name), name]));
  const events = Object.fromEntries(repeatedEvents.map(name => [eventProperty(name), name]));
  return `import './index.js';
import { createElement, forwardRef, useEffect, useRef } from 'react';

const attributes = ${JSON.stringify(attributes)};
const events = ${JSON.stringify(events)};

export const MillracePlayer = forwardRef(function MillracePlayer(properties, given) {
  const own = useRef(null);
  const listeners = useRef({});
  const passed = {};
  const current = {};
  for (const [name, value] of Object.entries(properties)) {
    if (Object.hasOwn(events, name)) current[events[name]] = value;
    else if (!Object.hasOwn(attributes, name)) passed[name] = value;
    else if (value !== undefined && value !== null && value !== false) passed[attributes[name]] = value === true ? '' : String(value);
    else if (value === false && name === 'autoplay') passed.autoplay = 'false';
  }
  useEffect(() => {
    listeners.current = current;
  });
  useEffect(() => {
    const element = own.current;
    const tell = event => listeners.current[event.type]?.(event);
    for (const type of Object.values(events)) element.addEventListener(type, tell);
    return () => {
      for (const type of Object.values(events)) element.removeEventListener(type, tell);
    };
  }, []);
  const take = element => {
    own.current = element;
    if (typeof given === 'function') given(element);
    else if (given !== null && given !== undefined) given.current = element;
  };
  return createElement('millrace-player', { ...passed, ref: take });
});
`;
}

function reactTypes(): string {
  const property = (name: string, type: string) => `  ${name}?: ${type} | undefined;`;
  const lines = [
    ...textNames.map(name =>
      property(camelCase(name), name === 'start' || name === 'end' ? 'string | number' : 'string'),
    ),
    ...[...optionNames, ...controlsNames].map(name => property(camelCase(name), 'boolean')),
    ...repeatedEvents.map(name => property(eventProperty(name), '((event: Event) => void)')),
  ];
  return `import type { CSSProperties, ForwardRefExoticComponent, RefAttributes } from 'react';
import type { MillracePlayerElement } from './index.js';

export interface MillracePlayerProps {
${lines.join('\n')}
  className?: string | undefined;
  id?: string | undefined;
  style?: CSSProperties | undefined;
}

export declare const MillracePlayer: ForwardRefExoticComponent<
  MillracePlayerProps & RefAttributes<MillracePlayerElement>
>;
`;
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Named as React names those of a video element. */
function eventProperty(event: string): string {
  const words: Readonly<Record<string, string>> = {
    canplay: 'CanPlay',
    durationchange: 'DurationChange',
    loadeddata: 'LoadedData',
    loadedmetadata: 'LoadedMetadata',
    loadstart: 'LoadStart',
    millracechange: 'MillraceChange',
    ratechange: 'RateChange',
    timeupdate: 'TimeUpdate',
    volumechange: 'VolumeChange',
  };
  return `on${words[event] ?? event[0]!.toUpperCase() + event.slice(1)}`;
}

import { parseArgs } from 'node:util';
import { settings } from '../config/settings.ts';
import { flagOf, settingName } from './setting-name.ts';
import { UsageError } from './usage-error.ts';

export interface CommandLine {
  readonly positionals: readonly string[];
  readonly options: ReadonlySet<string>;
  /** Values of the command's own options that have one. */
  readonly values: Readonly<Record<string, string>>;
  readonly flags: Readonly<Record<string, string>>;
  readonly configFile: string | undefined;
}

/** Options that have a short form, which is their first letter. */
const shortened = ['help', 'version'];

/** `known` and `valued`: the command's own options without and with a value. @throws UsageError */
export function readCommandLine(
  args: readonly string[],
  known: readonly string[],
  valued: readonly string[] = [],
): CommandLine {
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: {
      config: { type: 'string' },
      ...Object.fromEntries(
        Object.keys(settings).flatMap(name =>
          [name, flagOf(name)].map(flag => [flag, { type: 'string' as const }]),
        ),
      ),
      ...Object.fromEntries(valued.map(name => [name, { type: 'string' as const }])),
      ...Object.fromEntries(known.map(name => [name, { type: 'boolean' as const }])),
      ...Object.fromEntries(
        shortened
          .filter(name => known.includes(name))
          .map(name => [name, { type: 'boolean' as const, short: name[0]! }]),
      ),
    },
  });
  const positionals: string[] = [];
  const options = new Set<string>();
  const values: Record<string, string> = {};
  const flags: Record<string, string> = {};
  let configFile: string | undefined;
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      positionals.push(token.value);
      continue;
    }
    const setting = settingName(token.name);
    if ([...valued, 'config'].includes(token.name) || Object.hasOwn(settings, setting)) {
      if (token.value === undefined || token.value === '')
        throw new UsageError(`--${token.name}: a value is missing`);
      if (token.name === 'config') configFile = token.value;
      else if (valued.includes(token.name)) values[token.name] = token.value;
      else flags[setting] = token.value;
    } else if (known.includes(token.name) && token.value === undefined) options.add(token.name);
    else throw new UsageError(`unknown option ${token.rawName}`);
  }
  return { positionals, options, values, flags, configFile };
}

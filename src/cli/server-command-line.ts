import { parseArgs } from 'node:util';
import { AppError } from '../shared/errors.ts';
import { isInClone, operatorCommand } from '../shared/installation.ts';
import { settingName } from './setting-name.ts';

const usage = `Usage: ${operatorCommand('start', '[--config PATH] [--KEY=VALUE ...]')}

  --config PATH   settings file (or MILLRACE_CONFIG)${isInClone ? '; config/server.json by default' : ''}
  --KEY=VALUE     a setting, such as --http.port=9000; config/reference.md lists all
  --data-dir=PATH the only folder that the server writes to; by default ${isInClone ? './media' : '~/.local/share/millrace'}
  --version       prints the version
  --help          prints this
`;

interface ServerCommandLine {
  readonly flags: Readonly<Record<string, string>>;
  readonly configFile: string | undefined;
}

/** Returns the text of `--help` and `--version`. @throws AppError `config-invalid` */
export async function readServerCommandLine(args: readonly string[]): Promise<ServerCommandLine | string> {
  const { tokens } = parseArgs({ args: [...args], strict: false, tokens: true });
  const flags: Record<string, string> = {};
  let configFile: string | undefined;
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index]!;
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional')
      throw new AppError('config-invalid', `unknown argument ${token.value}\n\n${usage}`);
    if (token.name === 'help' || token.rawName === '-h') return usage;
    if (token.name === 'version' || token.rawName === '-v') {
      const { default: about } = await import('../../package.json', { with: { type: 'json' } });
      return `${about.version}\n`;
    }
    let { value } = token;
    const next = tokens[index + 1];
    if (value === undefined && next?.kind === 'positional') {
      value = next.value;
      index += 1;
    }
    if (value === undefined) throw new AppError('config-invalid', `${token.rawName}: a value is missing`);
    if (token.name === 'config') configFile = value;
    else flags[settingName(token.name)] = value;
  }
  return { flags, configFile };
}

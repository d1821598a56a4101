import { execFile } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { SignedTokens } from '../../src/delivery/signed-tokens.ts';
import { generateKey } from '../../src/resources/playback/signing-keys/key-material.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { testTempDir } from '../support/temp-dir.ts';

const run = promisify(execFile);
const page = readFileSync(new URL('../../docs/signed-playback.md', import.meta.url), 'utf8');
const resource = { id: 'vi4Kd8sLq2Wm6Xr1Tz9Bn3Vc', projectId: 'pr1' };
const signingKeyId = 'skOfTheTests000000000000';

interface Language {
  readonly name: string;
  /** Language of the code block in the documentation. */
  readonly fence: string;
  readonly file: string;
  /** Prints the token for the id, the path of the key and the claims in its arguments. */
  readonly driver: readonly [file: string, text: string];
  readonly command: readonly [program: string, ...words: string[]];
  /** Fails where the example cannot run. */
  readonly probe: readonly [program: string, ...words: string[]];
}

const languages: readonly Language[] = [
  {
    name: 'JavaScript',
    fence: 'js',
    file: 'sign.mjs',
    driver: [
      'main.mjs',
      `import { readFileSync } from 'node:fs';
import { signToken } from './sign.mjs';
const [id, key, claims] = process.argv.slice(2);
console.log(signToken(id, readFileSync(key, 'utf8'), JSON.parse(claims)));`,
    ],
    command: [process.execPath, 'main.mjs'],
    probe: [process.execPath, '--version'],
  },
  {
    name: 'Python',
    fence: 'python',
    file: 'sign.py',
    driver: [
      'main.py',
      `import json, sys
from sign import sign_token
_, id, key, claims = sys.argv
print(sign_token(id, open(key).read(), json.loads(claims)))`,
    ],
    command: ['python3', 'main.py'],
    probe: ['python3', '-c', 'import cryptography'],
  },
  {
    name: 'PHP',
    fence: 'php',
    file: 'sign.php',
    driver: [
      'main.php',
      `<?php require 'sign.php';
echo signToken($argv[1], file_get_contents($argv[2]), json_decode($argv[3], true)), "\\n";`,
    ],
    command: ['php', 'main.php'],
    probe: ['php', '-r', 'exit(function_exists("openssl_sign") ? 0 : 1);'],
  },
  {
    name: 'Go',
    fence: 'go',
    file: 'sign.go',
    driver: [
      'main.go',
      `package main
import ("encoding/json"; "fmt"; "os")
func main() {
	key, err := os.ReadFile(os.Args[2])
	if err != nil { panic(err) }
	var claims map[string]any
	if err := json.Unmarshal([]byte(os.Args[3]), &claims); err != nil { panic(err) }
	token, err := signToken(os.Args[1], key, claims)
	if err != nil { panic(err) }
	fmt.Println(token)
}`,
    ],
    command: ['go', 'run', 'sign.go', 'main.go'],
    probe: ['go', 'version'],
  },
];

it.for(languages)('the example in $name signs tokens that are accepted', async (language, { skip }) => {
  const [program, ...words] = language.probe;
  const isHere = await run(program, words).then(
    () => true,
    () => false,
  );
  if (!isHere) skip(`${language.name} is not installed, or lacks a package`);
  const folder = await testTempDir();
  const example = new RegExp(`\`\`\`${language.fence}\n([\\s\\S]*?)\`\`\``).exec(page)![1]!;
  const [driverFile, driver] = language.driver;
  const { publicKey, privateKey } = await generateKey('ES256');
  await Promise.all([
    writeFile(join(folder, language.file), example),
    writeFile(join(folder, driverFile), driver),
    writeFile(join(folder, 'key.pem'), privateKey),
  ]);
  const tokens = new SignedTokens({
    findSigningKey: async () => ({
      projectId: resource.projectId,
      algorithm: 'ES256',
      publicKey: createPublicKey(publicKey),
    }),
    clock: systemClock,
  });
  const claims = { sub: resource.id, exp: Math.floor(Date.now() / 1000) + 3600, viewer: 'Zoë' };
  const [command, ...first] = language.command;
  const { stdout } = await run(command, [...first, signingKeyId, 'key.pem', JSON.stringify(claims)], {
    cwd: folder,
    env: { ...process.env, GO111MODULE: 'off', GOFLAGS: '' },
  });
  const limits = { policy: undefined, endsAtMs: claims.exp * 1000, signingKeyId };
  expect(await tokens.verify(stdout.trim(), resource)).toEqual({ limits, viewer: 'Zoë' });
});

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import WebSocket from 'ws';
import { makeTempDir, removeDir } from './temp-dir.ts';
import { waitUntil } from './wait-until.ts';

const names = ['firefox-esr', 'firefox'];

/** Undefined where none is installed. */
export const firefoxPath = names
  .map(name =>
    spawnSync('sh', ['-c', `command -v ${name}`])
      .stdout.toString()
      .trim(),
  )
  .find(path => path !== '');

type Preferences = Readonly<Record<string, string | number | boolean>>;

const preferences: Preferences = {
  'media.autoplay.default': 0,
  // A test pattern and a tone, without a question.
  'media.navigator.streams.fake': true,
  'media.navigator.permission.disabled': true,
  // Keeps the codecs the same on every machine.
  'media.gmp-gmpopenh264.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.normandy.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'media.gmp-manager.updateEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  // Keeps no processes for pages to come, and one for all sites.
  'dom.ipc.processPrelaunch.enabled': false,
  'dom.ipc.processCount': 1,
  'fission.autostart': false,
};

interface BidiResponse {
  readonly id?: number;
  readonly type: 'success' | 'error' | 'event';
  readonly result?: unknown;
  readonly message?: string;
}

/** One page of Firefox without a screen, driven with WebDriver BiDi. */
export class FirefoxPage {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (response: BidiResponse) => void>();
  #context = '';
  #nextId = 1;

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    this.#child = child;
    this.#profile = profile;
    this.#socket = socket;
    socket.on('message', data => {
      const response = JSON.parse(String(data)) as BidiResponse;
      this.#waiting.get(response.id ?? 0)?.(response);
    });
  }

  static async launch(more: Preferences = {}): Promise<FirefoxPage> {
    const profile = await makeTempDir();
    const lines = Object.entries({ ...preferences, ...more }).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
    );
    await writeFile(join(profile, 'user.js'), lines.join('\n'));
    const child = spawn(
      firefoxPath!,
      ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } },
    );
    let output = '';
    child.stderr.on('data', text => (output += text));
    try {
      const address = await waitUntil(() => /WebDriver BiDi listening on (ws:\S+)/.exec(output)?.[1], {
        what: () => `Firefox: ${output.slice(-2_000)}`,
      });
      const socket = new WebSocket(`${address}/session`);
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      const page = new FirefoxPage(child, profile, socket);
      await page.#command('session.new', { capabilities: {} });
      const { contexts } = await page.#command<{ contexts: { context: string }[] }>(
        'browsingContext.getTree',
      );
      page.#context = contexts[0]!.context;
      return page;
    } catch (error) {
      child.kill('SIGKILL');
      await removeDir(profile);
      throw error;
    }
  }

  async goto(url: string): Promise<void> {
    await this.#command('browsingContext.navigate', { context: this.#context, url, wait: 'interactive' });
  }

  /** @param expression whose value can be written as JSON, or a promise of one */
  async evaluate<Result>(expression: string): Promise<Result> {
    const { type, result, exceptionDetails } = await this.#command<{
      type: string;
      result?: { value?: string };
      exceptionDetails?: { text: string };
    }>('script.evaluate', {
      expression: `Promise.resolve(${expression}).then(value => JSON.stringify({ value }))`,
      target: { context: this.#context },
      awaitPromise: true,
    });
    if (type !== 'success') throw new Error(exceptionDetails?.text);
    return (JSON.parse(result!.value!) as { value: Result }).value;
  }

  async close(): Promise<void> {
    this.#socket.terminate();
    const ended = new Promise(resolve => this.#child.once('close', resolve));
    this.#child.kill('SIGKILL');
    await ended;
    await removeDir(this.#profile);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #command<Result>(method: string, parameters: object = {}): Promise<Result> {
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.set(id, response => {
      this.#waiting.delete(id);
      if (response.type === 'error') reject(new Error(`${method}: ${response.message}`));
      else resolve(response.result as Result);
    });
    this.#socket.send(JSON.stringify({ id, method, params: parameters }));
    return promise;
  }
}
